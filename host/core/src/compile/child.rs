//! Has a process of its own compile a component.
//!
//! A thread starts it, talks to it, and waits for its end, so that none is left behind however the host's own work ends. What the
//! future holds meanwhile is the right to kill it.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::oneshot;

use super::protocol::{ARGUMENT, Answer, Request, Unanswered};
use super::{CompileLimits, Failure};

/// Threads of the process. More would need more memory at one time, and leave nothing to others.
const THREADS: usize = 8;

/// What is read of its standard error.
const LAST_WORDS: u64 = 4096;

/// The compiled code of a component, for engines with this compatibility. Where this is dropped, the process is killed.
pub async fn compile(
    program: &Path,
    component: Bytes,
    compatibility: u64,
    limits: &CompileLimits,
) -> Result<Vec<u8>, Failure> {
    let process = Arc::new(Process::default());
    let (done, result) = oneshot::channel();
    let work = Work {
        process: Arc::clone(&process),
        request: request(component.len(), compatibility, limits),
        output_bytes: limits.output_bytes,
        component,
    };
    let command = command(program);
    let started = thread::Builder::new()
        .name("airlock-compiler".to_owned())
        .spawn(move || {
            // Nobody may want it any more.
            let _ = done.send(work.run(command));
        });
    started.map_err(Failure::NotStarted)?;
    let _kill = KillWhenDropped(process);
    match tokio::time::timeout(limits.time, result).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(Failure::Crashed(
            "the thread that talks to it ended".to_owned(),
        )),
        Err(_) => Err(Failure::Time),
    }
}

fn request(component: usize, compatibility: u64, limits: &CompileLimits) -> Request {
    // Should this host hang, so that nobody kills the process, the system does.
    let seconds = limits.time.saturating_add(Duration::from_secs(1)).as_secs();
    Request {
        compatibility,
        memory: limits.memory,
        processor_seconds: seconds.saturating_mul(threads() as u64),
        component: component as u64,
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(THREADS))
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg(ARGUMENT)
        .env_clear()
        .env("RAYON_NUM_THREADS", threads().to_string())
        .current_dir("/")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A script that starts the program is killed with it, and Ctrl-C is the host's to handle.
        .process_group(0);
    command
}

/// What the thread does.
struct Work {
    process: Arc<Process>,
    request: Request,
    output_bytes: u64,
    component: Bytes,
}

impl Work {
    fn run(self, mut command: Command) -> Result<Vec<u8>, Failure> {
        // A socket, since writing to a pipe that nobody reads would end hosts that don't ignore SIGPIPE.
        let (ours, theirs) = UnixStream::pair().map_err(Failure::NotStarted)?;
        command.stdin(OwnedFd::from(theirs));
        let (mut stdout, mut stderr) = self.process.start(&mut command)?;
        // The end that the process was given must not stay open here.
        drop(command);
        let asked = self
            .request
            .write(&ours)
            .and_then(|()| (&ours).write_all(&self.component));
        // One that doesn't listen may still say why.
        let answer = Answer::read(&mut stdout, self.output_bytes);
        let status = self.process.end();
        let mut words = Vec::new();
        let _ = stderr.by_ref().take(LAST_WORDS).read_to_end(&mut words);
        drop(ours);
        match answer {
            Ok(Answer::Code(code)) => Ok(code),
            Ok(Answer::Refused(reason)) => Err(Failure::Refused(reason)),
            Ok(Answer::OutOfMemory) => Err(Failure::Memory),
            Ok(Answer::OtherEngine) => Err(Failure::Crashed(
                "it is of another version than this host".to_owned(),
            )),
            Err(unanswered) => Err(died(status, &words, &unanswered, asked)),
        }
    }
}

/// Why there is no answer, by how the process ended.
fn died(
    status: io::Result<ExitStatus>,
    words: &[u8],
    unanswered: &Unanswered,
    asked: io::Result<()>,
) -> Failure {
    let words = String::from_utf8_lossy(words);
    // What Rust's allocator says before it aborts.
    if words.contains("memory allocation of") {
        return Failure::Memory;
    }
    let signal = status.as_ref().ok().and_then(ExitStatus::signal);
    if signal == Some(Signal::XCPU.as_raw()) {
        return Failure::Time;
    }
    let ended = match (signal, &status) {
        // It is killed when it has answered, whatever it does then; so this tells nothing.
        (Some(9), _) => String::new(),
        (Some(signal), _) => format!("; signal {signal} ended it"),
        (None, Ok(status)) => match status.code() {
            Some(0) | None => String::new(),
            Some(code) => format!("; it ended with exit code {code}"),
        },
        (None, Err(error)) => format!("; {error}"),
    };
    let asked = match asked {
        Ok(()) => String::new(),
        Err(error) => format!("; it didn't read the component ({error})"),
    };
    let said = match words.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("; it said: {}", line.trim()),
        None => String::new(),
    };
    Failure::Crashed(format!("{unanswered}{ended}{asked}{said}"))
}

/// The process, as far as it is there.
#[derive(Default)]
struct Process(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    NotStarted,
    Running(Child),
    Ended,
}

type Pipes = (std::process::ChildStdout, std::process::ChildStderr);

impl Process {
    fn start(&self, command: &mut Command) -> Result<Pipes, Failure> {
        let mut state = self.state();
        if matches!(*state, State::Ended) {
            return Err(Failure::Crashed("it was not wanted any more".to_owned()));
        }
        let mut child = command.spawn().map_err(Failure::NotStarted)?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        *state = State::Running(child);
        pipes.ok_or_else(|| Failure::NotStarted(io::Error::other("there are no pipes")))
    }

    /// Kills it, unless it was waited for. Its identifier is its own until then.
    fn kill(&self) {
        let mut state = self.state();
        match &*state {
            State::NotStarted => *state = State::Ended,
            State::Running(child) => kill(child),
            State::Ended => {}
        }
    }

    /// Kills what may still run of it, waits for its end, and tells how it ended by itself, if it did.
    fn end(&self) -> io::Result<ExitStatus> {
        let mut state = self.state();
        match std::mem::replace(&mut *state, State::Ended) {
            State::Running(mut child) => {
                kill(&child);
                child.wait()
            }
            _ => Err(io::Error::other("it was not there")),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Only where the thread panicked.
        let _ = self.end();
    }
}

/// With all that it started. Where it has just ended, there is nothing to kill.
fn kill(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

struct KillWhenDropped(Arc<Process>);

impl Drop for KillWhenDropped {
    fn drop(&mut self) {
        self.0.kill();
    }
}
