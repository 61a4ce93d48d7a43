//! Determining the outcome of applies whose host stopped midway.

use airlock_host::Error;
use airlock_host::pending::{ActionState, SessionId};
use airlock_host::recovery::RecoveredAction;
use airlock_host::store::ActionRecord;

use crate::session::without_model;
use crate::store::Store;

/// Determines the outcome of the interrupted ones among the actions, each in its workspace if that
/// is here. Failures outside of the store are only logged, so that callers can go on with what is
/// known.
///
/// # Errors
/// Fails if the store can't be used.
pub async fn recover(store: &Store, open: &[ActionRecord]) -> Result<Vec<RecoveredAction>, Error> {
    let mut places: Vec<(&SessionId, &std::path::Path)> = Vec::new();
    for record in open {
        let Some(workspace) = record.action.workspace.as_deref() else {
            continue;
        };
        let place = (&record.session, workspace);
        if record.state == ActionState::Interrupted && !places.contains(&place) {
            places.push(place);
        }
    }
    let mut recovered = Vec::new();
    for (session, workspace) in places {
        let session = without_model().id(session.clone());
        let opened = session.store(store.shared()).workspace(workspace).open();
        let Ok(session) = opened else {
            continue;
        };
        match session.recover().await {
            Ok(found) => recovered.extend(found),
            Err(error @ Error::Store(_)) => return Err(error),
            Err(error) => tracing::warn!("{}: {error}", workspace.display()),
        }
    }
    Ok(recovered)
}
