//! The actions that a decision covers.

use airlock_desk::marks::Marks;
use airlock_desk::store::Store;
use airlock_desk::target::{self, Target};
use airlock_host::pending::{ActionState, Decision};

use crate::failure::Failure;

/// The actions to resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The named action, or the topmost one of the session.
    One,
    /// The pending actions of the session.
    Session,
    /// The pending actions of the workspace, in any session.
    Workspace,
    /// The pending actions of the workspace that can't be applied any more, because their files
    /// have changed.
    Stale,
}

impl Scope {
    /// Returns a request for each action, in the order in which they are resolved: an apply begins
    /// with the oldest one, a discard with the newest one of a session.
    ///
    /// # Errors
    /// If there is no such action, or the store can't be read.
    pub async fn targets(
        self,
        request: &target::ResolveRequest,
        store: &Store,
    ) -> Result<Vec<target::ResolveRequest>, Failure> {
        let applies = request.decision == Decision::Apply;
        match self {
            Scope::One => return Ok(vec![request.clone()]),
            Scope::Session => {
                let mut targets = Target::all(request, store).await?;
                if applies {
                    targets.reverse();
                }
                return Ok(targets);
            }
            Scope::Workspace | Scope::Stale => {}
        }
        let mut open = request.session.open_actions(store).await?;
        open.retain(|it| it.state != ActionState::Resolving);
        if self == Scope::Stale {
            let marks = Marks::of(&open, store, |_| None).await?;
            open.retain(|it| !marks.stale(&it.action).is_empty());
        }
        if applies {
            open.sort_by_key(|it| it.action.pushed_at);
        }
        let named = open.iter().map(|record| target::ResolveRequest {
            id: Some(record.action.id.to_string()),
            ..request.clone()
        });
        Ok(named.collect())
    }

    /// Returns whether there may be several.
    pub fn is_several(self) -> bool {
        self != Scope::One
    }
}
