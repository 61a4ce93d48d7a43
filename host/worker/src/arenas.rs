//! The memory that the C library keeps for threads.

/// Keeps the C library from holding freed memory for each thread, as far as that can be chosen.
/// Call it at the start of a process.
///
/// glibc has up to eight arenas for each processor, and gives the memory of few of them back. A
/// thread that listed 40 MiB of a store's actions then kept it, and the next list was read by
/// another thread.
pub fn limit_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it only sets a number of the C library's own, under the library's lock.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS) };
    }
}

/// Threads rarely wait for each other at two arenas: guests and compilers have memory of their own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: libc::c_int = 2;
