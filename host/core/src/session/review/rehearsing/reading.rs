//! The result of a rehearsal.

use std::sync::Arc;

use airlock_model::effects::Effects;
use airlock_model::reads::Fingerprints;
use airlock_workspace::View;
use tokio::task::spawn_blocking;

use crate::instance::LookedAt;
use crate::workspace::{WorkspaceFolder, changes_of, fingerprints};

pub(super) fn unverified(problem: String) -> (Effects, Option<Fingerprints>) {
    (Effects::unverified(problem), None)
}

/// Reads the changes on the layer, and drops it.
pub(super) async fn read_changes(
    changes: View,
    looked_at: LookedAt,
    folder: Arc<WorkspaceFolder>,
) -> (Effects, Option<Fingerprints>) {
    match spawn_blocking(move || look(&changes, &looked_at, &folder)).await {
        Ok(Ok(seen)) => seen,
        Ok(Err(error)) => unverified(format!("its changes couldn't be read: {error}")),
        Err(error) => unverified(format!("its changes were not read: {error}")),
    }
}

fn look(
    layer: &View,
    looked_at: &LookedAt,
    folder: &WorkspaceFolder,
) -> std::io::Result<(Effects, Option<Fingerprints>)> {
    let read = fingerprints(&layer.take_reads());
    let before = folder.view()?;
    let changes = changes_of(layer, &before)?;
    layer.abandon();
    let mut effects = Effects::verified(changes);
    effects.uses_time = looked_at.time();
    effects.uses_randomness = looked_at.randomness();
    Ok((effects, read))
}
