//! The process's own side: what it is, and what it holds itself to.

use std::env;
use std::io;
use std::process;

use crate::inherited::close_inherited;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Address space beside the memory that is asked for: the program itself, stacks, and what an
/// allocator reserves for its threads and never uses.
const ADDRESS_SPACE_MORE: u64 = 4 << 30;

/// Makes this process a part of the program, if it was started with this argument, and otherwise
/// returns at once. To be called first in `main`, before it starts a thread and before it opens a
/// file: all descriptors but the standard ones are closed before `serve` is called.
pub fn serve_if_asked_for(argument: &str, serve: impl FnOnce() -> io::Result<()>) {
    if env::args_os().nth(1).is_some_and(|first| first == argument) {
        close_inherited();
        process::exit(match serve() {
            Ok(()) => 0,
            Err(error) => {
                // The host reads it.
                eprintln!("{error}");
                1
            }
        });
    }
}

/// No more than this, and than what this process was held to before: without rights of its own it
/// may not ask for more.
fn limit(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let before = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit {
        current: Some(soft.min(before)),
        maximum: Some(hard.min(before)),
    };
    setrlimit(resource, limit).map_err(io::Error::from)
}

/// What a process may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of memory.
    pub memory: u64,
    /// Seconds of processor time, over all its threads.
    pub processor_seconds: u64,
}

impl Bounds {
    /// Holds this process to them, as far as the system can. It writes no file and no core dump
    /// either.
    ///
    /// # Errors
    /// Those of the system.
    pub fn apply(self) -> io::Result<()> {
        let limit = |resource, most: u64| limit(resource, most, most);
        limit(Resource::Core, 0)?;
        limit(Resource::Fsize, 0)?;
        // A second later it is killed: until then a signal tells why it ends.
        let seconds = self.processor_seconds;
        self::limit(Resource::Cpu, seconds, seconds.saturating_add(1))?;
        limit(Resource::Data, self.memory)?;
        limit(Resource::As, self.memory.saturating_add(ADDRESS_SPACE_MORE))
    }
}
