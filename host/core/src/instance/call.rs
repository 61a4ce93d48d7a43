//! A call into a guest, from setting its deadline to interpreting its end.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use airlock_model::content::{Content, ToolResult};
use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::limits::Limits;
use airlock_workspace::View;
use tokio_util::sync::CancellationToken;
use wasmtime::Store;

use super::state::{Export, State};
use super::{Instance, LookedAt, failure};
use crate::pushing::StagedActions;
use crate::world::{DecidedAction, Definition, Guest, Returned};

/// The context of a call, in addition to its arguments.
pub(crate) struct Call<'a> {
    /// Its number in the session, from 1; 0 outside a session.
    pub number: u64,
    /// The tool that is called, or that pushed the action being resolved.
    pub tool: &'a str,
    pub limits: &'a Limits,
    pub cancel: Option<&'a CancellationToken>,
    /// Part of the call's time that was spent before.
    pub spent: Duration,
}

/// The end of a future with a deadline.
pub(crate) enum Ended<T> {
    Returned(T),
    TimedOut,
    Cancelled,
}

/// Runs a guest until it returns, its time is up, or the caller cancels and the grace period has
/// passed.
///
/// In the last two cases the caller must drop the future in the middle, whether the guest is
/// computing or in a host call. The future is borrowed, because moving it would copy kilobytes.
pub(crate) async fn within<T>(
    limits: &Limits,
    spent: Duration,
    cancel: Option<&CancellationToken>,
    mut running: Pin<&mut impl Future<Output = T>>,
) -> Ended<T> {
    // Most calls return at the first poll: they take less than an epoch tick, or make host calls
    // that don't wait. They need no timers, and setting up two costs as much as all the work of a
    // small guest.
    let first = poll_fn(|context| Poll::Ready(running.as_mut().poll(context))).await;
    if let Poll::Ready(returned) = first {
        return Ended::Returned(returned);
    }
    let cancelled = async {
        match cancel {
            Some(cancel) => cancel.cancelled().await,
            None => pending().await,
        }
        tokio::time::sleep(limits.cancel_grace).await;
    };
    tokio::select! {
        // A returned result wins over a cancellation or timeout.
        biased;
        returned = running => Ended::Returned(returned),
        () = cancelled => Ended::Cancelled,
        () = tokio::time::sleep(limits.call_time.saturating_sub(spent)) => Ended::TimedOut,
    }
}

/// Waits, unless the caller cancels first.
pub(crate) async fn unless_cancelled<T>(
    cancel: Option<&CancellationToken>,
    waiting: impl Future<Output = T>,
) -> Result<T, Error> {
    let Some(cancel) = cancel else {
        return Ok(waiting.await);
    };
    tokio::select! {
        biased;
        done = waiting => Ok(done),
        () = cancel.cancelled() => Err(Error::Cancelled),
    }
}

/// An instance and the result of a call into it. The instance is `None` if the call was not
/// completed.
pub(crate) type Done<T> = (Option<Box<Instance>>, Result<T, Error>);

impl Instance {
    pub async fn definitions(self: Box<Self>, limits: &Limits) -> Result<Vec<Definition>, Error> {
        let call = Call {
            number: 0,
            tool: "(definitions)",
            limits,
            cancel: None,
            spent: Duration::ZERO,
        };
        let guest =
            async |exports: &Guest, store: &mut Store<State>| exports.definitions(store).await;
        self.run(&call, Export::Definitions, guest).await.1
    }

    pub async fn execute(
        self: Box<Self>,
        call: &Call<'_>,
        params: &str,
    ) -> Done<(Result<ToolResult, Error>, StagedActions)> {
        let mut call_id = itoa::Buffer::new();
        let call_id = call_id.format(call.number);
        let guest = async |exports: &Guest, store: &mut Store<State>| {
            exports.execute(store, call_id, call.tool, params).await
        };
        let (mut instance, returned) = self.run(call, Export::Execute, guest).await;
        let staged = match &mut instance {
            Some(instance) => instance.store.data_mut().take_staged(),
            None => StagedActions::default(),
        };
        let convert = |returned| convert(returned, call);
        let executed = returned.map(|returned| (returned.and_then(convert), staged));
        (instance, executed)
    }

    pub async fn apply(
        self: Box<Self>,
        call: &Call<'_>,
        decided: &DecidedAction<'_>,
    ) -> Done<ToolResult> {
        let guest =
            async |exports: &Guest, store: &mut Store<State>| exports.apply(store, decided).await;
        let (instance, returned) = self.run(call, Export::Apply, guest).await;
        let result = returned.and_then(|returned| convert(returned?, call));
        (instance, result)
    }

    /// Applies an action without keeping its changes.
    pub async fn rehearse(
        self: Box<Self>,
        call: &Call<'_>,
        decided: &DecidedAction<'_>,
    ) -> Done<ToolResult> {
        let guest =
            async |exports: &Guest, store: &mut Store<State>| exports.apply(store, decided).await;
        let (instance, returned) = self.run(call, Export::Rehearse, guest).await;
        let result = returned.and_then(|returned| convert(returned?, call));
        (instance, result)
    }

    /// Returns which of its [conditions](super::Conditions) the guest has read.
    pub fn looked_at(&self) -> LookedAt {
        self.store.data().looked_at.clone()
    }

    /// Returns the workspace changes of an apply that were neither committed nor abandoned.
    pub fn changes(&self) -> Option<View> {
        self.store.data().changes()
    }

    pub async fn reject(
        self: Box<Self>,
        call: &Call<'_>,
        decided: &DecidedAction<'_>,
    ) -> Done<Option<ToolResult>> {
        let guest =
            async |exports: &Guest, store: &mut Store<State>| exports.reject(store, decided).await;
        let (instance, returned) = self.run(call, Export::Reject, guest).await;
        let result = returned.and_then(|returned| {
            let result = returned?;
            result.map(|result| convert(result, call)).transpose()
        });
        (instance, result)
    }

    /// Opens or closes the gate, sets the deadline, calls into the guest and closes the gate again.
    async fn run<T>(
        mut self: Box<Self>,
        call: &Call<'_>,
        export: Export,
        guest: impl AsyncFnOnce(&Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> Done<T> {
        self.store.set_epoch_deadline(1);
        let state = self.store.data_mut();
        if let Err(error) = state.begin_call(call, export) {
            let error = failure::classify(error, self.store.data(), call.tool);
            return (None, Err(error));
        }
        let ended = {
            let running = pin!(guest(&self.exports, &mut self.store));
            within(call.limits, call.spent, call.cancel, running).await
        };
        self.store.data_mut().end_call();
        match ended {
            Ended::Returned(Ok(returned)) => (Some(self), Ok(returned)),
            Ended::Returned(Err(error)) => {
                let error = failure::classify(error, self.store.data(), call.tool);
                (None, Err(error))
            }
            Ended::Cancelled => (None, Err(Error::Cancelled)),
            Ended::TimedOut => (None, Err(Error::timed_out(call.tool, call.limits))),
        }
    }
}

fn convert(returned: Returned, call: &Call<'_>) -> Result<ToolResult, Error> {
    let Call { tool, limits, .. } = call;
    let Returned { content, details } = returned;
    let bytes = content.iter().map(Content::byte_length).sum::<usize>()
        + details.as_ref().map_or(0, String::len);
    if bytes > limits.result_bytes {
        return Err(Error::result_too_large(tool, bytes, limits));
    }
    let details = match details {
        Some(details) => {
            let checked = Json::checked(&details).map_err(|error| Error::Failed {
                message: format!("tool `{tool}` returned details that are not JSON: {error}"),
            })?;
            Some(checked)
        }
        None => None,
    };
    Ok(ToolResult {
        content,
        // `null` and no details mean the same to readers.
        details: details.filter(|details| !details.is_null()),
    })
}
