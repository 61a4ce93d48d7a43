//! Descriptors that a process was started with, and that are none of its business.

/// Closes all descriptors but the standard ones. For a process that has just begun: nothing in it
/// may know of a descriptor yet.
///
/// Only what a part of a program is given over these is its business. A host marks its descriptors
/// so that they are not inherited, but not all of its libraries may.
pub fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let open: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open {
        if descriptor > 2 {
            // SAFETY: `main` has just begun, so that nothing in this process knows of a descriptor
            // but the standard ones. That of the listing is closed already.
            unsafe { rustix::io::close(descriptor) };
        }
    }
}
