//! The host's side: a process that is started, asked, and killed.

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

/// How long the socket is waited for before the caller is asked whether it still waits.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The most that is read of a process's standard error.
const LAST_WORDS: u64 = 4096;

/// A process that works for this one. Dropped, it is killed and waited for.
#[derive(Debug)]
pub struct Worker {
    process: Child,
    /// Its standard input. It is a socket, over which it answers too: writing to a pipe that has no
    /// reader would end hosts that don't ignore SIGPIPE.
    stream: UnixStream,
    is_reaped: bool,
}

impl Worker {
    /// Starts a program as one of its parts, which holds itself to these bounds. It gets the part's
    /// argument, no environment but `variables`, `/` as its directory, and a process group of its
    /// own: a script that starts the program is killed with it, and Ctrl-C stays the host's.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(
        program: &Path,
        part: &Part,
        bounds: Bounds,
        variables: &[(&str, String)],
    ) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        stream.set_read_timeout(Some(POLL_INTERVAL))?;
        stream.set_write_timeout(Some(POLL_INTERVAL))?;
        // Its end of the socket closes here with the command.
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
    /// Those of the socket, and [`ErrorKind::TimedOut`] if it was due.
    pub fn send(&self, message: &[&[u8]], is_due: impl Fn() -> bool) -> io::Result<()> {
        frames::write(self.until(is_due), FROM_HOST, message)
    }

    /// Waits for the next message until `is_due` says to stop. `admits` says whether there is room
    /// for one of so many bytes; nothing is allocated before.
    ///
    /// # Errors
    /// [`ReceiveError`].
    pub fn receive(
        &self,
        admits: impl FnOnce(u64) -> bool,
        is_due: impl Fn() -> bool,
    ) -> Result<Vec<u8>, ReceiveError> {
        frames::read(self.until(is_due), FROM_PROCESS, admits)
    }

    /// Kills what may still run of it, and tells how it ended by itself, if it did.
    pub fn end(&mut self) -> ExitReason {
        let status = self.reap();
        let mut words = Vec::new();
        // What it said is there. Something that it started, and that left its group, may hold the
        // other end for as long as it likes.
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

    /// Kills it with all that it started, and waits for its end. Its identifier is its own until
    /// then.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        if !self.is_reaped {
            self.is_reaped = true;
            let group = i32::try_from(self.process.id())
                .ok()
                .and_then(Pid::from_raw);
            if let Some(group) = group {
                // Where it has just ended, there is nothing to kill.
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

/// A socket that is waited for until it is due.
struct Interruptible<'a, F> {
    stream: &'a UnixStream,
    is_due: F,
}

impl<F: Fn() -> bool> Interruptible<'_, F> {
    fn wait(&self, mut work: impl FnMut(&UnixStream) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            // Also where bytes come in one by one.
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
            // It ended, and had not read all that it was sent.
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
