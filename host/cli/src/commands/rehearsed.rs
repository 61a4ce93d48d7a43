//! The effects of actions that the host saw before a decision.

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

/// Returns the stored effects of an action. If there are none yet, because the program that
/// previewed it was killed, rehearses it now if its workspace exists.
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
        // The action can still be shown.
        Err(error) => {
            tracing::warn!("its effects could not be read: {error}");
            Ok(None)
        }
    }
}

/// Returns the files of an open action that have changed since its preview. Empty if that can't be
/// determined.
pub async fn stale(store: &Store, record: &ActionRecord) -> Vec<StaleFile> {
    if record.state != ActionState::Pending {
        return Vec::new();
    }
    // No code runs for this, so it needs no engine.
    let Some(Ok(session)) = builder(store, record).map(SessionBuilder::open) else {
        return Vec::new();
    };
    match session.stale_files(&record.action.id).await {
        Ok(files) => files,
        // The action can still be shown, and applying it will report the problem.
        Err(error) => {
            tracing::warn!("whether it is stale could not be seen: {error}");
            Vec::new()
        }
    }
}

/// Returns the current effects of a stale action if its edits are the same on other lines. Returns
/// `None` if it can't be applied any more, or if that can't be determined.
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

/// Returns `None` if there is nothing to rehearse on, for example because the workspace is gone.
fn open(store: &Store, record: &ActionRecord) -> Option<Session> {
    let engine = load::engine(Limits::default()).ok()?;
    let session = builder(store, record)?.engine(&engine);
    CATALOG.bind_native(session).open().ok()
}

fn builder(store: &Store, record: &ActionRecord) -> Option<SessionBuilder> {
    let session = without_model()
        .id(record.session.clone())
        .store(store.shared());
    Some(session.workspace(record.action.workspace.as_deref()?))
}

/// Adds the effects that the host saw of all actions that a call pushed. Waits for rehearsals that
/// the call did not wait for.
pub async fn of_call(context: &CommandContext, mut outcome: CallOutcome) -> CallOutcome {
    let mut effects = Vec::new();
    for action in &outcome.pushed {
        let seeing = context.session.effects(&action.id);
        let seeing = context.progress.during(DOING.to_owned(), seeing);
        let seen = tokio::select! {
            seen = seeing => seen,
            () = context.interrupt.token().cancelled() => break,
        };
        // If the store can't be read, the decision reports that, because it needs the store too.
        if let Ok(Some(seen)) = seen {
            effects.push(ActionEffects::new(action.id.clone(), seen));
        }
    }
    outcome.effects = effects;
    outcome
}
