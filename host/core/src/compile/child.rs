//! Compiles a component in a separate process.

use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use airlock_worker::{Bounds, ExitReason, ReceiveError, Worker};
use bytes::Bytes;

use super::protocol::{Answer, COMPILER, CompileRequest};
use super::{CompileLimits, Failure};

/// Maximum number of threads of the process. More threads would need more memory and leave no cores
/// for other work.
const THREADS: usize = 8;

/// A component for a process to compile.
pub struct Job {
    pub program: PathBuf,
    pub component: Bytes,
    /// Identifies the code that the host's engine can run.
    pub compatibility: u64,
    pub limits: CompileLimits,
}

impl Job {
    /// Returns the compiled code. Kills the process when `is_given_up` returns true.
    pub fn run(&self, is_given_up: impl Fn() -> bool) -> Result<Vec<u8>, Failure> {
        let threads = [("RAYON_NUM_THREADS", threads().to_string())];
        let mut worker = Worker::start(&self.program, &COMPILER, self.bounds(), &threads)
            .map_err(Failure::NotStarted)?;
        let request = CompileRequest {
            compatibility: self.compatibility.to_le_bytes(),
            component: &self.component,
        };
        let asked = worker.send(&request.parts(), &is_given_up);
        // A process that doesn't read its input may still report why.
        let max_bytes = Answer::max_bytes(self.limits.output_bytes);
        let answer = worker.receive(|length| length <= max_bytes, &is_given_up);
        let answer =
            answer.and_then(|bytes| Answer::from_bytes(bytes).ok_or(ReceiveError::Garbage));
        match answer {
            Ok(Answer::Code(code)) => Ok(code),
            Ok(Answer::Refused(reason)) => Err(Failure::Refused(reason)),
            Ok(Answer::OutOfMemory) => Err(Failure::Memory),
            Ok(Answer::OtherEngine) => Err(Failure::Crashed(
                "its version is not this host's".to_owned(),
            )),
            Err(unanswered) => Err(died(&worker.end(), &unanswered, asked)),
        }
    }

    fn bounds(&self) -> Bounds {
        let time = self.limits.time;
        // If this host hangs and can't kill the process, the system does.
        let seconds = time.saturating_add(Duration::from_secs(1)).as_secs();
        Bounds {
            memory: self.limits.memory,
            processor_seconds: seconds.saturating_mul(threads() as u64),
        }
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(THREADS))
}

/// Returns the failure of a process that gave no answer.
fn died(ended: &ExitReason, unanswered: &ReceiveError, asked: io::Result<()>) -> Failure {
    let unanswered = match unanswered {
        ReceiveError::TooLong(bytes) => {
            format!("its answer is {bytes} bytes, more than compiled code may be")
        }
        other => other.to_string(),
    };
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
