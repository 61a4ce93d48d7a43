//! The facade's methods about several actions that are decided as one.

use airlock_model::actor::DecidedBy;
use airlock_model::content::ResolutionOutcome;
use airlock_model::error::Error;
use airlock_model::pending::StackedAction;

use super::{Cancellable, JointReview, Session, Together};

impl Session {
    /// Reviews several pending actions as one, to be applied in this order. Each is rehearsed on
    /// top of the changes of those before it.
    ///
    /// They can't be applied together if they get in each other's way: if two of them change the
    /// same lines, or if the preview of one read what another changes. The actions of one call were
    /// previewed together, and may. An action whose effects the host can't know is never applied
    /// together with others, and neither is one whose files have changed.
    ///
    /// ```no_run
    /// # use airlock_host::pending::{Actor, Together};
    /// # async fn example(
    /// #     session: airlock_host::Session,
    /// #     ask: fn(&str) -> bool,
    /// # ) -> Result<(), airlock_host::Error> {
    /// let mut waiting = session.pending().await?;
    /// waiting.reverse(); // In the order in which they were pushed.
    /// match session.review_together(&waiting).await? {
    ///     Together::Reviewed(review) if ask(&review.effects.unified_diff()) => {
    ///         let person = Actor::person("Ada");
    ///         session.apply_together(&review, "read the diff", person).await?;
    ///     }
    ///     Together::Reviewed(_) => {}
    ///     Together::Apart { action, reason } => println!("{action}: {reason}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Store`] if the store can't be used, [`Error::NoStore`], [`Error::Workspace`] if the
    /// workspace can't be read, and other errors of loading a plugin.
    pub fn review_together<'a>(
        &'a self,
        actions: &'a [StackedAction],
    ) -> Cancellable<'a, Result<Together, Error>> {
        let reviews = &self.inner.reviews;
        Cancellable::new(move |cancel| reviews.review_together(actions, cancel))
    }

    /// Applies all actions of a review in one commit, or none of them. Returns their outcomes, in
    /// the order of the review. An [undo](Self::undo) of one of them undoes all.
    ///
    /// The session's [`Approver`](super::Approver), if it has one, is asked about each action.
    ///
    /// # Errors
    /// The errors of [`resolve`](Self::resolve), about one of the actions; then all of them are
    /// pending as before. [`Error::Different`] if they would change something else together than
    /// the review shows. [`Error::ApplyFailed`] if the commit failed. [`Error::NotRecorded`] if the
    /// commit succeeded, and the store could not record all of it; [`recover`](Self::recover) does
    /// that later.
    pub fn apply_together<'a>(
        &'a self,
        review: &'a JointReview,
        reason: &'a str,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<Vec<ResolutionOutcome>, Error>> {
        self.applying_together(review, reason, decided_by.into())
    }

    fn applying_together<'a>(
        &'a self,
        review: &'a JointReview,
        reason: &'a str,
        decided_by: DecidedBy,
    ) -> Cancellable<'a, Result<Vec<ResolutionOutcome>, Error>> {
        let decisions = &self.inner.decisions;
        Cancellable::new(move |cancel| decisions.apply_together(review, reason, decided_by, cancel))
    }
}
