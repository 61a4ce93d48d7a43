//! Reporting the outcome of a decision, and what remains to be resolved.

use airlock_desk::resolution::{PENDING_AGAIN, Resolved, was_tried};
use airlock_desk::store::Store;
use airlock_desk::target::tells_by_whom;
use airlock_host::Error;
use airlock_host::effects::Effects;
use airlock_host::pending::{Decision, StackedAction};

use super::Request;
use crate::commands::context::CommandContext;
use crate::commands::review;
use crate::commands::still_pending;
use crate::documents::calls::ResolutionReport;
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

pub(super) async fn report(
    resolved: &Resolved,
    context: &CommandContext,
    store: &Store,
    request: &Request,
    out: &mut Output,
) -> Result<Exit, Failure> {
    // The outcome must be reported even if the store can no longer be read.
    let pending = context.session.pending().await.ok();
    let pending = pending.as_deref();
    let error = match &resolved.outcome {
        Ok(_) => {
            out.show(&resolved.block());
            out.json(&ResolutionReport::new(resolved).with_pending(pending));
            if !out.is_json() {
                tell_of_others(resolved, pending, context, store, request);
            }
            return Ok(Exit::Done);
        }
        Err(error) => error,
    };
    if context.interrupt.happened() {
        return Err(match (error, resolved.resolution.decision) {
            (Error::Cancelled, Decision::Apply) => Failure::interrupted().with_hint(PENDING_AGAIN),
            _ => Failure::interrupted(),
        });
    }
    let failure = explain(error, resolved, store);
    // Nothing was tried, so there is no resolution to report.
    if !was_tried(error) {
        return Err(failure);
    }
    out.json(&ResolutionReport::new(resolved).with_pending(pending));
    if out.is_json() {
        return Ok(Exit::of(error));
    }
    let exit = failure.show_on_stderr(&resolved.block());
    tell_of_others(resolved, pending, context, store, request);
    Ok(exit)
}

pub(super) fn explain(error: &Error, resolved: &Resolved, store: &Store) -> Failure {
    let id = resolved.action.id.short();
    let failure = Failure::from(error);
    match error {
        Error::AlreadyResolved { .. } => failure.with_hint(tells_by_whom(store, id)),
        Error::Stale { .. } => {
            let refresh = store.command(&["refresh", id]);
            failure.with_hint(format!(
                "`{refresh}` calls its tool again, and puts the new preview in its place"
            ))
        }
        Error::Different { difference, .. } => {
            failure.with_hint(accepting(&difference.now, resolved, store))
        }
        Error::NotReviewed { now, .. } => failure.with_hint(accepting(now, resolved, store)),
        Error::ResolutionInProgress(_) => {
            let show = store.command(&["show", id]);
            failure.with_hint(format!("`{show}` shows who, and later how it ended"))
        }
        _ => match resolved.afterwards() {
            Some(told) => failure.and_hint(told),
            None => failure,
        },
    }
}

/// Returns how to apply the current effects of an action.
fn accepting(now: &Effects, resolved: &Resolved, store: &Store) -> String {
    let review = review::short(&now.digest());
    let mut words = vec!["apply", resolved.action.id.short(), "--review", &review];
    // The effects may depend on the reason.
    if !resolved.resolution.reason.is_empty() {
        words.extend(["--reason", &resolved.resolution.reason]);
    }
    format!("`{}` applies the new effects", store.command(&words))
}

/// Lists what remains, in addition to a failure.
pub(super) async fn tell_what_is_left(context: &CommandContext, store: &Store, request: &Request) {
    if let Ok(pending) = context.session.pending().await {
        let session = &request.target.session;
        let words = session.words_for(context.session.id(), store);
        still_pending::tell_of_all(pending.len(), &words, store);
    }
}

/// Lists other pending actions. The outcome of this one was already reported.
fn tell_of_others(
    resolved: &Resolved,
    pending: Option<&[StackedAction]>,
    context: &CommandContext,
    store: &Store,
    request: &Request,
) {
    let pending = pending.unwrap_or_default().iter();
    let others = pending.filter(|stacked| stacked.action.id != resolved.action.id);
    let words = request
        .target
        .session
        .words_for(context.session.id(), store);
    still_pending::tell_of_others(others.count(), &words, store);
}
