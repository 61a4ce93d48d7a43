//! Checks params as a part of their call: within its time, and without blocking its thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use airlock_model::error::{Error, HostError};
use airlock_model::json::Json;
use airlock_model::limits::Limits;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::meter::{Allowance, Going, Stopped};
use super::{Judged, STACK, STACK_USED, Schema};

/// Maximum number of concurrent long checks in the whole process: each may keep a core busy and
/// fill its stack.
static MAX_CHECKS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2)));

static ALL: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(*MAX_CHECKS)));

/// Permits of one plugin in all its sessions: half of all permits, so that its schemas don't block
/// other plugins.
#[derive(Debug, Clone)]
pub(crate) struct Checks(Arc<Semaphore>);

impl Checks {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(*MAX_CHECKS / 2)))
    }

    /// Waits for a permit. The plugin's own permit comes first, so that waiting for it blocks no
    /// other plugin.
    async fn permit(&self) -> Permit {
        Permit {
            _own: acquire(&self.0).await,
            _of_all: acquire(&ALL).await,
        }
    }
}

async fn acquire(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    match Arc::clone(semaphore).acquire_owned().await {
        Ok(permit) => permit,
        // The semaphore is never closed.
        Err(_) => unreachable!("the semaphore was closed"),
    }
}

/// Held until the thread has ended, which may be after its call.
struct Permit {
    _own: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

/// The schema of a tool's params.
#[derive(Debug, Clone)]
pub(crate) struct ParamsSchema {
    schema: Arc<Schema>,
    checks: Checks,
}

impl ParamsSchema {
    pub fn new(schema: Json, checks: &Checks) -> Self {
        Self {
            schema: Arc::new(Schema::unchecked(schema)),
            checks: checks.clone(),
        }
    }

    /// Checks params, and returns how much of the call's time that took.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] with the violations; [`Error::Limit`] if the check exceeds the
    /// limits; [`Error::Cancelled`].
    pub async fn check(
        &self,
        tool: &str,
        params: &Value,
        limits: &Limits,
        cancel: Option<&CancellationToken>,
    ) -> Result<Duration, Error> {
        if let Some(judged) = self.schema.judge_quickly(params) {
            verdict(judged, tool, limits)?;
            return Ok(Duration::ZERO);
        }
        // Boxed: this rare path would make the future of every call larger.
        Box::pin(self.check_elsewhere(tool, params, limits, cancel)).await
    }

    async fn check_elsewhere(
        &self,
        tool: &str,
        params: &Value,
        limits: &Limits,
        cancel: Option<&CancellationToken>,
    ) -> Result<Duration, Error> {
        let begun = Instant::now();
        let until = begun.checked_add(limits.call_time);
        let going = Arc::new(Going {
            until,
            is_stopped: AtomicBool::new(false),
        });
        let _stop = StopOnDrop(Arc::clone(&going));
        let allowance = Allowance {
            steps: limits.params_steps,
            stack: STACK_USED,
            going: Some(going),
        };
        let judging = async {
            let permit = self.checks.permit().await;
            let judged = self.judge_elsewhere(params.clone(), allowance, permit)?;
            Ok::<_, Error>(judged.await.map_err(HostError::Params)?)
        };
        let cancelled = async {
            match cancel {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let judged = tokio::select! {
            biased;
            judged = judging => judged?,
            () = cancelled => return Err(Error::Cancelled),
            // The check stops by itself, unless it is waiting for its turn or still compiling the
            // schema.
            () = tokio::time::sleep(limits.call_time) => Judged::Stopped(Stopped::Told),
        };
        verdict(judged, tool, limits)?;
        Ok(begun.elapsed())
    }

    /// Judges on a thread with a large stack, which ends soon after a stop.
    fn judge_elsewhere(
        &self,
        params: Value,
        allowance: Allowance,
        permit: Permit,
    ) -> Result<oneshot::Receiver<Judged>, Error> {
        let (answer, answered) = oneshot::channel();
        let schema = Arc::clone(&self.schema);
        std::thread::Builder::new()
            .name("airlock-params".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                let judged = schema.judge(&params, allowance);
                drop((params, permit));
                let _ = answer.send(judged);
            })
            .map_err(HostError::ParamsThread)?;
        Ok(answered)
    }
}

/// Stops the check when its answer is no longer awaited.
struct StopOnDrop(Arc<Going>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }
}

fn verdict(judged: Judged, tool: &str, limits: &Limits) -> Result<(), Error> {
    match judged {
        Judged::Fits => Ok(()),
        Judged::Misfits(violations) => Err(Error::InvalidParams {
            tool: tool.to_owned(),
            violations,
        }),
        Judged::Stopped(Stopped::Told) => Err(Error::timed_out(tool, limits)),
        Judged::Stopped(Stopped::Steps | Stopped::Stack) => {
            Err(Error::params_too_costly(tool, limits))
        }
    }
}
