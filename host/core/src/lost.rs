//! Volatile actions whose preview is gone while their session continues.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use airlock_model::pending::{ActionId, ActionState};

/// The actions of a session whose instance has ended, until the store lists them as lost. The store
/// is notified without waiting, and a caller that knows of the end must not see them as pending.
#[derive(Default)]
pub(crate) struct LostActions(Mutex<HashSet<ActionId>>);

impl LostActions {
    pub fn add(&self, ids: &[ActionId]) {
        self.lock().extend(ids.iter().cloned());
    }

    /// Marks them as lost. Forgets those that the store lists as lost itself, or no longer lists.
    pub fn mark<T>(
        &self,
        stack: &mut [T],
        id: impl Fn(&T) -> &ActionId,
        state: impl Fn(&mut T) -> &mut ActionState,
    ) {
        let mut lost = self.lock();
        if lost.is_empty() {
            return;
        }
        let mut still = HashSet::new();
        for listed in stack {
            if *state(listed) != ActionState::Lost && lost.contains(id(listed)) {
                still.insert(id(listed).clone());
                *state(listed) = ActionState::Lost;
            }
        }
        *lost = still;
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<ActionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_listed_as_lost_until_the_store_does_so_itself() {
        use ActionState::{Interrupted, Lost, Pending};
        let lost = LostActions::default();
        lost.add(&["a".into(), "b".into()]);
        let listed = |stack: &[(&str, ActionState)]| {
            let stack = stack.iter();
            let mut stack: Vec<(ActionId, ActionState)> =
                stack.map(|(id, state)| ((*id).into(), *state)).collect();
            lost.mark(&mut stack, |(id, _)| id, |(_, state)| state);
            let states: Vec<_> = stack.into_iter().map(|(_, state)| state).collect();
            (states, lost.lock().len())
        };
        let three = [("a", Pending), ("b", Interrupted), ("c", Pending)];
        assert_eq!(listed(&three), (vec![Lost, Lost, Pending], 2));
        assert_eq!(listed(&three), (vec![Lost, Lost, Pending], 2));
        assert_eq!(listed(&[("a", Lost), ("b", Pending)]), (vec![Lost; 2], 1));
        assert_eq!(listed(&[]), (vec![], 0));
    }
}
