//! The process's end of the conversation with its host.

use std::io::{self, Read, Write};
use std::process;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};

use crate::frames::{self, FROM_HOST, FROM_PROCESS, ReceiveError};
use crate::part::Greeting;

/// The stack of a thread that only waits.
const STACK_BYTES: usize = 64 << 10;

/// The host of this process, which asks over the socket that is its standard input, and is answered
/// there.
#[derive(Debug)]
pub struct Host(());

impl Host {
    /// Receives the greeting, and does as it says. From then on the process ends with its host.
    pub(crate) fn greeted(version: &str) -> io::Result<Self> {
        let mut host = Self(());
        let greeting = host.receive()?.ok_or_else(stopped)?;
        match Greeting::from_bytes(&greeting) {
            Some(greeting) if greeting.version == version.as_bytes() => greeting.bounds.apply()?,
            _ => return Err(other_version()),
        }
        end_with_the_host()?;
        Ok(host)
    }

    /// Waits for the next message. None if the host has no more. How long it may be is bounded by
    /// the process's memory.
    ///
    /// # Errors
    /// Where it can't be read as a whole.
    pub fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        match frames::read(StandardInput, FROM_HOST, |_| true) {
            Ok(message) => Ok(Some(message)),
            Err(ReceiveError::Nothing) => Ok(None),
            Err(ReceiveError::Garbage) => Err(other_version()),
            Err(ReceiveError::Failed(error)) => Err(error),
            Err(_) => Err(stopped()),
        }
    }

    /// Sends a message that consists of these parts.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn send(&mut self, message: &[&[u8]]) -> io::Result<()> {
        frames::write(StandardInput, FROM_PROCESS, message)
    }
}

fn other_version() -> io::Error {
    io::Error::other("the host has another version")
}

fn stopped() -> io::Error {
    io::Error::other("the host stopped asking")
}

/// Without the buffer that the library's has, since it is written to as well.
struct StandardInput;

impl Read for StandardInput {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(io::stdin(), bytes)?)
    }
}

impl Write for StandardInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(io::stdin(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Ends this process when the host closes its end of the socket: it has lost interest, or was
/// killed.
fn end_with_the_host() -> io::Result<()> {
    let wait = || {
        let stdin = io::stdin();
        // `poll` reports a closed socket without being asked to.
        let mut end = [PollFd::new(&stdin, PollFlags::empty())];
        while matches!(poll(&mut end, None), Ok(0) | Err(rustix::io::Errno::INTR)) {}
        process::exit(1);
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    thread.spawn(wait).map(drop)
}
