//! Answers about the changes of an apply, which may deny it.

use airlock_model::denial::{Denial, DeniedBy};

use crate::session::approval::{ConfirmRequest, Confirmation};
use crate::session::base::Base;

/// # Errors
/// The reason not to commit, as a clause. A denial is already recorded.
pub(super) async fn let_commit(
    base: &Base,
    request: &ConfirmRequest<'_>,
    confirmation: Confirmation,
) -> Result<(), String> {
    let (denied_by, reason) = match confirmation {
        Confirmation::Commit => return Ok(()),
        Confirmation::Drop { reason } => return Err(reason),
        Confirmation::Refuse { reason } => (DeniedBy::Rule, reason),
        Confirmation::Decline { decided_by, reason } => (DeniedBy::Person(decided_by), reason),
    };
    let (resolution, asked_by) = (request.resolution, request.decided_by.clone());
    let denial = Denial::new(resolution, asked_by, denied_by, &reason);
    base.record_denial(request.action, denial).await;
    Err(reason)
}
