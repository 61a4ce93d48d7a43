//! What processors have spent.

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// On a process that runs, in seconds.
pub fn of_process(id: u32) -> anyhow::Result<f64> {
    let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(id)?))?;
    let spent = clock_gettime(clock)?;
    Ok(spent.tv_sec() as f64 + spent.tv_nsec() as f64 / 1e9)
}

/// On all processes that this one has started and seen end, and on what those had started, in
/// seconds.
pub fn of_ended() -> anyhow::Result<f64> {
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let both = [used.user_time(), used.system_time()];
    Ok(both
        .iter()
        .map(|it| it.tv_sec() as f64 + it.tv_usec() as f64 / 1e6)
        .sum())
}
