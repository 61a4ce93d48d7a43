//! Has a process of its own compile a component.
//!
//! A thread starts it, talks to it, and waits for its end, so that none is left behind however the
//! host's own work ends. What the future holds meanwhile is the right to kill it.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use airlock_worker::{Bounds, ExitReason, Process};
use bytes::Bytes;
use tokio::sync::oneshot;

use super::protocol::{ARGUMENT, Answer, Request, Unanswered};
use super::{CompileLimits, Failure};

/// Threads of the process. More would need more memory at one time, and leave nothing to others.
const THREADS: usize = 8;

/// The compiled code of a component, for engines with this compatibility. Where this is dropped,
/// the process is killed.
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
    let program = program.to_owned();
    let started = thread::Builder::new()
        .name("airlock-compiler".to_owned())
        .spawn(move || {
            // Nobody may want it any more.
            let _ = done.send(work.run(&program));
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
        bounds: Bounds {
            memory: limits.memory,
            processor_seconds: seconds.saturating_mul(threads() as u64),
        },
        component: component as u64,
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(THREADS))
}

/// What the thread does.
struct Work {
    process: Arc<Process>,
    request: Request,
    output_bytes: u64,
    component: Bytes,
}

impl Work {
    fn run(self, program: &Path) -> Result<Vec<u8>, Failure> {
        let threads = [("RAYON_NUM_THREADS", threads().to_string())];
        let mut started = self
            .process
            .start(program, ARGUMENT, &threads)
            .map_err(Failure::NotStarted)?;
        let asked = self
            .request
            .write(&started.stream)
            .and_then(|()| (&started.stream).write_all(&self.component));
        // One that doesn't listen may still say why.
        let answer = Answer::read(&mut started.stdout, self.output_bytes);
        let ended = self.process.end(&mut started);
        match answer {
            Ok(Answer::Code(code)) => Ok(code),
            Ok(Answer::Refused(reason)) => Err(Failure::Refused(reason)),
            Ok(Answer::OutOfMemory) => Err(Failure::Memory),
            Ok(Answer::OtherEngine) => Err(Failure::Crashed(
                "its version is not this host's".to_owned(),
            )),
            Err(unanswered) => Err(died(&ended, &unanswered, asked)),
        }
    }
}

/// Why there is no answer.
fn died(ended: &ExitReason, unanswered: &Unanswered, asked: io::Result<()>) -> Failure {
    match ended {
        ExitReason::Memory => Failure::Memory,
        ExitReason::Time => Failure::Time,
        ExitReason::Otherwise(how) => {
            let asked = match asked {
                Ok(()) => String::new(),
                Err(error) => format!("; it didn't read the component ({error})"),
            };
            Failure::Crashed(format!("{unanswered}{asked}{how}"))
        }
    }
}

struct KillWhenDropped(Arc<Process>);

impl Drop for KillWhenDropped {
    fn drop(&mut self) {
        self.0.kill();
    }
}
