//! Steps that do harm, each in the way that its name says.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use crate::airlock::tool::host;

const MIB: usize = 1024 * 1024;
/// Longer than any test waits, and short enough to be a sum that every clock can hold.
const HOURS: Duration = Duration::from_secs(6 * 60 * 60);

pub fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    std::arch::wasm32::unreachable();
    // Only for editors and lints, which look at the code as if it were the machine's own.
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort()
}

pub fn spin() -> ! {
    let mut turns: u64 = 0;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

pub fn block(ms: Option<u64>) {
    thread::sleep(ms.map_or(HOURS, Duration::from_millis));
}

pub fn spin_until_cancelled() {
    while !host::is_cancelled() {}
}

pub fn allocate(mib: usize, gently: bool) -> String {
    let mut memory: Vec<u8> = Vec::new();
    let bytes = mib.saturating_mul(MIB);
    if gently {
        if let Err(error) = memory.try_reserve_exact(bytes) {
            return format!("allocation refused: {error}");
        }
    } else {
        memory.reserve_exact(bytes);
    }
    // Written, since a host may count only pages that are in use.
    memory.resize(bytes, 1);
    black_box(&memory);
    format!("allocated {mib} MiB")
}

/// Overflows the host's stack, not the guest's own: a frame of this is all in locals, nothing in
/// linear memory.
pub fn recurse() {
    black_box(deeper(0, black_box(u64::MAX)));
}

#[inline(never)]
fn deeper(depth: u64, end: u64) -> u64 {
    if depth == end {
        return depth;
    }
    // What is left to do after the call keeps it from becoming a loop.
    deeper(depth + 1, end).rotate_left(7) ^ depth
}
