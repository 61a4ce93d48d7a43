//! A call that runs on threads that may be blocked: when it has to end, how far it is, and which
//! files it may have.

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

/// One call of a native tool, for the threads that work on it.
pub struct RunningCall {
    tool: String,
    number: u64,
    limits: Arc<Limits>,
    stop: Arc<Stop>,
    observed: Observed,
}

/// A call that previews, or that hears of a discard: the workspace can be read.
pub struct PreviewCall {
    running: RunningCall,
    workspace: Granted,
    draft: CallLayer,
}

/// A call that applies: the workspace can be changed.
pub struct ApplyCall {
    running: RunningCall,
    workspace: Granted,
    changes: CallLayer,
    files_moved: bool,
}

/// The workspace, or why the call can't have it.
pub(super) type Granted = Result<Arc<WorkspaceFolder>, String>;

/// When a call has to end, and whether it may still begin an effect. It is asked by whatever works
/// on the call, and decided by whoever waits.
#[derive(Debug)]
pub struct Stop {
    started: Instant,
    call_time: Duration,
    cancel: Option<CancellationToken>,
    stage: AtomicU8,
}

/// Nothing that others see was done so far.
const WORKING: u8 = 0;
/// The call was abandoned: its answer is not awaited any longer, and no effect may begin.
const LEFT: u8 = 1;
/// It has effects outside of the workspace: whoever waits has to wait for their end.
const ACTING: u8 = 2;
/// The work has returned, and no effect may begin any more.
const ENDED: u8 = 3;

/// Where the call's progress is reported, and under which names.
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

    /// The session's workspace, to be read.
    ///
    /// # Errors
    /// [`Error::Tool`] where the session has none or the policy doesn't grant it,
    /// [`Error::Workspace`] where it is gone.
    pub fn folder(&self) -> Result<ReadableFolder, Error> {
        let folder = self.running.granted(&self.workspace)?;
        let view = folder.view();
        let view = view.map_err(|error| Error::workspace(folder.path(), &error))?;
        Ok(ReadableFolder::of(view, folder.path()))
    }

    /// The workspace, with a layer of this preview's own, in which to do what applying would do.
    /// Nobody else sees it, and it is never committed. The same each time it is asked for.
    ///
    /// What it changes is what whoever decides is shown as verified by the host, and what the apply
    /// is compared with: one that changes anything else is not committed. A tool that writes a
    /// draft says by that that its apply does this, and nothing elsewhere; one that does something
    /// elsewhere writes none, and its preview is shown as its own word.
    ///
    /// # Errors
    /// As [`folder`](Self::folder).
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

    /// Whether other lines of the action's files may have changed since the preview. If so, the
    /// tool doesn't compare contents; the host makes sure that its edits are the previewed ones.
    pub fn files_moved(&self) -> bool {
        self.files_moved
    }

    /// The session's workspace, to be read and changed: the same each time it is asked for. Its
    /// changes are committed in one step once the tool has returned a result, and dropped where it
    /// fails or its call ends before.
    ///
    /// # Errors
    /// As [`PreviewCall::folder`].
    pub fn folder(&self) -> Result<WritableFolder, Error> {
        self.running.layer(&self.workspace, &self.changes)
    }

    /// To be asked before the first effect outside of the [folder](Self::folder), such as a message
    /// that is sent: from here on whoever waits for the call waits for its end, whatever time that
    /// takes, and [`RunningCall::check`] ends it no more.
    ///
    /// # Errors
    /// As [`RunningCall::check`]: then nothing may be done.
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
    /// Its time begins.
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

    /// What is asked in the midst of work, where a call of [`check`](Self::check) doesn't reach.
    pub fn stop(&self) -> &Arc<Stop> {
        &self.stop
    }

    /// To be asked between any two pieces of work.
    ///
    /// # Errors
    /// [`Error::Cancelled`], or [`Error::Limit`] where the time is up.
    pub fn check(&self) -> Result<(), Error> {
        match self.stop.is_due() {
            false => Ok(()),
            true => Err(self.stop.reason(&self.tool)),
        }
    }

    pub(super) fn begin_effects(&self) -> Result<(), Error> {
        self.check()?;
        match self.stop.move_on(ACTING) || self.stop.is_acting() {
            true => Ok(()),
            false => Err(self.stop.reason(&self.tool)),
        }
    }

    fn layer(&self, workspace: &Granted, layer: &CallLayer) -> Result<WritableFolder, Error> {
        let folder = self.granted(workspace)?;
        let opened = layer.folder(folder);
        opened.map_err(|error| Error::workspace(folder.path(), &error))
    }

    fn granted<'a>(&self, workspace: &'a Granted) -> Result<&'a WorkspaceFolder, Error> {
        workspace.as_deref().map_err(|why| Error::Tool {
            message: format!("{} {why}", self.tool),
        })
    }

    /// The session's limits: what a result, details and a state may have.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reports progress to the session's observer, in the tool's own unit. Observers run on the
    /// thread that calls this, so it is not for each little step.
    pub fn progress(&self, message: impl Into<String>, progress: f64) {
        // Whoever watches has heard that the call has ended.
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
    /// One of its own, that is due after this time: for work outside of a call, such as a test.
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

    /// Whether the work has to end: its time is up, it was cancelled, or nobody waits for it. Never
    /// once effects have begun.
    pub fn is_due(&self) -> bool {
        match self.stage.load(Ordering::Relaxed) {
            LEFT | ENDED => true,
            ACTING => false,
            _ => self.is_over(),
        }
    }

    /// How much of the call's time is left: for work that does less where there is little.
    pub fn time_left(&self) -> Duration {
        self.call_time.saturating_sub(self.started.elapsed())
    }

    /// Whether the call's time is up, or it was cancelled, whatever the work is doing.
    pub(super) fn is_over(&self) -> bool {
        self.was_left() || self.is_cancelled() || self.started.elapsed() >= self.call_time
    }

    /// Whether the work was abandoned.
    pub(super) fn was_left(&self) -> bool {
        self.stage.load(Ordering::SeqCst) == LEFT
    }

    fn is_acting(&self) -> bool {
        self.stage.load(Ordering::SeqCst) == ACTING
    }

    /// The work has returned.
    pub(super) fn end(&self) {
        // What was left stays so.
        if !self.move_on(ENDED) {
            let order = Ordering::SeqCst;
            let _ = self.stage.compare_exchange(ACTING, ENDED, order, order);
        }
    }

    fn is_cancelled(&self) -> bool {
        let cancel = self.cancel.as_ref();
        cancel.is_some_and(CancellationToken::is_cancelled)
    }

    /// Comes back when the call is cancelled, or its time is up.
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

    /// Goes away from work that goes on: from then on it begins no effect. False where it has
    /// begun, and its end is to be waited for.
    pub(super) fn leave(&self) -> bool {
        self.move_on(LEFT)
    }

    fn move_on(&self, stage: u8) -> bool {
        let order = Ordering::SeqCst;
        let moved = self.stage.compare_exchange(WORKING, stage, order, order);
        moved.is_ok()
    }

    /// Why the work had to end, with the time that it really took.
    pub(super) fn reason(&self, tool: &str) -> Error {
        let elapsed = self.started.elapsed();
        match elapsed >= self.call_time && !self.is_cancelled() {
            true => Error::timed_out_after(tool, self.call_time, elapsed),
            false => Error::Cancelled,
        }
    }

    /// Leaves when it is dropped.
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

/// Where the future of a call is dropped, its threads stop at their next check.
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

        // What began is not interrupted halfway, though the time is up.
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
