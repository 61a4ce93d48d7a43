//! A call that runs on threads that may block: its deadline, its progress, and the files it may
//! access.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use airlock_model::error::Error;
use airlock_model::event::{self, Event, EventSource, Observer};
use airlock_model::limits::Limits;
use airlock_model::pending::SessionId;
use tokio_util::sync::CancellationToken;

use super::layer::CallLayer;
use crate::instance::Call;
use crate::workspace::{ReadableFolder, WorkspaceFolder, WritableFolder};

/// A running call of a native tool, for the threads that work on it.
pub struct RunningCall {
    tool: String,
    number: u64,
    limits: Arc<Limits>,
    stop: Arc<Stop>,
    observed: Observed,
}

/// A call to preview an action or to handle its discard. It can read the workspace.
pub struct PreviewCall {
    running: RunningCall,
    workspace: Granted,
    draft: CallLayer,
}

/// A call to apply an action. It can change the workspace.
pub struct ApplyCall {
    running: RunningCall,
    workspace: Granted,
    changes: CallLayer,
    files_moved: bool,
}

/// The workspace, or the reason why the call can't have it.
pub(super) type Granted = Result<Arc<WorkspaceFolder>, String>;

/// The stop state of a call: its deadline, and its stage, which determines if effects may still
/// begin. The call's threads query it, and the waiting caller controls it.
#[derive(Debug)]
pub struct Stop {
    started: Instant,
    call_time: Duration,
    cancel: Option<CancellationToken>,
    stage: AtomicU8,
}

/// The call is running and has had no visible effect so far.
const WORKING: u8 = 0;
/// The call was abandoned: nothing waits for its answer, and no effect may begin.
const LEFT: u8 = 1;
/// Effects outside the workspace have begun: the caller has to wait for their end.
const ACTING: u8 = 2;
/// The work has returned, and no effect may begin any more.
const ENDED: u8 = 3;

/// The observer of the call's progress, and the names to report.
pub(super) struct Observed {
    pub observer: Option<Observer>,
    pub session: SessionId,
    pub producer: Arc<str>,
}

impl PreviewCall {
    pub(super) fn new(running: RunningCall, workspace: Granted, draft: CallLayer) -> Self {
        Self {
            running,
            workspace,
            draft,
        }
    }

    /// Returns the session's workspace for reading.
    ///
    /// # Errors
    /// [`Error::Tool`] if the session has none or the policy doesn't grant it, [`Error::Workspace`]
    /// if it is gone.
    pub fn folder(&self) -> Result<ReadableFolder, Error> {
        let folder = self.running.granted(&self.workspace)?;
        let view = folder.view();
        let view = view.map_err(|error| Error::workspace(folder.path(), error))?;
        Ok(ReadableFolder::of(view, folder.path()))
    }

    /// Returns the workspace with a layer for this preview, in which to make the changes that the
    /// apply would make. The layer is private and never committed. Every call returns the same
    /// layer.
    ///
    /// The decider sees the changes in the draft as verified by the host. The apply is compared
    /// with the draft, and is not committed if it changes anything else. By writing a draft, a tool
    /// declares that its apply makes these changes and has no effects elsewhere. A tool with
    /// effects elsewhere must not write a draft; its preview is then shown as unverified.
    ///
    /// # Errors
    /// See [`folder`](Self::folder).
    pub fn draft(&self) -> Result<WritableFolder, Error> {
        self.running.layer(&self.workspace, &self.draft)
    }
}

impl Deref for PreviewCall {
    type Target = RunningCall;

    fn deref(&self) -> &RunningCall {
        &self.running
    }
}

impl ApplyCall {
    pub(super) fn new(
        running: RunningCall,
        workspace: Granted,
        changes: CallLayer,
        files_moved: bool,
    ) -> Self {
        Self {
            running,
            workspace,
            changes,
            files_moved,
        }
    }

    /// Returns whether other lines of the action's files may have changed since the preview. If so,
    /// don't compare contents in the tool; the host checks that its edits are the previewed ones.
    pub fn files_moved(&self) -> bool {
        self.files_moved
    }

    /// Returns the session's workspace for reading and writing. Every call returns the same one.
    /// The changes are committed in one step after the tool has returned a result, and dropped if
    /// it fails or its call ends earlier.
    ///
    /// # Errors
    /// See [`PreviewCall::folder`].
    pub fn folder(&self) -> Result<WritableFolder, Error> {
        self.running.layer(&self.workspace, &self.changes)
    }

    /// Declares that effects outside the [folder](Self::folder) begin, such as sending a message.
    /// Call this before the first such effect. From here on, callers wait for the end of the call
    /// however long it takes, and [`RunningCall::check`] no longer ends it.
    ///
    /// # Errors
    /// See [`RunningCall::check`]. If this fails, don't begin any effect.
    pub fn begin_effects(&self) -> Result<(), Error> {
        self.running.begin_effects()
    }
}

impl Deref for ApplyCall {
    type Target = RunningCall;

    fn deref(&self) -> &RunningCall {
        &self.running
    }
}

impl RunningCall {
    /// Starts the call's time.
    pub(super) fn new(call: &Call<'_>, limits: &Arc<Limits>, observed: Observed) -> Self {
        Self {
            tool: call.tool.to_owned(),
            number: call.number,
            limits: Arc::clone(limits),
            stop: Arc::new(Stop::new(
                limits.call_time.saturating_sub(call.spent),
                call.cancel.cloned(),
            )),
            observed,
        }
    }

    /// Returns the stop state, for code that can't call [`check`](Self::check).
    pub fn stop(&self) -> &Arc<Stop> {
        &self.stop
    }

    /// Checks whether the call has to end. Call this between steps of work.
    ///
    /// # Errors
    /// [`Error::Cancelled`], or [`Error::Limit`] if the time is up.
    pub fn check(&self) -> Result<(), Error> {
        if self.stop.is_due() {
            Err(self.stop.reason(&self.tool))
        } else {
            Ok(())
        }
    }

    pub(super) fn begin_effects(&self) -> Result<(), Error> {
        self.check()?;
        if self.stop.move_on(ACTING) || self.stop.is_acting() {
            Ok(())
        } else {
            Err(self.stop.reason(&self.tool))
        }
    }

    fn layer(&self, workspace: &Granted, layer: &CallLayer) -> Result<WritableFolder, Error> {
        let folder = self.granted(workspace)?;
        let opened = layer.folder(folder);
        opened.map_err(|error| Error::workspace(folder.path(), error))
    }

    fn granted<'a>(&self, workspace: &'a Granted) -> Result<&'a WorkspaceFolder, Error> {
        workspace.as_deref().map_err(|why| Error::Tool {
            message: format!("{} {why}", self.tool),
        })
    }

    /// Returns the session's limits, which bound results, details and states.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reports progress to the session's observer, in the tool's own unit. The observer runs on the
    /// calling thread, so don't report every small step.
    pub fn progress(&self, message: impl Into<String>, progress: f64) {
        // The observer has already seen the end of the call.
        if self.stop.was_left() {
            return;
        }
        let event = Event::Progress {
            message: message.into(),
            progress: Some(progress),
            total: None,
        };
        self.observed.emit(self.number, &self.tool, &event);
    }
}

impl Stop {
    /// Creates an independent stop state that is due after this time, for work outside a call, such
    /// as a test.
    pub fn after(time: Duration) -> Self {
        Self::new(time, None)
    }

    fn new(call_time: Duration, cancel: Option<CancellationToken>) -> Self {
        Self {
            started: Instant::now(),
            call_time,
            cancel,
            stage: AtomicU8::new(WORKING),
        }
    }

    /// Returns whether the work has to end: its time is up, it was cancelled, or it was abandoned.
    /// Always false once effects have begun.
    pub fn is_due(&self) -> bool {
        match self.stage.load(Ordering::Relaxed) {
            LEFT | ENDED => true,
            ACTING => false,
            _ => self.is_over(),
        }
    }

    /// Returns how much of the call's time is left, so that work can do less when time is short.
    pub fn time_left(&self) -> Duration {
        self.call_time.saturating_sub(self.started.elapsed())
    }

    /// Returns whether the call's time is up or it was cancelled, even after effects have begun.
    pub(super) fn is_over(&self) -> bool {
        self.was_left() || self.is_cancelled() || self.started.elapsed() >= self.call_time
    }

    /// Returns whether the work was abandoned.
    pub(super) fn was_left(&self) -> bool {
        self.stage.load(Ordering::SeqCst) == LEFT
    }

    fn is_acting(&self) -> bool {
        self.stage.load(Ordering::SeqCst) == ACTING
    }

    /// Notes that the work has returned.
    pub(super) fn end(&self) {
        // Abandoned work stays abandoned.
        if !self.move_on(ENDED) {
            let order = Ordering::SeqCst;
            let _ = self.stage.compare_exchange(ACTING, ENDED, order, order);
        }
    }

    fn is_cancelled(&self) -> bool {
        let cancel = self.cancel.as_ref();
        cancel.is_some_and(CancellationToken::is_cancelled)
    }

    /// Waits until the call is cancelled or its time is up.
    pub(super) async fn due(&self) {
        let time = tokio::time::sleep(self.time_left());
        match &self.cancel {
            None => time.await,
            Some(cancel) => tokio::select! {
                () = time => {}
                () = cancel.cancelled() => {}
            },
        }
    }

    /// Abandons running work: it can't begin an effect after this. Returns false if it has begun
    /// one, in which case the caller must wait for its end.
    pub(super) fn leave(&self) -> bool {
        self.move_on(LEFT)
    }

    fn move_on(&self, stage: u8) -> bool {
        let order = Ordering::SeqCst;
        let moved = self.stage.compare_exchange(WORKING, stage, order, order);
        moved.is_ok()
    }

    /// Returns why the work had to end, with the time that it took.
    pub(super) fn reason(&self, tool: &str) -> Error {
        let elapsed = self.started.elapsed();
        if elapsed >= self.call_time && !self.is_cancelled() {
            Error::timed_out_after(tool, self.call_time, elapsed)
        } else {
            Error::Cancelled
        }
    }

    /// Returns a guard that abandons the work when it is dropped.
    pub(super) fn leave_on_drop(self: &Arc<Self>) -> Leaving {
        Leaving(Arc::clone(self))
    }
}

impl Observed {
    pub fn emit(&self, call: u64, tool: &str, event: &Event) {
        let source = EventSource::new(Some(&self.session), &self.producer, tool).in_call(call);
        event::emit(self.observer.as_ref(), source, event);
    }
}

/// Abandons a call's work when the future of the call is dropped; its threads stop at their next
/// check.
pub(super) struct Leaving(Arc<Stop>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_was_left_begins_no_effect_and_what_began_is_not_left() {
        let long = Duration::from_secs(3600);
        let stop = Stop::new(long, None);
        assert!(!stop.is_due());
        assert!(stop.leave());
        assert!(stop.is_due());
        assert!(!stop.move_on(ACTING));

        let stop = Stop::new(long, None);
        assert!(stop.move_on(ACTING));
        assert!(!stop.leave());
        assert!(!stop.is_due());
        stop.end();
        assert!(!stop.is_acting());

        // Effects that have begun are not interrupted, even if the time is up.
        let stop = Stop::new(Duration::ZERO, None);
        assert!(stop.is_due());
        let stop = Stop::new(Duration::from_millis(1), None);
        assert!(stop.move_on(ACTING));
        std::thread::sleep(Duration::from_millis(2));
        assert!(stop.is_over() && !stop.is_due());
    }

    #[test]
    fn the_reason_has_the_time_that_it_took() {
        let reason = |call_time, elapsed| {
            Error::timed_out_after(
                "t",
                Duration::from_millis(call_time),
                Duration::from_millis(elapsed),
            )
            .to_string()
        };
        assert_eq!(
            reason(3000, 3040),
            "tool `t` was stopped after 3 s, the limit for a call"
        );
        assert_eq!(
            reason(50, 700),
            "tool `t` was stopped after 0.7 s; the limit for a call is 0.05 s"
        );
    }
}
