//! Shared parts of the commands that call tools and resolve actions.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_desk::resolution::{self, Resolved, was_tried};
use airlock_desk::session::{SessionChoice, without_model};
use airlock_desk::store::Store;
use airlock_host::pending::{
    ActionId, Actor, DecidedBy, Decision, JointReview, SessionId, StackedAction, Together,
};
use airlock_host::{
    Error, Limits, PendingAction, Resolution, Session, SessionBuilder, UndoRetention,
};
use airlock_render::{Block, Line, Role};

use crate::bundled::CATALOG;
use crate::failure::Failure;
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::show_on_stderr;
use crate::terminal::progress::Progress;

/// Returns the session to use. If nothing is pending for the current directory, that is the session
/// of a workspace above it; a note says so, to programs as well, because they may not have meant
/// it.
pub async fn chosen(choice: &SessionChoice, store: &Store) -> Result<SessionChoice, Failure> {
    let chosen = choice.or_above(store).await?;
    if let (Some(above), true) = (&chosen.workspace, chosen != *choice) {
        let note = Line::new()
            .with_role(Role::Note, "note:")
            .with(" nothing is pending for this directory; this is about the workspace above it, ")
            .with_quoted(Role::Plain, above.to_string_lossy())
            .hanging(2);
        show_on_stderr(&Block::from(note));
    }
    Ok(chosen)
}

/// Returns what applies keep for an undo, by the operator's files.
pub fn undo_retention(store: &Store) -> Result<UndoRetention, Failure> {
    let operator = store.choice().config().operator();
    Ok(operator.map_err(airlock_desk::Error::from)?.undo())
}

/// Reopens an action's session, with the host's native tools and with plugins from the store.
pub fn reopened(
    id: SessionId,
    limits: &Limits,
    store: &Store,
    progress: &Progress,
) -> Result<SessionBuilder, Failure> {
    let progress = progress.clone();
    let engine = load::engine(limits.clone())?;
    let session = without_model()
        .id(id)
        .store(store.shared())
        .undo_retention(Some(undo_retention(store)?))
        .engine(&engine)
        .observer(move |_, event| progress.observe(event));
    Ok(CATALOG.bind_native(session))
}

pub struct CommandContext {
    pub session: Session,
    pub interrupt: Interrupt,
    pub progress: Progress,
    /// The decider in the audit trail, if no question was asked.
    pub user: Actor,
    /// The actions that this command decides about.
    pub own: OwnDecisions,
}

/// The actions that this command decides about, as opposed to those decided elsewhere. Clones share
/// state.
#[derive(Clone, Default)]
pub struct OwnDecisions(Arc<Mutex<HashSet<ActionId>>>);

impl OwnDecisions {
    pub fn has(&self, id: &ActionId) -> bool {
        self.ids().contains(id)
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<ActionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CommandContext {
    /// Discards these actions of the session.
    pub async fn discard_all(
        &self,
        actions: &[StackedAction],
        reason: &str,
    ) -> Result<Vec<Resolved>, Error> {
        let ids = actions.iter().map(|stacked| stacked.action.id.clone());
        self.own.ids().extend(ids);
        let (by, cancelled) = (self.user.clone().into(), self.interrupt.token());
        let discarding = resolution::discard_all(&self.session, actions, reason, by, cancelled);
        let what = "Discarding…".to_owned();
        self.progress.during(what, discarding).await
    }

    /// Reviews these actions of any sessions as one, to be applied in this order.
    pub async fn review_together(
        &self,
        actions: Vec<(Session, StackedAction)>,
    ) -> Result<Together, Error> {
        let reviewing = JointReview::of(actions);
        let reviewing = reviewing.cancelled_by(self.interrupt.token());
        let what = "Rehearsing…".to_owned();
        self.progress.during(what, reviewing).await
    }

    /// Applies all actions of the review, or none.
    pub async fn apply_together(
        &self,
        review: &JointReview,
        reason: &str,
        decided_by: DecidedBy,
    ) -> Result<Vec<Resolved>, Error> {
        let ids = || review.actions.iter().map(|it| it.action.id.clone());
        self.own.ids().extend(ids());
        let cancelled = self.interrupt.token();
        let applying = resolution::apply_together(review, reason, decided_by, cancelled);
        let what = format!("Applying {} actions…", review.actions.len());
        let applied = self.progress.during(what, applying).await;
        if matches!(&applied, Err(error) if !was_tried(error)) {
            let mut own = self.own.ids();
            ids().for_each(|id| _ = own.remove(&id));
        }
        applied
    }

    /// Resolves this action, which has the given place among several.
    pub async fn resolve(
        &self,
        action: &Arc<PendingAction>,
        resolution: Resolution,
        decided_by: DecidedBy,
        (index, count): (usize, usize),
    ) -> Resolved {
        let doing = match resolution.decision {
            Decision::Apply => "Applying",
            Decision::Discard => "Discarding",
        };
        let what = match count {
            1 => format!("{doing}…"),
            _ => format!("{doing} {} of {count}…", index + 1),
        };
        let cancelled = self.interrupt.token();
        let carrying_out =
            resolution::resolve(&self.session, action, resolution, decided_by, cancelled);
        self.own.ids().insert(action.id.clone());
        let resolved = self.progress.during(what, carrying_out).await;
        if matches!(&resolved.outcome, Err(error) if !was_tried(error)) {
            self.own.ids().remove(&action.id);
        }
        resolved
    }
}
