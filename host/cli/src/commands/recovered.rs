//! The outcome of applies whose program was killed, as the commands report it.

use airlock_desk::recovering;
use airlock_desk::store::Store;
use airlock_host::pending::SessionId;
use airlock_host::recovery::RecoveredAction;
use airlock_host::store::{ActionRecord, Scope};
use airlock_render::{Line, Role};

use crate::failure::Failure;
use crate::terminal::output::on_stderr;

/// Determines and reports the outcome of listed applies that were cut off. Returns whether that
/// changed the list.
///
/// # Errors
/// If the store can't be used.
pub async fn recover(store: &Store, open: &[ActionRecord]) -> Result<bool, Failure> {
    let recovered = recovering::recover(store, open).await?;
    for found in &recovered {
        tell(store, found);
    }
    Ok(!recovered.is_empty())
}

/// Returns an action by its id, or the start or end of it, once the outcome of its apply is known.
///
/// # Errors
/// If there is no such action, or the store can't be used.
pub async fn find(store: &Store, id: &str) -> Result<ActionRecord, Failure> {
    let record = store.find(id).await?;
    if recover(store, std::slice::from_ref(&record)).await? {
        return Ok(store.find(id).await?);
    }
    Ok(record)
}

/// Determines and reports the outcome of a session's applies that were cut off.
///
/// # Errors
/// If the store can't be used.
pub async fn recover_session(store: &Store, session: &SessionId) -> Result<(), Failure> {
    let open = store
        .durable()
        .open_actions(Scope::Session(session))
        .await?;
    recover(store, &open).await.map(drop)
}

fn tell(store: &Store, found: &RecoveredAction) {
    let what = if found.applied {
        "had taken effect: it is applied"
    } else {
        "had changed nothing: it is pending as before"
    };
    let show = store.command(&["show", found.action.as_str()]);
    let message = Line::new()
        .with_role(Role::Note, "note:")
        .with(format!(" an apply that was cut off {what} ("))
        .with_role(Role::Command, format!("`{show}`"))
        .with(")");
    on_stderr(message);
}
