//! The process's side: selecting the part of the program, and applying limits.

use std::env;
use std::io;
use std::process;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::host::Host;
use crate::inherited::close_inherited;

/// Address space in addition to the requested memory: for the program, for stacks, and for what an
/// allocator reserves for its threads and never uses.
const ADDRESS_SPACE_MORE: u64 = 4 << 30;

/// A part of a program that can work in a separate process.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The argument that makes a process this part.
    pub argument: &'static str,
    /// The version of its messages. Both sides are the same program, unless it was replaced while
    /// the host was running.
    pub version: &'static str,
}

/// Turns this process into a part of the program if it was started with the part's argument.
/// Otherwise returns at once. Call it first in `main`, before starting threads or opening files: it
/// closes all descriptors but the standard ones before it calls `serve`. By then the process has
/// applied its bounds, and it exits when its host does.
pub fn serve_if_asked_for(part: &Part, serve: impl FnOnce(Host) -> io::Result<()>) {
    if env::args_os()
        .nth(1)
        .is_some_and(|first| first == part.argument)
    {
        close_inherited();
        let status = match Host::greeted(part.version).and_then(serve) {
            Ok(()) => 0,
            Err(error) => {
                #[expect(clippy::print_stderr, reason = "the host reads it")]
                {
                    eprintln!("{error}");
                }
                1
            }
        };
        #[expect(clippy::exit, reason = "the rest of `main` is not for this process")]
        process::exit(status);
    }
}

/// The first message to a process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Greeting<'a> {
    pub bounds: Bounds,
    /// The [version](Part::version) of the host.
    pub version: &'a [u8],
}

impl<'a> Greeting<'a> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let memory = self.bounds.memory.to_le_bytes();
        let seconds = self.bounds.processor_seconds.to_le_bytes();
        [&memory, &seconds, self.version].concat()
    }

    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (memory, rest) = bytes.split_first_chunk()?;
        let (seconds, version) = rest.split_first_chunk()?;
        let bounds = Bounds {
            memory: u64::from_le_bytes(*memory),
            processor_seconds: u64::from_le_bytes(*seconds),
        };
        Some(Self { bounds, version })
    }
}

/// Sets a limit, but no higher than the current one, which an unprivileged process can't raise.
fn limit(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let before = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit {
        current: Some(soft.min(before)),
        maximum: Some(hard.min(before)),
    };
    setrlimit(resource, limit).map_err(io::Error::from)
}

/// The resources that a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of memory.
    pub memory: u64,
    /// Seconds of processor time, over all its threads.
    pub processor_seconds: u64,
}

impl Bounds {
    /// Applies the bounds to this process, as far as the system supports them. Also forbids writing
    /// files and core dumps.
    ///
    /// # Errors
    /// The errors of the system.
    pub(crate) fn apply(self) -> io::Result<()> {
        let limit = |resource, most: u64| limit(resource, most, most);
        limit(Resource::Core, 0)?;
        limit(Resource::Fsize, 0)?;
        // The process is killed a second later. Until then, a signal explains why it ends.
        let seconds = self.processor_seconds;
        self::limit(Resource::Cpu, seconds, seconds.saturating_add(1))?;
        limit(Resource::Data, self.memory)?;
        limit(Resource::As, self.memory.saturating_add(ADDRESS_SPACE_MORE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_read_as_it_was_written() {
        let greeting = Greeting {
            bounds: Bounds {
                memory: u64::MAX,
                processor_seconds: 7,
            },
            version: b"0.1.0-1",
        };
        let bytes = greeting.to_bytes();
        assert_eq!(Greeting::from_bytes(&bytes), Some(greeting));
        assert_eq!(Greeting::from_bytes(&bytes[..15]), None);
    }
}
