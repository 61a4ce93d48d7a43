//! What a process takes, as the system counts it.

use std::fs;

/// The most resident memory that a process had so far, or since [`reset_peak_memory`], in bytes.
///
/// # Panics
/// Where the process is not there.
pub fn peak_memory(process: u32) -> u64 {
    peak_memory_if_any(process).expect("the process is there, and has memory")
}

/// The same, of a process that may have ended.
pub fn peak_memory_if_any(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// Has the system count a process's peak anew, from what it has now.
///
/// # Panics
/// Where the system refuses.
pub fn reset_peak_memory(process: u32) {
    let asked = fs::write(format!("/proc/{process}/clear_refs"), "5");
    asked.expect("the process is there, and is ours");
}
