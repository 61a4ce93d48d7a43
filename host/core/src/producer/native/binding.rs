//! The binding of one native producer to one session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use airlock_model::content::{Content, ToolResult};
use airlock_model::error::{Error, HostError};
use airlock_model::event::Event;
use airlock_model::json::Json;
use airlock_model::pending::PendingAction;
use airlock_model::policy::{Phase, Policy};
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio::time::timeout;

use super::super::{
    CommitChanges, Draft, Executed, ProducerContext, Rehearsed, committed, told_by_tool,
};
use super::call::{ApplyCall, Granted, Observed, PreviewCall, RunningCall};
use super::layer::CallLayer;
use super::stop::Stop;
use super::{DecidedAction, NativeProducer, NativeTool, Preview};
use crate::instance::{Call, Conditions, LookedAt, unless_cancelled};
use crate::params::Params;
use crate::pushing::{
    Called, Details, PlaceOfOthers, PushContext, PushError, PushRequest, StagedActions,
};
use crate::world;

/// Stack size of the thread that a native tool works on, in bytes. Recursive code must bound its
/// depth. Unused pages cost nothing.
pub const STACK_BYTES: usize = 32 << 20;

/// The time to wait for a call that has to end. Its threads check for the end between steps, but
/// some steps can't be interrupted, for example if a file system hangs.
const END_GRACE: Duration = Duration::from_millis(500);

pub(crate) struct Binding {
    producer: NativeProducer,
    context: ProducerContext,
    /// Held by the running call until its threads have ended.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// The stop state of the running call, while its threads work.
    working: Mutex<Weak<Stop>>,
    /// Held by the running apply until its changes are committed.
    applying: tokio::sync::Mutex<()>,
}

impl Binding {
    pub fn new(producer: &NativeProducer, context: ProducerContext) -> Self {
        Self {
            producer: producer.clone(),
            context,
            turn: Arc::default(),
            working: Mutex::default(),
            applying: tokio::sync::Mutex::default(),
        }
    }

    pub fn producer(&self) -> &NativeProducer {
        &self.producer
    }

    pub fn policy(&self) -> &Policy {
        &self.context.policy
    }

    pub async fn execute(
        &self,
        call: &Call<'_>,
        params: &Params<'_>,
        place: Option<&PlaceOfOthers>,
    ) -> Result<Executed, Error> {
        let owned = params.value().clone();
        let work = move |tool: &dyn NativeTool, call| tool.preview(&owned, &call);
        let draft = CallLayer::draft(&self.context.limits);
        let _closing = draft.close_on_drop();
        let granting = previewing(draft.clone());
        let (preview, stop) = self.in_phase(Phase::Preview, granting, call, work).await?;
        let Preview {
            result,
            action,
            in_full,
        } = preview;
        check_size(&result.content, result.details.as_ref(), call)?;
        if let Some(in_full) = &in_full {
            check_size(in_full, None, call)?;
        }
        let mut pushed = Vec::new();
        if let Some(action) = action {
            let action = PushRequest {
                label: action.label,
                source_tool_name: action
                    .source_tool_name
                    .or_else(|| Some(call.tool.to_owned())),
                details: action.details.map_or(Details::None, Details::Json),
                has_reject: action.has_reject,
                state: Some(action.state),
            };
            let has_tool = |name: &str| self.producer.tools().any(|tool| tool.name == name);
            let pushing = PushContext {
                source: &self.producer.inner.source,
                has_tool: &has_tool,
                policy: &self.context.policy,
                limits: call.limits,
                time: SystemTime::now(),
            };
            let session = &self.context.session;
            let push = async {
                let mut staged = StagedActions::default();
                let action = pushing.stage(session, &mut staged, action).await?;
                let event = Event::Staged { action };
                self.observed().emit(call.number, call.tool, &event);
                let called = Called {
                    tool: call.tool,
                    params: params.text(),
                    content: in_full.as_ref().unwrap_or(&result.content),
                };
                let source = pushing.source;
                let committing = staged.commit(session, source, called, call.limits, place);
                committing.await
            };
            pushed = tokio::select! {
                biased;
                pushed = push => pushed?,
                () = stop.due() => return Err(stop.reason(call.tool)),
            };
        }
        let mut executed = Executed::of(result, pushed);
        executed.drafted = draft.take().map(|changes| Draft { changes, run: None });
        Ok(executed)
    }

    /// Applies an action and commits its changes to the workspace.
    pub async fn apply(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &world::DecidedAction<'_>,
        conditions: Conditions,
        commit: &dyn CommitChanges,
    ) -> Result<ToolResult, Error> {
        let _applying = unless_cancelled(call.cancel, self.applying.lock()).await?;
        let decided = decided(action, resolution);
        let work = move |tool: &dyn NativeTool, call| tool.apply(&decided, &call);
        let changes = CallLayer::of_apply(&conditions, &self.context.limits);
        let _closing = changes.close_on_drop();
        let layer = changes.clone();
        let moved = conditions.files_moved;
        let granting = move |running, workspace| ApplyCall::new(running, workspace, layer, moved);
        let applied = self.in_phase(Phase::Apply, granting, call, work).await;
        let applied = applied.and_then(|(result, _)| {
            check_size(&result.content, result.details.as_ref(), call)?;
            Ok(result)
        });
        committed(changes.take(), applied, commit).await
    }

    /// Returns whether an apply can run on a layer that is dropped.
    pub fn can_be_rehearsed(&self) -> bool {
        self.producer.inner.tool.can_be_rehearsed()
    }

    /// Applies an action whose files may have changed since its preview, on a layer that stays
    /// open.
    pub async fn rehearse(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &world::DecidedAction<'_>,
        conditions: Conditions,
    ) -> Result<Rehearsed, Error> {
        let decided = decided(action, resolution);
        let work = move |tool: &dyn NativeTool, call| tool.apply(&decided, &call);
        let changes = CallLayer::of_apply(&conditions, &self.context.limits);
        let _closing = changes.close_on_drop();
        let layer = changes.clone();
        let granting = move |running, workspace| ApplyCall::new(running, workspace, layer, true);
        let (result, _) = self.in_phase(Phase::Apply, granting, call, work).await?;
        check_size(&result.content, result.details.as_ref(), call)?;
        Ok(Rehearsed {
            result,
            changes: changes.take(),
            looked_at: LookedAt::default(),
        })
    }

    pub async fn reject(
        &self,
        call: &Call<'_>,
        action: &PendingAction,
        resolution: &world::DecidedAction<'_>,
    ) -> Result<Option<ToolResult>, Error> {
        let decided = decided(action, resolution);
        let work = move |tool: &dyn NativeTool, call| tool.reject(&decided, &call);
        let draft = CallLayer::draft(&self.context.limits);
        let _closing = draft.close_on_drop();
        let granting = previewing(draft);
        let (result, _) = self.in_phase(Phase::Preview, granting, call, work).await?;
        if let Some(result) = &result {
            check_size(&result.content, result.details.as_ref(), call)?;
        }
        Ok(result)
    }

    /// Returns the workspace, if the policy grants the tool's access to it in this phase.
    fn workspace(&self, phase: Phase) -> Granted {
        let policy = &self.context.policy;
        match &self.context.workspace {
            None => Err("needs a workspace, and this session has none".to_owned()),
            Some(_) if !policy.allows_workspace_read() => {
                Err("needs the workspace, and is not granted to read it".to_owned())
            }
            Some(_) if phase == Phase::Apply && !policy.allows_workspace_change(phase) => {
                Err("may read the workspace, but is not granted to change it".to_owned())
            }
            Some(workspace) => Ok(Arc::clone(workspace)),
        }
    }

    /// Calls one of the tool's functions with the grants of the phase.
    async fn in_phase<C: 'static, T: Send + 'static>(
        &self,
        phase: Phase,
        granting: impl FnOnce(RunningCall, Granted) -> C + Send + 'static,
        call: &Call<'_>,
        work: impl FnOnce(&dyn NativeTool, C) -> Result<T, Error> + Send + 'static,
    ) -> Result<(T, Arc<Stop>), Error> {
        let (producer, workspace) = (self.producer.clone(), self.workspace(phase));
        let work = move |running| work(&*producer.inner.tool, granting(running, workspace));
        self.run(call, work).await
    }

    /// Runs work on a thread that may block. The work ends by itself when its time is up, it is
    /// cancelled, or this future is dropped. If it doesn't end in time, it is abandoned: it may go
    /// on for a while, but nothing that it writes is committed.
    async fn run<T: Send + 'static>(
        &self,
        call: &Call<'_>,
        work: impl FnOnce(RunningCall) -> Result<T, Error> + Send + 'static,
    ) -> Result<(T, Arc<Stop>), Error> {
        let turn = unless_cancelled(call.cancel, self.turn(call.tool)).await??;
        let running = RunningCall::new(call, &self.context.limits, self.observed());
        running.check()?;
        let stop = Arc::clone(running.stop());
        *self.working() = Arc::downgrade(&stop);
        let _leaving = stop.leave_on_drop();
        let (done, mut answer) = oneshot::channel();
        let ending = Arc::clone(&stop);
        let thread = move || {
            let _turn = turn;
            let answer = work(running);
            ending.end();
            // There is no receiver if the call was abandoned.
            let _ = done.send(answer);
        };
        std::thread::Builder::new()
            .name(format!("airlock-{}", self.producer.name()))
            .stack_size(STACK_BYTES)
            .spawn(thread)
            .map_err(HostError::NativeThread)?;
        let answered = tokio::select! {
            biased;
            answered = &mut answer => answered,
            () = stop.due() => match timeout(END_GRACE, &mut answer).await {
                Ok(answered) => answered,
                Err(_) if stop.leave() => return Err(stop.reason(call.tool)),
                Err(_) => answer.await,
            },
        };
        match answered {
            // The threads noticed at different times; report the time at which the call ends.
            Ok(Err(Error::Cancelled | Error::Limit { .. })) if stop.is_over() => {
                Err(stop.reason(call.tool))
            }
            Ok(Ok(done)) => Ok((done, stop)),
            Ok(Err(error)) => Err(told_by_tool(error)),
            Err(error) => Err(HostError::NativePanic(error).into()),
        }
    }

    /// Waits until no other call works. Fails instead of waiting for a call that was abandoned or
    /// whose future was dropped.
    async fn turn(&self, tool: &str) -> Result<OwnedMutexGuard<()>, Error> {
        let turn = Arc::clone(&self.turn).lock_owned();
        tokio::pin!(turn);
        loop {
            if let Ok(turn) = timeout(END_GRACE, &mut turn).await {
                return Ok(turn);
            }
            let working = self.working().upgrade();
            if working.is_some_and(|stop| stop.was_left()) {
                return Err(Error::Busy {
                    tool: tool.to_owned(),
                });
            }
        }
    }

    fn working(&self) -> MutexGuard<'_, Weak<Stop>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observed(&self) -> Observed {
        Observed {
            session: Arc::clone(&self.context.session),
            producer: Arc::clone(&self.producer.inner.source.name),
        }
    }
}

fn previewing(draft: CallLayer) -> impl FnOnce(RunningCall, Granted) -> PreviewCall {
    move |running, workspace| PreviewCall::new(running, workspace, draft)
}

fn decided(action: &PendingAction, resolution: &world::DecidedAction<'_>) -> DecidedAction {
    DecidedAction {
        id: action.id.clone(),
        label: action.label.clone(),
        source_tool_name: action.source_tool_name.clone(),
        state: resolution.state.unwrap_or_default().to_vec(),
        reason: resolution.reason.to_owned(),
        // JSON that the host wrote from a caller's JSON.
        extra: resolution.extra.and_then(|extra| Json::checked(extra).ok()),
        attempt: resolution.attempt,
    }
}

fn check_size(content: &[Content], details: Option<&Json>, call: &Call<'_>) -> Result<(), Error> {
    let content = content.iter().map(Content::byte_length);
    let bytes = content.sum::<usize>() + details.map_or(0, |details| details.as_str().len());
    if bytes > call.limits.result_bytes {
        Err(Error::result_too_large(call.tool, bytes, call.limits))
    } else {
        Ok(())
    }
}

/// Reports to the caller that nothing was pushed, and why.
impl From<PushError> for Error {
    fn from(error: PushError) -> Self {
        let (PushError::StoreUnavailable(message)
        | PushError::LimitExceeded(message)
        | PushError::Invalid(message)) = error;
        Error::Tool { message }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::sleep;

    use super::*;
    use crate::pushing::SessionContext;
    use airlock_model::limits::{LimitKind, Limits};
    use airlock_model::tool::{ToolDefinition, ToolTraits};

    const CALL_TIME: Duration = Duration::from_millis(50);

    /// A tool that does nothing.
    struct Idle;

    impl NativeTool for Idle {
        fn definition(&self) -> ToolDefinition {
            ToolDefinition {
                name: "idle".to_owned(),
                label: "Idle".to_owned(),
                description: "Does nothing.".to_owned(),
                parameters: Json::checked(r#"{"type": "object"}"#).unwrap(),
                output: None,
                traits: ToolTraits::default(),
            }
        }

        fn state_version(&self) -> u32 {
            1
        }

        fn preview(&self, _: &serde_json::Value, _: &PreviewCall) -> Result<Preview, Error> {
            unreachable!("the tests give the work")
        }

        fn apply(&self, _: &DecidedAction, _: &ApplyCall) -> Result<ToolResult, Error> {
            unreachable!("the tests give the work")
        }
    }

    fn binding(limits: &Limits) -> Binding {
        let context = ProducerContext {
            policy: Policy::default(),
            workspace: None,
            limits: Arc::new(limits.clone()),
            session: Arc::new(SessionContext {
                id: "one".into(),
                store: None,
                workspace: None,
                workspace_identity: None,
                expires_after: None,
                lost: Default::default(),
                reserved: Default::default(),
                tenant: Default::default(),
                observer: None,
                listeners: Default::default(),
            }),
        };
        Binding::new(&NativeProducer::new(Idle).unwrap(), context)
    }

    #[tokio::test]
    async fn work_that_can_not_be_interrupted_is_left_and_begins_no_effect() {
        let limits = Limits::default().with_call_time(CALL_TIME);
        let binding = binding(&limits);
        let call = Call {
            number: 1,
            tool: "t",
            limits: &limits,
            spent: Duration::ZERO,
            cancel: None,
        };
        let (go_on, hangs) = mpsc::channel::<()>();
        let (tells, told) = mpsc::channel();
        let hanging = move |running: RunningCall| {
            let _ = hangs.recv();
            let _ = tells.send(running.begin_effects().is_err());
            Ok(())
        };
        let error = binding.run(&call, hanging).await.unwrap_err();
        assert!(
            matches!(
                error,
                Error::Limit {
                    kind: LimitKind::CallTime,
                    ..
                }
            ),
            "{error}"
        );
        // Other calls get an error instead of waiting.
        let busy = binding
            .run(&call, |_| Ok(()))
            .await
            .unwrap_err()
            .to_string();
        assert!(busy.contains("its work has not ended yet"), "{busy}");
        go_on.send(()).unwrap();
        assert!(told.recv().unwrap(), "no effect may begin");
        binding.run(&call, |_| Ok(())).await.unwrap();
    }

    #[tokio::test]
    async fn work_whose_call_was_dropped_keeps_nobody_waiting() {
        let limits = Limits::default();
        let binding = binding(&limits);
        let call = Call {
            number: 1,
            tool: "t",
            limits: &limits,
            spent: Duration::ZERO,
            cancel: None,
        };
        let (go_on, hangs) = mpsc::channel::<()>();
        let (begins, begun) = tokio::sync::oneshot::channel();
        let hanging = move |_: RunningCall| {
            let _ = begins.send(());
            let _ = hangs.recv();
            Ok(())
        };
        {
            let dropped = binding.run(&call, hanging);
            tokio::pin!(dropped);
            tokio::select! {
                _ = &mut dropped => unreachable!("it hangs"),
                begun = begun => begun.unwrap(),
            }
        }
        let next = binding.run(&call, |_| Ok(()));
        let busy = timeout(Duration::from_secs(60), next)
            .await
            .expect("it is not waited for");
        let busy = busy.unwrap_err().to_string();
        assert!(busy.contains("its work has not ended yet"), "{busy}");
        go_on.send(()).unwrap();
        binding.run(&call, |_| Ok(())).await.unwrap();
    }

    #[tokio::test]
    async fn effects_that_began_are_waited_for_however_long_they_take() {
        let limits = Limits::default().with_call_time(CALL_TIME);
        let call = Call {
            number: 1,
            tool: "t",
            limits: &limits,
            spent: Duration::ZERO,
            cancel: None,
        };
        let changing = |running: RunningCall| {
            running.begin_effects()?;
            sleep(CALL_TIME + 2 * END_GRACE);
            Ok::<_, Error>("changed")
        };
        let (changed, _) = binding(&limits).run(&call, changing).await.unwrap();
        assert_eq!(changed, "changed");
    }
}
