//! A call that runs on threads that may be blocked: when it has to end, and how far it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::event::{self, Event, EventSource, Observer};
use crate::instance::Call;
use crate::limits::Limits;
use crate::pending::SessionId;

/// One call, for the threads that work on it.
pub(crate) struct Running {
    tool: String,
    limits: Arc<Limits>,
    deadline: Instant,
    cancel: Option<CancellationToken>,
    /// Nobody waits for the answer any more.
    abandoned: Arc<AtomicBool>,
    observed: Observed,
}

/// Who hears of the call's progress, and under which names.
pub(super) struct Observed {
    pub observer: Option<Observer>,
    pub session: SessionId,
    pub producer: Arc<str>,
}

impl Running {
    pub(super) fn new(call: &Call<'_>, limits: &Arc<Limits>, observed: Observed) -> Self {
        Self {
            tool: call.tool.to_owned(),
            limits: Arc::clone(limits),
            deadline: Instant::now() + limits.call_time,
            cancel: call.cancel.cloned(),
            abandoned: Arc::default(),
            observed,
        }
    }

    /// Tells the threads to stop, when it is dropped.
    pub(super) fn abandon_on_drop(&self) -> Abandon {
        Abandon(Arc::clone(&self.abandoned))
    }

    /// To be asked between any two pieces of work.
    ///
    /// # Errors
    /// [`Error::Cancelled`], or [`Error::Limit`] where the time is up.
    pub fn check(&self) -> Result<(), Error> {
        let cancelled = self
            .cancel
            .as_ref()
            .is_some_and(CancellationToken::is_cancelled);
        if cancelled || self.abandoned.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        match Instant::now() < self.deadline {
            true => Ok(()),
            false => Err(Error::timed_out(&self.tool, &self.limits)),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Tells whoever watches. Not to be called for each little step: the log of a call has a limit.
    pub fn progress(&self, message: String, progress: f64) {
        let event = Event::Progress {
            message,
            progress: Some(progress),
            total: None,
        };
        self.observed.emit(&self.tool, &event);
    }
}

impl Observed {
    pub fn emit(&self, tool: &str, event: &Event) {
        let source = EventSource {
            session: Some(&self.session),
            plugin: &self.producer,
            tool,
        };
        event::emit(self.observer.as_ref(), source, event);
    }
}

/// Where the future of a call is dropped, its threads stop at their next check.
pub(super) struct Abandon(Arc<AtomicBool>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
