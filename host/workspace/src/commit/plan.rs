//! Plans the renames that turn the folder into what the layer shows.
//!
//! Each object reaches its place by one rename of a known inode that replaces nothing unseen. New
//! objects wait in *slots* of the private folder, and removed ones are parked in slots. The order:
//!
//! 1. Removed and moved objects leave their places, files first and then the deepest directories,
//!    so that each is still at its path in the real folder. A file goes directly to its new place
//!    if that is free by then and no directory on the way moves.
//! 2. From the root down, everything else takes its place. A file that replaces another one is
//!    exchanged with it, so that the name is never missing.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::staging::{Going, Staged, Staging};
use super::step::{Name, Object, Step};
use crate::error::{CommitError, Doing};
use crate::kept::Kept;
use crate::lower::{Kind, Stamp};
use crate::path::{depth, join};
use crate::tree::{NodeId, ROOT, Tree};

/// The prefix of slots for new objects.
pub(crate) const MADE: &str = "n";

/// The prefix of slots for parked objects.
pub(crate) const PARKED: &str = "p";

/// The renames of a commit.
pub(crate) struct Plan {
    pub steps: Vec<Step>,
    /// The slots in which replaced and removed objects end up, by the objects' paths in the real
    /// folder.
    pub originals: BTreeMap<String, String>,
}

/// Stages new objects and plans the renames.
pub(crate) fn plan(
    tree: &Tree,
    rewritten: &HashMap<NodeId, Option<Kept>>,
    staging: &mut Staging<'_>,
) -> Result<Plan, CommitError> {
    let mut planner = Planner {
        tree,
        rewritten,
        staging,
        replaced: HashSet::new(),
        vacated: HashMap::new(),
        steps: Vec::new(),
        originals: BTreeMap::new(),
    };
    planner.find_replaced();
    planner.vacate_files();
    planner.vacate_directories();
    planner.place(ROOT, "", None)?;
    let ending = || "stage the changes".to_owned();
    planner.staging.end().doing(ending)?;
    Ok(Plan {
        steps: planner.steps,
        originals: planner.originals,
    })
}

/// The destination of an object that left its place.
#[derive(Clone, PartialEq, Eq)]
enum Vacated {
    ToSlot(String),
    ToItsPlace,
}

struct Planner<'a, 'b> {
    tree: &'a Tree,
    rewritten: &'a HashMap<NodeId, Option<Kept>>,
    staging: &'a mut Staging<'b>,
    /// Files that leave by an exchange.
    replaced: HashSet<NodeId>,
    vacated: HashMap<NodeId, Vacated>,
    steps: Vec<Step>,
    originals: BTreeMap<String, String>,
}

impl<'a> Planner<'a, '_> {
    /// Returns whether an object's contents wait in a slot.
    fn is_staged(&self, id: NodeId) -> bool {
        self.tree.node(id).origin.is_none() || self.rewritten.contains_key(&id)
    }

    fn is_directory(&self, id: NodeId) -> bool {
        self.tree.node(id).body.kind() == Kind::Directory
    }

    /// Returns the object that the real folder has at a name in a directory.
    fn occupant(&self, directory: NodeId, name: &str) -> Option<NodeId> {
        let origin = self.tree.node(directory).origin.as_ref()?;
        self.tree.by_origin(&join(&origin.path, name))
    }

    fn find_replaced(&mut self) {
        for id in self.tree.ids() {
            let Some((directory, name)) = &self.tree.node(id).link else {
                continue;
            };
            if self.is_directory(id) || !self.is_staged(id) || self.tree.is_in_place(id) {
                continue;
            }
            if let Some(occupant) = self.occupant(*directory, name)
                && occupant != id
                && !self.is_directory(occupant)
                && self.tree.node(occupant).link.is_none()
            {
                self.replaced.insert(occupant);
            }
        }
    }

    /// Returns whether an object must leave its place in the real folder.
    fn must_leave(&self, id: NodeId) -> bool {
        self.tree.node(id).origin.is_some()
            && id != ROOT
            && !self.replaced.contains(&id)
            && !self.tree.is_in_place(id)
    }

    fn vacate_files(&mut self) {
        let leaving: Vec<NodeId> = self
            .tree
            .ids()
            .filter(|id| !self.is_directory(*id) && self.must_leave(*id))
            .collect();
        let (moved, removed): (Vec<_>, Vec<_>) = leaving
            .into_iter()
            .partition(|id| self.tree.node(*id).link.is_some() && !self.rewritten.contains_key(id));
        for id in removed {
            self.park(id);
        }
        // The object at a destination leaves first. A cycle is broken by parking one of its
        // objects.
        let leaving: HashSet<NodeId> = moved.iter().copied().collect();
        let mut waiting = HashSet::new();
        for first in moved {
            let mut chain = vec![first];
            while let Some(&id) = chain.last() {
                if self.vacated.contains_key(&id) {
                    chain.pop();
                    continue;
                }
                let before = self.destination(id).and_then(|(_, occupant)| occupant);
                match before {
                    Some(before)
                        if leaving.contains(&before) && !self.vacated.contains_key(&before) =>
                    {
                        if waiting.insert(id) && !waiting.contains(&before) {
                            chain.push(before);
                        } else {
                            self.park(before);
                        }
                    }
                    _ => {
                        self.leave(id);
                        chain.pop();
                    }
                }
            }
        }
    }

    fn vacate_directories(&mut self) {
        let mut leaving: Vec<NodeId> = self
            .tree
            .ids()
            .filter(|id| self.is_directory(*id) && self.must_leave(*id))
            .collect();
        leaving.sort_by_key(|id| std::cmp::Reverse(depth(self.origin_path(*id))));
        for id in leaving {
            self.leave(id);
        }
    }

    /// Moves an object directly to its place if possible, and parks it otherwise.
    fn leave(&mut self, id: NodeId) {
        match self.destination(id) {
            Some((path, occupant))
                if occupant.is_none_or(|occupant| self.vacated.contains_key(&occupant)) =>
            {
                let step = self.step_from_origin(id, Name::Path(path));
                self.steps.push(step);
                self.vacated.insert(id, Vacated::ToItsPlace);
            }
            _ => self.park(id),
        }
    }

    /// Returns an object's destination and the object that is there in the real folder, if no
    /// directory on the way moves or is new, so that the path stays the same.
    fn destination(&self, id: NodeId) -> Option<(String, Option<NodeId>)> {
        let (directory, name) = self.tree.node(id).link.as_ref()?;
        if self.rewritten.contains_key(&id) {
            return None;
        }
        let mut at = *directory;
        while at != ROOT {
            if !self.tree.is_in_place(at) {
                return None;
            }
            at = self.tree.node(at).link.as_ref()?.0;
        }
        let path = join(self.origin_path(*directory), name);
        Some((path, self.occupant(*directory, name)))
    }

    fn park(&mut self, id: NodeId) {
        let slot = self.staging.new_slot(PARKED);
        let mut step = self.step_from_origin(id, Name::Slot(slot.clone()));
        step.empty = self.is_directory(id) && self.tree.node(id).link.is_none();
        if self.tree.node(id).link.is_none() || self.rewritten.contains_key(&id) {
            self.keep_original(id, &slot);
        }
        self.steps.push(step);
        self.vacated.insert(id, Vacated::ToSlot(slot));
    }

    fn keep_original(&mut self, id: NodeId, slot: &str) {
        let path = self.origin_path(id).to_owned();
        self.originals.insert(path, slot.to_owned());
    }

    fn origin(&self, id: NodeId) -> (&str, &Stamp) {
        let origin = self.tree.node(id).origin.as_ref();
        let origin = origin.expect("only what the real folder has leaves a place");
        (&origin.path, &origin.stamp)
    }

    fn origin_path(&self, id: NodeId) -> &str {
        self.origin(id).0
    }

    fn step_from_origin(&self, id: NodeId, to: Name) -> Step {
        let (path, stamp) = self.origin(id);
        Step {
            from: Name::Path(path.to_owned()),
            to,
            object: Object::real(stamp),
            displaced: None,
            empty: false,
            made: None,
        }
    }

    /// Puts everything in a directory into place at `path`. `slot` is the slot in which a new
    /// directory is staged together with its new contents.
    fn place(
        &mut self,
        directory: NodeId,
        path: &str,
        slot: Option<&str>,
    ) -> Result<(), CommitError> {
        let tree = self.tree;
        for (name, child) in tree.children(directory) {
            let Some(id) = *child else { continue };
            let path = join(path, name);
            let inner = slot.map(|slot| join(slot, name));
            if self.is_staged(id) {
                // A file with new contents counts as new if it was moved to a new directory.
                let slot = inner.clone();
                let slot = slot.unwrap_or_else(|| self.staging.new_slot(MADE));
                let kept = self.rewritten.get(&id).and_then(Option::as_ref);
                let going = Going {
                    path: &path,
                    directory: self.real_directory(directory),
                    kept,
                };
                let staged = self.staging.stage(tree.node(id), &going, slot)?;
                if self.is_directory(id) {
                    // The directory's own objects go into the slot first. Objects that are moved
                    // into it follow after it is in place.
                    let at = self.steps.len();
                    self.place(id, &path, Some(&staged.slot))?;
                    if inner.is_none() {
                        self.steps.insert(at, placed(&staged, &path, None));
                    }
                } else if inner.is_none() {
                    let displaced = self.displaced(directory, name);
                    let displaced = displaced.inspect(|it| self.keep_original(*it, &staged.slot));
                    let displaced = displaced.map(|it| Object::real(self.origin(it).1));
                    self.steps.push(placed(&staged, &path, displaced));
                }
                continue;
            }
            match self.vacated.get(&id) {
                Some(Vacated::ToSlot(slot)) => {
                    let object = Object::real(self.origin(id).1);
                    self.steps.push(Step {
                        from: Name::Slot(slot.clone()),
                        to: Name::Path(path.clone()),
                        object,
                        displaced: None,
                        empty: false,
                        made: None,
                    });
                }
                Some(Vacated::ToItsPlace) | None => {}
            }
            if self.is_directory(id) {
                self.place(id, &path, None)?;
            }
        }
        Ok(())
    }

    /// Returns the path of the nearest directory at or above this one that exists in the real
    /// folder.
    fn real_directory(&self, mut directory: NodeId) -> &'a str {
        loop {
            let node = self.tree.node(directory);
            match (&node.origin, &node.link) {
                (Some(origin), _) => return &origin.path,
                (None, Some((above, _))) => directory = *above,
                (None, None) => return "",
            }
        }
    }

    /// Returns the object that a file is exchanged with.
    fn displaced(&self, directory: NodeId, name: &str) -> Option<NodeId> {
        let occupant = self.occupant(directory, name)?;
        let goes = self.replaced.contains(&occupant) || self.tree.is_in_place(occupant);
        goes.then_some(occupant)
    }
}

fn placed(staged: &Staged, path: &str, displaced: Option<Object>) -> Step {
    Step {
        from: Name::Slot(staged.slot.clone()),
        to: Name::Path(path.to_owned()),
        object: Object::new_object(staged.inode),
        displaced,
        empty: false,
        made: None,
    }
}
