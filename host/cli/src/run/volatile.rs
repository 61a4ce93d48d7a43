//! Previews that a tool keeps in its own memory, and that end with this process.

use std::sync::Arc;

use airlock_desk::store::Store;
use airlock_desk::unheard::discard_volatile;
use airlock_host::PendingAction;

use crate::failure::{Exit, Failure};
use crate::stage::Stage;

const REASON: &str =
    "undecided when `airlock run` ended, and the tool keeps its preview in memory only";

/// Discards those that nobody has decided about, and says so.
///
/// # Errors
/// Where the store can't be used.
pub async fn give_up(
    stage: &Stage,
    store: &Store,
    pushed: &[Arc<PendingAction>],
) -> Result<Option<Failure>, Failure> {
    let discarded = discard_volatile(&stage.session, store, pushed, REASON).await?;
    let message = match discarded {
        0 => return Ok(None),
        1 => "the tool keeps its preview in memory only, which ends with this command: the action was discarded".to_owned(),
        count => format!(
            "the tool keeps its previews in memory only, which ends with this command: {count} actions were discarded"
        ),
    };
    let hint = "run it again and decide at once: with `--apply REASON` or `--discard REASON`, or in a terminal";
    Ok(Some(
        Failure::new(Exit::Failed, "volatile", message).with_hint(hint),
    ))
}
