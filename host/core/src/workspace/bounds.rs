//! The paths of the workspace that a policy grants, and those that a guest was refused.

use std::sync::{Mutex, MutexGuard, PoisonError};

use airlock_model::event::{PathAccess, PathRefusal};
use airlock_model::policy::Policy;
use airlock_workspace::{Access, Bounds};

/// The bounds that a policy sets for a guest.
#[derive(Debug)]
pub(crate) struct PathBounds {
    granted: Policy,
    /// The component's wants.
    wanted: Policy,
    refused: Mutex<[Option<PathRefusal>; 2]>,
}

impl PathBounds {
    pub fn new(granted: Policy, wanted: Policy) -> Self {
        Self {
            granted,
            wanted,
            refused: Mutex::default(),
        }
    }

    /// Returns the refusals since the last call: at most one refusal for reads and one for
    /// changes.
    pub fn take_refused(&self) -> impl Iterator<Item = PathRefusal> {
        std::mem::take(&mut *self.refused()).into_iter().flatten()
    }

    fn refused(&self) -> MutexGuard<'_, [Option<PathRefusal>; 2]> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn allows(policy: &Policy, access: Access, path: &str) -> bool {
    match access {
        Access::Read => policy.read.contains(path),
        Access::Change => policy.change.contains(path),
    }
}

impl Bounds for PathBounds {
    fn allows(&self, access: Access, path: &str) -> bool {
        allows(&self.granted, access, path)
    }

    fn leads_from(&self, directory: &str) -> bool {
        self.granted.read.leads_from(directory)
    }

    fn covers(&self, access: Access, directory: &str) -> bool {
        match access {
            Access::Read => self.granted.read.covers(directory),
            Access::Change => self.granted.change.covers(directory),
        }
    }

    fn denied(&self, access: Access, path: &str) {
        let mut refused = self.refused();
        let (slot, told) = match access {
            Access::Read => (0, PathAccess::Read),
            Access::Change => (1, PathAccess::Change),
        };
        match &mut refused[slot] {
            Some(first) => first.more += 1,
            first => {
                *first = Some(PathRefusal {
                    access: told,
                    path: path.to_owned(),
                    is_wanted: allows(&self.wanted, access, path),
                    more: 0,
                });
            }
        }
    }
}
