//! The host's side: starting, asking and killing a process.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::frames::{self, FROM_HOST, FROM_PROCESS, ReceiveError};
use crate::part::{Greeting, Part};
use crate::{Bounds, ExitReason};

/// The time to wait for the socket before asking the caller whether to continue.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The maximum number of bytes read of a process's standard error.
const LAST_WORDS: u64 = 4096;

/// A process that works for this one. Dropping it kills the process and waits for its end.
#[derive(Debug)]
pub struct Worker {
    process: Child,
    /// The process's standard input, a socket over which it also answers. Writing to a pipe without
    /// a reader would end hosts that don't ignore SIGPIPE.
    stream: UnixStream,
    is_reaped: bool,
}

impl Worker {
    /// Starts a program as one of its parts, with these bounds. It gets the part's argument, only
    /// `variables` as its environment, `/` as its directory, and a separate process group. If the
    /// program is a script, what it starts is killed with it, and Ctrl-C reaches only the host.
    ///
    /// # Errors
    /// The errors of the system.
    pub fn start(
        program: &Path,
        part: &Part,
        bounds: Bounds,
        variables: &[(&str, String)],
    ) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        stream.set_read_timeout(Some(POLL_INTERVAL))?;
        stream.set_write_timeout(Some(POLL_INTERVAL))?;
        // The process's end of the socket closes here when the command is dropped.
        let process = Command::new(program)
            .arg(part.argument)
            .env_clear()
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let worker = Self {
            process,
            stream,
            is_reaped: false,
        };
        let greeting = Greeting {
            bounds,
            version: part.version.as_bytes(),
        };
        // If it has ended already, the next question fails and says why.
        let _ = worker.send(&[&greeting.to_bytes()], || false);
        Ok(worker)
    }

    /// Sends a message that consists of these parts, unless `is_due` says to stop.
    ///
    /// # Errors
    /// The errors of the socket, and [`ErrorKind::TimedOut`] if `is_due` returned true.
    pub fn send(&self, message: &[&[u8]], is_due: impl Fn() -> bool) -> io::Result<()> {
        frames::write(self.until(is_due), FROM_HOST, message)
    }

    /// Waits for the next message until `is_due` says to stop. `admits` decides by the length
    /// whether it fits, before any memory is allocated.
    ///
    /// # Errors
    /// See [`ReceiveError`].
    pub fn receive(
        &self,
        admits: impl FnOnce(u64) -> bool,
        is_due: impl Fn() -> bool,
    ) -> Result<Vec<u8>, ReceiveError> {
        frames::read(self.until(is_due), FROM_PROCESS, admits)
    }

    /// Kills the process if it is still running, and returns why it ended, if it ended by itself.
    pub fn end(&mut self) -> ExitReason {
        let status = self.reap();
        let mut words = Vec::new();
        // The output is complete. A program that it started and that left its group may keep the
        // other end open indefinitely.
        if let Some(stderr) = &mut self.process.stderr
            && rustix::io::ioctl_fionbio(&*stderr, true).is_ok()
        {
            let _ = stderr.take(LAST_WORDS).read_to_end(&mut words);
        }
        ExitReason::new(status, &words)
    }

    fn until<F: Fn() -> bool>(&self, is_due: F) -> Interruptible<'_, F> {
        Interruptible {
            stream: &self.stream,
            is_due,
        }
    }

    /// Kills the process and everything it started, and waits for its end. The process id can't be
    /// reused before.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        if !self.is_reaped {
            self.is_reaped = true;
            let group = i32::try_from(self.process.id())
                .ok()
                .and_then(Pid::from_raw);
            if let Some(group) = group {
                // If the process has just ended, there is nothing to kill.
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
        self.process.wait()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.reap();
    }
}

/// A socket that is read and written until `is_due` returns true.
struct Interruptible<'a, F> {
    stream: &'a UnixStream,
    is_due: F,
}

impl<F: Fn() -> bool> Interruptible<'_, F> {
    fn wait(&self, mut work: impl FnMut(&UnixStream) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            // Checked even if bytes arrive one by one.
            if (self.is_due)() {
                return Err(ErrorKind::TimedOut.into());
            }
            match work(self.stream) {
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                done => return done,
            }
        }
    }
}

impl<F: Fn() -> bool> Read for Interruptible<'_, F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self.wait(|mut stream| stream.read(bytes)) {
            // The process ended without reading everything it was sent.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(0),
            read => read,
        }
    }
}

impl<F: Fn() -> bool> Write for Interruptible<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(|mut stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
