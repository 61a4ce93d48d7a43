//! `airlock resolve`: a decision about what was previewed before, perhaps by another process.

mod target;

use airlock_host::{Decision, Error, Resolution, Session};
use serde_json::{Map, Value};

use crate::args::ResolveArgs;
use crate::bundled;
use crate::content;
use crate::decider;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::interrupt::Interrupt;
use crate::load;
use crate::output::{Output, on_stderr};
use crate::progress::Progress;
use crate::resolution::Resolved;
use crate::session;
use crate::stage::Stage;
use crate::store::{self, Store, WhenMissing};
use target::Target;

const PENDING_AGAIN: &str = "the action is pending again";

pub async fn resolve(args: &ResolveArgs, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let resolution = resolution(args)?;
    let interrupt = Interrupt::watch();
    let store = store::open(&args.store, WhenMissing::Refuse).await?;
    let target = Target::find(args, &store).await?;
    let progress = Progress::new(verbose);
    let stage = Stage {
        session: open(args, &store, &target, &progress)?,
        interrupt,
        progress,
        decider: decider::name(),
    };
    let resolved = stage.resolve(&target.action, resolution).await;
    report(&resolved, &stage, &store, args, out).await
}

fn resolution(args: &ResolveArgs) -> Result<Resolution, Failure> {
    let resolution = Resolution::new(args.action.into(), args.reason.as_str());
    Ok(match &args.extra {
        Some(word) => resolution.with_extra(extra(word)?),
        None => resolution,
    })
}

fn extra(word: &str) -> Result<Map<String, Value>, Failure> {
    match input::json("extras", word)? {
        Value::Object(extra) => Ok(extra),
        _ => Err(Failure::usage("what `--extra` holds is not an object")
            .with_hint("for example: --extra '{\"ticket\": 17}'")),
    }
}

/// The action's session, in its workspace, and with its plugin from the store.
fn open(
    args: &ResolveArgs,
    store: &Store,
    target: &Target,
    progress: &Progress,
) -> Result<Session, Failure> {
    let progress = progress.clone();
    let engine = load::engine(args.call.limits())?;
    let mut session = Session::builder()
        .id(target.session.clone())
        .store(store.pending())
        .engine(&engine)
        .observer(move |_, event| progress.observe(event));
    session = bundled::bind_native(session);
    if let Some(workspace) = target.workspace_to_open(args.action.into()) {
        session = session.workspace(&*workspace);
    }
    Ok(session.open()?)
}

async fn report(
    resolved: &Resolved,
    stage: &Stage,
    store: &Store,
    args: &ResolveArgs,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let error = match &resolved.outcome {
        Ok(outcome) => {
            content::show(out, &outcome.content);
            out.json(&resolved.report());
            if !out.is_json() {
                tell_what_is_left(stage, store, args).await;
            }
            return Ok(Exit::Done);
        }
        Err(error) => error,
    };
    if stage.interrupt.happened() {
        return Err(match (error, resolved.decision) {
            (Error::Cancelled, Decision::Apply) => Failure::interrupted().with_hint(PENDING_AGAIN),
            _ => Failure::interrupted(),
        });
    }
    let failure = explain(error, resolved, store);
    // Before anybody tried, there is no resolution to report.
    if out.is_json() && was_tried(error) {
        out.json(&resolved.report());
        return Ok(Exit::of(error));
    }
    Err(failure)
}

/// Whether the action was this process's to resolve.
fn was_tried(error: &Error) -> bool {
    !matches!(
        error,
        Error::NothingPending
            | Error::AlreadyResolved { .. }
            | Error::ResolutionInProgress(_)
            | Error::UnknownAction(_)
            | Error::Store(_)
    )
}

fn explain(error: &Error, resolved: &Resolved, store: &Store) -> Failure {
    let id = resolved.action.id.as_str();
    let failure = Failure::from(error);
    match error {
        Error::AlreadyResolved { .. } => failure.with_hint(tells_by_whom(store, id)),
        Error::ResolutionInProgress(_) => {
            let show = store.command(&["show", id]);
            failure.with_hint(format!("`{show}` tells who, and later how it ended"))
        }
        Error::NotRecorded { .. } => {
            failure.and_hint("the action will be listed as interrupted, though it was carried out")
        }
        _ if was_tried(error) && resolved.decision == Decision::Apply => {
            failure.and_hint(PENDING_AGAIN)
        }
        _ => failure,
    }
}

/// Where to read how an action was resolved.
fn tells_by_whom(store: &Store, id: &str) -> String {
    format!("`{}` tells by whom, and why", store.command(&["show", id]))
}

/// There may be more to decide. Who has just succeeded need not hear that this could not be read.
async fn tell_what_is_left(stage: &Stage, store: &Store, args: &ResolveArgs) {
    let left = match stage.session.pending().await {
        Ok(left) if !left.is_empty() => left.len(),
        _ => return,
    };
    let words = session::words_for(&args.session, stage.session.id());
    let mut command = vec!["pending"];
    command.extend(words.iter().map(String::as_str));
    let command = store.command(&command);
    let are = if left == 1 {
        "action is"
    } else {
        "actions are"
    };
    on_stderr(format_args!(
        "\n{left} more {are} pending in this session: `{command}`"
    ));
}
