//! The facade's methods about several actions that are decided as one.

use airlock_model::actor::DecidedBy;
use airlock_model::content::ResolutionOutcome;
use airlock_model::effects::{Answer, Effects};
use airlock_model::error::Error;
use airlock_model::pending::{NamedAction, StackedAction};
use tokio_util::sync::CancellationToken;

use super::decide::{JointDecision, JointPart};
use super::review::{self, JointEffects, Obstacle, Waiting};
use super::{Cancellable, Session};

/// The result of reviewing several pending actions as one.
#[derive(Debug, Clone)]
pub enum Together {
    /// They can be applied in one commit.
    Reviewed(Box<JointReview>),
    /// They can't. Each can still be decided by itself.
    Apart {
        /// The action that prevents it.
        action: Box<NamedAction>,
        /// The reason, as a clause about it.
        reason: String,
    },
}

/// The changes of several pending actions, reviewed as one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JointReview {
    /// The actions, in the order in which they are applied.
    pub actions: Vec<StackedAction>,
    /// The reviewed effects of each one alone, in the same order. They are not verified if it
    /// depends on an earlier action of its call.
    pub each: Vec<Effects>,
    /// Their joint changes: each changed file once, without changes that a later one takes back.
    pub effects: Effects,
    /// What each action answers on top of those before it.
    pub answers: Vec<Answer>,
    /// The session of each action, in the same order.
    sessions: Vec<Session>,
}

impl Session {
    /// Reviews several pending actions of this session as one, to be applied in this order. Each is
    /// rehearsed on top of the changes of those before it.
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
    ///         review.apply("read the diff", Actor::person("Ada")).await?;
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
    pub fn review_together(
        &self,
        actions: &[StackedAction],
    ) -> Cancellable<'_, Result<Together, Error>> {
        let actions = actions.iter().map(|it| (self.clone(), it.clone()));
        JointReview::of(actions.collect())
    }
}

impl JointReview {
    /// Reviews pending actions of several sessions of one workspace as one, like
    /// [`Session::review_together`].
    ///
    /// # Errors
    /// See there.
    pub fn of<'a>(
        actions: Vec<(Session, StackedAction)>,
    ) -> Cancellable<'a, Result<Together, Error>> {
        Cancellable::new(move |cancel| review_all(actions, cancel))
    }

    /// Applies all actions of the review in one commit, or none of them. Returns their outcomes, in
    /// the order of the review. An [undo](Session::undo) of one of them undoes all.
    ///
    /// The [`Approver`](super::Approver) of each session, if it has one, is asked about each of its
    /// actions.
    ///
    /// # Errors
    /// The errors of [`Session::resolve`], about one of the actions; then all of them are pending
    /// as before. [`Error::Different`] if they would change something else together than the review
    /// shows. [`Error::ApplyFailed`] if the commit failed. [`Error::NotRecorded`] if the commit
    /// succeeded, and the store could not record all of it; [`Session::recover`] does that later.
    pub fn apply<'a>(
        &'a self,
        reason: &'a str,
        decided_by: impl Into<DecidedBy>,
    ) -> Cancellable<'a, Result<Vec<ResolutionOutcome>, Error>> {
        self.applying(reason, decided_by.into())
    }

    fn applying<'a>(
        &'a self,
        reason: &'a str,
        decided_by: DecidedBy,
    ) -> Cancellable<'a, Result<Vec<ResolutionOutcome>, Error>> {
        let parts = self.sessions.iter().zip(&self.actions).zip(&self.each);
        let parts = parts.zip(&self.answers);
        let parts = parts.map(|(((session, stacked), alone), answer)| JointPart {
            decisions: &session.inner.decisions,
            stacked,
            alone,
            answer,
        });
        let decision = JointDecision {
            parts: parts.collect(),
            effects: &self.effects,
            reason,
            decided_by,
        };
        Cancellable::new(move |cancel| async move { decision.apply(cancel).await })
    }
}

async fn review_all(
    actions: Vec<(Session, StackedAction)>,
    cancel: Option<&CancellationToken>,
) -> Result<Together, Error> {
    let waiting = actions.iter().map(|(session, stacked)| Waiting {
        reviews: &session.inner.reviews,
        stacked,
    });
    let waiting: Vec<_> = waiting.collect();
    let reviewed = review::review_together(&waiting, cancel).await?;
    Ok(match reviewed {
        Ok(JointEffects {
            each,
            together,
            answers,
        }) => {
            let (sessions, actions) = actions.into_iter().unzip();
            Together::Reviewed(Box::new(JointReview {
                actions,
                each,
                effects: together,
                answers,
                sessions,
            }))
        }
        Err(Obstacle { at, reason }) => Together::Apart {
            action: Box::new(NamedAction::from(&*actions[at].1.action)),
            reason,
        },
    })
}
