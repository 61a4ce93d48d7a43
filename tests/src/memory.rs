//! What a process takes, as the system counts it.

use std::fs;

/// The most resident memory that a process had so far, or since it was asked to count anew, in bytes.
///
/// # Panics
/// Where the process is not there.
pub fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.expect("the process is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    let kib: u64 = kib.expect("a peak").parse().expect("a number");
    kib * 1024
}
