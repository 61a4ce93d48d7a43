//! The process's side of the connection to its host.

use std::io::{self, Read, Write};
use std::process;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};

use crate::frames::{self, FROM_HOST, FROM_PROCESS, ReceiveError};
use crate::part::Greeting;

/// The stack size of a thread that only waits.
const STACK_BYTES: usize = 64 << 10;

/// The host of this process. Questions and answers use the socket on standard input.
#[derive(Debug)]
pub struct Host(());

impl Host {
    /// Receives the greeting and applies it. From then on, the process exits with its host.
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

    /// Waits for the next message. Returns `None` if the host has no more. Only the process's
    /// memory bounds the length.
    ///
    /// # Errors
    /// Fails if the message can't be read completely.
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
    /// The errors of the socket.
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

/// Standard input without the buffer of the standard library, because it is also written to.
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

/// Exits this process when the host closes its end of the socket, on purpose or because it was
/// killed.
fn end_with_the_host() -> io::Result<()> {
    let wait = || {
        let stdin = io::stdin();
        // `poll` reports a closed socket without being asked to.
        let mut end = [PollFd::new(&stdin, PollFlags::empty())];
        while matches!(poll(&mut end, None), Ok(0) | Err(rustix::io::Errno::INTR)) {}
        #[expect(clippy::exit, reason = "nobody waits for this process any more")]
        process::exit(1);
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    thread.spawn(wait).map(drop)
}
