//! Descriptors that a process inherited unintentionally.

use std::fs;

/// The directory that lists the descriptors of this process.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Closes all descriptors but the standard ones. Call it at the start of a process, before any code
/// uses a descriptor.
///
/// A part of a program needs only the standard ones. A host marks its descriptors as not inherited,
/// but its libraries may not mark all of theirs.
pub fn close_inherited() {
    let Ok(entries) = fs::read_dir(DESCRIPTORS) else {
        return;
    };
    let open: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open {
        // The listing's descriptor is closed already, and a debug build panics on a descriptor that
        // is not open.
        let is_open = || fs::symlink_metadata(format!("{DESCRIPTORS}/{descriptor}")).is_ok();
        if descriptor > 2 && is_open() {
            // SAFETY: `main` has just begun, so nothing in this process uses a descriptor other
            // than the standard ones.
            unsafe { rustix::io::close(descriptor) };
        }
    }
}
