//! `airlock resolve`: a decision about what was previewed before, perhaps by another process.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use airlock_desk::decider;
use airlock_desk::resolution::{PENDING_AGAIN, Resolved, was_tried};
use airlock_desk::store::{self, Store, WhenMissing};
use airlock_desk::target::{self, Target, tells_by_whom};
use airlock_host::pending::{Decision, StackedAction};
use airlock_host::{Error, Limits, Resolution, Session};

use crate::bundled::CATALOG;
use crate::commands::context::CommandContext;
use crate::commands::still_pending;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Output, on_stderr};
use crate::terminal::progress::Progress;
use crate::terminal::prompt;

/// The arguments of the command.
pub struct Request {
    /// What is decided, and about what.
    pub target: target::Request,
    pub reason: String,
    /// What goes to the tool with it, as `input` reads it.
    pub extra: Option<String>,
    pub limits: Limits,
    pub store: Option<OsString>,
}

pub async fn resolve(request: &Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let resolution = resolution(request)?;
    let interrupt = Interrupt::watch();
    let store = store::open(request.store.as_deref(), WhenMissing::Refuse).await?;
    let target = Target::find(&request.target, &store).await?;
    let resolution = match is_same_workspace(&request.target, &target, &interrupt, out).await? {
        true => resolution.in_same_workspace(),
        false => resolution,
    };
    let progress = Progress::new(verbose);
    let context = CommandContext {
        session: open(request, &store, &target, &progress)?,
        interrupt,
        progress,
        user: decider::user_at_machine(),
    };
    let resolved = context
        .resolve(&target.action, resolution, context.user.clone().into())
        .await;
    report(&resolved, &context, &store, request, out).await
}

fn resolution(request: &Request) -> Result<Resolution, Failure> {
    let resolution = Resolution::new(request.target.decision, request.reason.as_str());
    Ok(match &request.extra {
        Some(word) => resolution.with_extra(input::extra(word)?),
        None => resolution,
    })
}

/// Whether somebody says so. Who sits at a terminal is asked, where it seems to be another; anybody
/// else has to have said it.
async fn is_same_workspace(
    request: &target::Request,
    target: &Target,
    interrupt: &Interrupt,
    out: &Output,
) -> Result<bool, Failure> {
    let Some(error) = target
        .difference(request)
        .filter(|_| !request.same_workspace)
    else {
        return Ok(request.same_workspace);
    };
    let terminals = [io::stdin().is_terminal(), io::stderr().is_terminal()];
    if out.is_json() || terminals.contains(&false) {
        return Err(Failure::from(error));
    }
    on_stderr(format_args!("{error}."));
    let question = "Apply it here all the same? [y/N] ";
    match prompt::confirm(question, interrupt).await {
        true => Ok(true),
        false => Err(Failure::from(error)),
    }
}

/// The action's session, in its workspace, and with its plugin from the store.
fn open(
    request: &Request,
    store: &Store,
    target: &Target,
    progress: &Progress,
) -> Result<Session, Failure> {
    let progress = progress.clone();
    let engine = load::engine(request.limits.clone())?;
    let mut session = Session::builder()
        .id(target.session.clone())
        .store(store.pending())
        .engine(&engine)
        .observer(move |_, event| progress.observe(event));
    session = CATALOG.bind_native(session);
    if let Some(workspace) = target.workspace_to_open(&request.target) {
        session = session.workspace(&*workspace);
    }
    Ok(session.open()?)
}

async fn report(
    resolved: &Resolved,
    context: &CommandContext,
    store: &Store,
    request: &Request,
    out: &mut Output,
) -> Result<Exit, Failure> {
    // What was done must be told also where the store can't be read any more.
    let pending = context.session.pending().await.ok();
    let pending = pending.as_deref();
    let error = match &resolved.outcome {
        Ok(_) => {
            out.show(&resolved.block());
            out.json(&resolved.report().with_pending(pending));
            if !out.is_json() {
                tell_what_is_left(resolved, pending, context, store, request);
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
    // Before anybody tried, there is no resolution to report.
    if !was_tried(error) {
        return Err(failure);
    }
    out.json(&resolved.report().with_pending(pending));
    if out.is_json() {
        return Ok(Exit::of(error));
    }
    let exit = failure.show_on_stderr(&resolved.block());
    tell_what_is_left(resolved, pending, context, store, request);
    Ok(exit)
}

fn explain(error: &Error, resolved: &Resolved, store: &Store) -> Failure {
    let id = resolved.action.id.as_str();
    let failure = Failure::from(error);
    match error {
        Error::AlreadyResolved { .. } => failure.with_hint(tells_by_whom(store, id)),
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

/// There may be more to decide. What became of the action itself is told already.
fn tell_what_is_left(
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
