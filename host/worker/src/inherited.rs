//! Descriptors that a process was started with, and that are none of its business.

use std::fs;

/// Where the system lists those of this process.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Closes all descriptors but the standard ones. For a process that has just begun: nothing in it
/// may know of a descriptor yet.
///
/// Only what a part of a program is given over these is its business. A host marks its descriptors
/// so that they are not inherited, but not all of its libraries may.
pub fn close_inherited() {
    let Ok(entries) = fs::read_dir(DESCRIPTORS) else {
        return;
    };
    let open: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open {
        // That of the listing is closed already, and a debug build panics where one is not open.
        let is_open = || fs::symlink_metadata(format!("{DESCRIPTORS}/{descriptor}")).is_ok();
        if descriptor > 2 && is_open() {
            // SAFETY: `main` has just begun, so that nothing in this process knows of a descriptor
            // but the standard ones.
            unsafe { rustix::io::close(descriptor) };
        }
    }
}
