//! What the host saw actions do before anybody decided.

use airlock_desk::session::without_model;
use airlock_desk::store::Store;
use airlock_host::content::CallOutcome;
use airlock_host::effects::{ActionEffects, Effects};
use airlock_host::pending::ActionState;
use airlock_host::reads::StaleFile;
use airlock_host::store::ActionRecord;
use airlock_host::{Limits, Session, SessionBuilder};

use crate::bundled::CATALOG;
use crate::commands::context::CommandContext;
use crate::failure::Failure;
use crate::load;
use crate::terminal::progress::Progress;

const DOING: &str = "Rehearsing…";

/// What is kept of an action's effects. Where nobody has seen them yet, since whoever previewed it
/// was stopped, it is rehearsed now, if its workspace is here.
///
/// # Errors
/// If the store can't be read.
pub async fn effects(
    store: &Store,
    record: &ActionRecord,
    verbose: u8,
) -> Result<Option<Effects>, Failure> {
    if let Some(effects) = store.effects(record).await? {
        return Ok(Some(effects));
    }
    let is_open = matches!(
        record.state,
        ActionState::Pending | ActionState::Interrupted
    );
    if !is_open || !record.action.durable {
        return Ok(None);
    }
    let Some(session) = open(store, record) else {
        return Ok(None);
    };
    let progress = Progress::new(verbose);
    let seen = progress.during(DOING.to_owned(), session.effects(&record.action.id));
    match seen.await {
        Ok(effects) => Ok(effects),
        // It can be shown all the same.
        Err(error) => {
            tracing::warn!("its effects could not be read: {error}");
            Ok(None)
        }
    }
}

/// The files that an open action is about and that have changed since it was previewed. Empty where
/// nobody can tell.
pub async fn stale(store: &Store, record: &ActionRecord) -> Vec<StaleFile> {
    if record.state != ActionState::Pending {
        return Vec::new();
    }
    // Nothing is run for it, so that it needs no engine.
    let Some(Ok(session)) = builder(store, record).map(SessionBuilder::open) else {
        return Vec::new();
    };
    match session.stale_files(&record.action.id).await {
        Ok(files) => files,
        // It can be shown all the same, and applying it will tell.
        Err(error) => {
            tracing::warn!("whether it is stale could not be seen: {error}");
            Vec::new()
        }
    }
}

/// The effects of a stale action now, if its edits are the same on other lines. None if it can't be
/// applied any more, or that can't be found out.
pub async fn moved(
    store: &Store,
    record: &ActionRecord,
    stale: &[StaleFile],
    verbose: u8,
) -> Option<Effects> {
    if stale.is_empty() {
        return None;
    }
    let session = open(store, record)?;
    let progress = Progress::new(verbose);
    let seeing = session.moved_effects(&record.action.id);
    match progress.during(DOING.to_owned(), seeing).await {
        Ok(now) => now,
        Err(error) => {
            tracing::warn!("could not rehearse the action again: {error}");
            None
        }
    }
}

/// None where that can't be, say since its workspace is gone: then there is nothing to rehearse on.
fn open(store: &Store, record: &ActionRecord) -> Option<Session> {
    let engine = load::engine(Limits::default()).ok()?;
    let session = builder(store, record)?.engine(&engine);
    CATALOG.bind_native(session).open().ok()
}

fn builder(store: &Store, record: &ActionRecord) -> Option<SessionBuilder> {
    let session = without_model()
        .id(record.session.clone())
        .store(store.pending());
    Some(session.workspace(record.action.workspace.as_deref()?))
}

/// With what the host saw of all that a call has pushed: waits for what takes longer than the call
/// waited.
pub async fn of_call(context: &CommandContext, mut outcome: CallOutcome) -> CallOutcome {
    let mut effects = Vec::new();
    for action in &outcome.pushed {
        let seeing = context.session.effects(&action.id);
        let seeing = context.progress.during(DOING.to_owned(), seeing);
        let seen = tokio::select! {
            seen = seeing => seen,
            () = context.interrupt.token().cancelled() => break,
        };
        // A store that can't be read is told of with the decision, which needs it too.
        if let Ok(Some(seen)) = seen {
            effects.push(ActionEffects::new(action.id.clone(), seen));
        }
    }
    outcome.effects = effects;
    outcome
}
