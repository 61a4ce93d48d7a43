//! The host's side: a process that is started, talked to, and killed.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::ExitReason;

/// What is read of a process's standard error.
const LAST_WORDS: u64 = 4096;

/// One process, as far as it is there. Dropped, it is killed and waited for.
#[derive(Debug, Default)]
pub struct Process(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    NotStarted,
    Running(Child),
    Ended,
}

/// How a process that was started is talked to.
#[derive(Debug)]
pub struct Started {
    /// Its standard input. It may write to it too: it is a socket, since writing to a pipe that
    /// nobody reads would end hosts that don't ignore SIGPIPE.
    pub stream: UnixStream,
    /// Its standard output.
    pub stdout: ChildStdout,
    stderr: ChildStderr,
}

impl Process {
    /// Starts a program as one of its parts: with this one argument, no environment but
    /// `variables`, `/` as its directory, and a process group of its own, so that a script which
    /// starts the program is killed with it, and Ctrl-C is the host's to handle.
    ///
    /// # Errors
    /// Those of the system, and one where it was killed before.
    pub fn start(
        &self,
        program: &Path,
        argument: &str,
        variables: &[(&str, String)],
    ) -> io::Result<Started> {
        let (stream, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        command
            .arg(argument)
            .env_clear()
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut state = self.state();
        if matches!(*state, State::Ended) {
            return Err(io::Error::other("it was cancelled before it started"));
        }
        let mut child = command.spawn()?;
        // Its end of the socket must not stay open here.
        drop(command);
        let pipes = child.stdout.take().zip(child.stderr.take());
        *state = State::Running(child);
        let (stdout, stderr) = pipes.ok_or_else(|| io::Error::other("there are no pipes"))?;
        Ok(Started {
            stream,
            stdout,
            stderr,
        })
    }

    /// Kills it with all that it started, unless it was waited for. Its identifier is its own until
    /// then. One that was not started never will be.
    pub fn kill(&self) {
        let mut state = self.state();
        match &*state {
            State::NotStarted => *state = State::Ended,
            State::Running(child) => kill(child),
            State::Ended => {}
        }
    }

    /// Kills what may still run of it, waits for its end, and tells how it ended by itself, if it
    /// did.
    pub fn end(&self, started: &mut Started) -> ExitReason {
        let status = self.wait();
        let mut words = Vec::new();
        // What it said is there. Something that it started, and that left its group, may hold the
        // other end for as long as it likes.
        if rustix::io::ioctl_fionbio(&started.stderr, true).is_ok() {
            let stderr = started.stderr.by_ref();
            let _ = stderr.take(LAST_WORDS).read_to_end(&mut words);
        }
        ExitReason::new(status, &words)
    }

    fn wait(&self) -> io::Result<ExitStatus> {
        let mut state = self.state();
        match std::mem::replace(&mut *state, State::Ended) {
            State::Running(mut child) => {
                kill(&child);
                child.wait()
            }
            _ => Err(io::Error::other("it was not running")),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

/// With all that it started. Where it has just ended, there is nothing to kill.
fn kill(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
