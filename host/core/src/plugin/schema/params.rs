//! Params, checked as a part of their call: within its time, and without holding up the thread that makes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::limits::Limits;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::meter::{Allowance, Going, Stopped};
use super::{Judged, STACK, STACK_USED, Schema};

/// The schema of a tool's params.
#[derive(Debug, Clone)]
pub(crate) struct ParamsSchema {
    schema: Arc<Schema>,
}

impl ParamsSchema {
    pub fn new(schema: Json) -> Self {
        Self {
            schema: Arc::new(Schema::unchecked(schema)),
        }
    }

    /// Checks params, and tells how much of the call's time that took.
    ///
    /// # Errors
    /// [`Error::InvalidParams`] with the places where they don't fit; [`Error::Limit`] where finding out takes more than the limits allow;
    /// [`Error::Cancelled`].
    pub async fn check(
        &self,
        tool: &str,
        params: &Value,
        limits: &Limits,
        cancel: Option<&CancellationToken>,
    ) -> Result<Duration, Error> {
        if let Some(judged) = self.schema.judge_quickly(params) {
            told(judged, tool, limits)?;
            return Ok(Duration::ZERO);
        }
        // Apart, since the future of every call would be larger by what is seldom done.
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
        let judged = self.judge_elsewhere(params.clone(), allowance)?;
        let cancelled = async {
            match cancel {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let judged = tokio::select! {
            biased;
            judged = judged => judged.map_err(|error| Error::host("the params could not be checked", error))?,
            () = cancelled => return Err(Error::Cancelled),
            // It stops by itself, unless it is still compiling the schema.
            () = tokio::time::sleep(limits.call_time) => Judged::Stopped(Stopped::Told),
        };
        told(judged, tool, limits)?;
        Ok(begun.elapsed())
    }

    /// On a thread with enough stack, which ends soon after it is told to.
    fn judge_elsewhere(
        &self,
        params: Value,
        allowance: Allowance,
    ) -> Result<oneshot::Receiver<Judged>, Error> {
        let (answer, answered) = oneshot::channel();
        let schema = Arc::clone(&self.schema);
        std::thread::Builder::new()
            .name("airlock-params".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                let _ = answer.send(schema.judge(&params, allowance));
            })
            .map_err(|error| Error::host("could not start a thread to check params", error))?;
        Ok(answered)
    }
}

/// Nobody waits for the answer any more.
struct StopOnDrop(Arc<Going>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }
}

fn told(judged: Judged, tool: &str, limits: &Limits) -> Result<(), Error> {
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
