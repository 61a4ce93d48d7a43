//! Default number of instances of a process, by its resources.

/// Memory per instance. An idle instance takes 64 KiB for a C or Rust guest, and 2.4 MiB for
/// Python. This leaves most of a machine's memory to others.
const MEMORY_EACH: u64 = 8 << 20;

/// Memory mappings per instance: its memory with the image below it, its tables, its stack and the
/// guards between them. Linux allows a process 65,530 by default.
const MAPPINGS_EACH: u64 = 16;

/// Upper bound, to keep the pool's index small.
const MAX_INSTANCES: u64 = 4096;
const FEWEST: u64 = 64;

/// Default if the system doesn't report its resources.
const UNKNOWN: u64 = 512;

/// Returns the number of instances, by the memory and mappings that the process may have.
pub(crate) fn instances() -> u32 {
    let fitting = by(memory(), mappings());
    u32::try_from(fitting).unwrap_or(u32::MAX)
}

/// Returns the bytes of memory that all guests may have together: three quarters of what the
/// process may have.
pub(crate) fn guest_memory() -> usize {
    let bytes = memory().map_or(UNKNOWN * MEMORY_EACH, |bytes| bytes / 4 * 3);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn by(memory: Option<u64>, mappings: Option<u64>) -> u64 {
    let by_memory = memory.map_or(UNKNOWN, |bytes| bytes / MEMORY_EACH);
    let by_mappings = mappings.map_or(MAX_INSTANCES, |count| count / MAPPINGS_EACH);
    by_memory.min(by_mappings).clamp(FEWEST, MAX_INSTANCES)
}

/// Returns the bytes of memory of the machine, or of the process's control group if that has less.
#[cfg(target_os = "linux")]
fn memory() -> Option<u64> {
    let system = rustix::system::sysinfo();
    // One field is a long, which has other widths on other platforms.
    #[allow(clippy::useless_conversion)]
    let machine = u64::from(system.totalram).saturating_mul(u64::from(system.mem_unit));
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limits_of(&groups)
        .into_iter()
        .filter_map(|file| read_number(&file));
    Some(limits.fold(machine, u64::min))
}

/// Returns the files that may contain a limit, for both versions of control groups, of the
/// process's own group and of the outermost visible one.
#[cfg(target_os = "linux")]
fn limits_of(groups: &str) -> Vec<String> {
    let mut files = Vec::new();
    for group in groups.lines() {
        let mut parts = group.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            it if it.split(',').any(|it| it == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let path = path.trim_end_matches('/');
        files.push(format!("{root}{path}/{file}"));
        files.push(format!("{root}/{file}"));
    }
    files
}

#[cfg(target_os = "linux")]
fn mappings() -> Option<u64> {
    read_number("/proc/sys/vm/max_map_count")
}

/// Returns `None` if there is no such file, or if it contains `max`.
#[cfg(target_os = "linux")]
fn read_number(file: &str) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn memory() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn mappings() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_memory_and_mappings_have_room_for() {
        let check = |gib: Option<u64>, mappings: Option<u64>, expected: u64| {
            assert_eq!(by(gib.map(|it| it << 30), mappings), expected);
        };
        check(Some(4), Some(65_530), 512);
        check(Some(16), Some(65_530), 2048);
        check(Some(512), Some(65_530), 4095);
        check(Some(512), Some(1 << 20), 4096);
        check(Some(64), Some(8_192), 512);
        check(Some(0), Some(65_530), 64);
        check(None, None, 512);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn limits_are_those_of_the_group_in_both_versions() {
        let check = |groups: &str, expected: &[&str]| assert_eq!(limits_of(groups), expected);
        check(
            "0::/user.slice/a\n",
            &[
                "/sys/fs/cgroup/user.slice/a/memory.max",
                "/sys/fs/cgroup/memory.max",
            ],
        );
        check(
            "4:cpu,memory:/a\n3:cpuset:/b\n0::/\n",
            &[
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory.max",
                "/sys/fs/cgroup/memory.max",
            ],
        );
        check("nothing\n", &[]);
        assert!(memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
