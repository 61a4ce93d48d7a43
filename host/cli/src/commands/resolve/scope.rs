//! Which actions a decision is about.

use airlock_desk::marks::Marks;
use airlock_desk::store::Store;
use airlock_desk::target::{self, Target};
use airlock_host::pending::ActionState;

use crate::failure::Failure;

/// How many actions are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The one that is named, or the session's topmost.
    One,
    /// All that is pending in the session.
    Session,
    /// All that is pending in the workspace, in whichever session.
    Workspace,
    /// Of these, what can't be applied any more, since its files have changed.
    Stale,
}

impl Scope {
    /// What names each of them, in the order in which they are resolved.
    ///
    /// # Errors
    /// If there is none that was meant, and if the store can't be read.
    pub async fn targets(
        self,
        request: &target::Request,
        store: &Store,
    ) -> Result<Vec<target::Request>, Failure> {
        match self {
            Scope::One => return Ok(vec![request.clone()]),
            Scope::Session => return Ok(Target::all(request, store).await?),
            Scope::Workspace | Scope::Stale => {}
        }
        let mut open = request.session.open_actions(store).await?;
        open.retain(|it| it.state != ActionState::Resolving);
        if self == Scope::Stale {
            let marks = Marks::of(&open, store, |_| None).await?;
            open.retain(|it| !marks.stale(&it.action).is_empty());
        }
        let named = open.iter().map(|record| target::Request {
            id: Some(record.action.id.to_string()),
            ..request.clone()
        });
        Ok(named.collect())
    }

    /// Whether there may be several.
    pub fn is_several(self) -> bool {
        self != Scope::One
    }
}
