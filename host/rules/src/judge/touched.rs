//! The paths that an action touches, under every name that leads to them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use airlock_model::effects::{Change, Facts, ObjectKind};

use super::after::{After, moved_from};
use crate::control::{ControlFiles, OUTSIDE};
use crate::path::{ends, join};
use crate::surroundings::{Entry, Inside, Surroundings};

/// A path that a change touches.
pub(super) struct Touched<'a> {
    pub path: String,
    pub change: &'a Change,
    /// True if the path can be executed after the action.
    pub executable: bool,
    /// True if the path is a link, before or after the action.
    pub link: bool,
    /// The control file that it counts as, if any.
    pub control: Option<String>,
    /// True if the path goes through a link to a path that is touched.
    pub is_alias: bool,
}

/// The view of the workspace in which an action's changes are looked at, as the action leaves it.
pub(super) struct Looking<'a> {
    after: After<'a>,
    surroundings: &'a dyn Surroundings,
    control: &'a ControlFiles,
    /// True for each directory that git accepts as a repository, by path.
    repositories: RefCell<HashMap<String, bool>>,
}

/// A change, with the contents of the directory that it moves.
pub(super) struct Looked<'a> {
    pub change: &'a Change,
    pub inside: Inside,
}

impl<'a> Looking<'a> {
    pub fn new(
        changes: &'a [Change],
        surroundings: &'a dyn Surroundings,
        root: Option<&'a Path>,
        control: &'a ControlFiles,
    ) -> Self {
        Self {
            after: After::new(changes, surroundings, root),
            surroundings,
            control,
            repositories: RefCell::default(),
        }
    }

    pub fn look(&self, change: &'a Change) -> Looked<'a> {
        let moved = moved_from(change).filter(|_| change.after.as_ref().is_some_and(is_directory));
        let inside = match moved {
            Some(from) => self.surroundings.inside(from),
            None => Inside {
                entries: Vec::new(),
                is_all: true,
            },
        };
        Looked { change, inside }
    }

    /// Returns the paths that a change touches, before and after it, or `None` if there are too
    /// many.
    pub fn touched(&self, looked: &Looked<'a>) -> Option<Vec<Touched<'a>>> {
        let change = looked.change;
        let facts = [change.after.as_ref(), change.before.as_ref()];
        let itself = Entry {
            path: String::new(),
            object: if facts
                .iter()
                .flatten()
                .any(|it| it.object == ObjectKind::Link)
            {
                ObjectKind::Link
            } else {
                facts[0]
                    .or(facts[1])
                    .map_or(ObjectKind::File, |it| it.object)
            },
            executable: facts[0].is_some_and(is_executable),
        };
        let ends = [Some(change.path.as_str()), moved_from(change)];
        let mut touched = Vec::new();
        for (end, is_after) in ends.into_iter().zip([change.after.is_some(), false]) {
            let Some(end) = end else { continue };
            for entry in [&itself].into_iter().chain(&looked.inside.entries) {
                let path = join(end, &entry.path);
                self.add(change, entry, path, is_after, &mut touched)?;
            }
        }
        Some(touched)
    }

    fn add(
        &self,
        change: &'a Change,
        entry: &Entry,
        path: String,
        is_after: bool,
        touched: &mut Vec<Touched<'a>>,
    ) -> Option<()> {
        let is_link = entry.object == ObjectKind::Link;
        let one = |path: String, control: Option<String>, is_alias| Touched {
            path,
            change,
            executable: entry.executable,
            link: is_link,
            control,
            is_alias,
        };
        let is_joint = |name: &str| self.control.is_joint(name);
        for alias in self.after.aliases(&path, &is_joint)? {
            let control = self.name_of(&alias).map(str::to_owned);
            touched.push(one(alias, control, true));
        }
        let led = if is_link && is_after {
            self.below_link(&path)?
        } else {
            Vec::new()
        };
        let control = match (is_after, is_link) {
            (false, _) => self.name_of(&path),
            (true, false) => self.control_of(&path),
            (true, true) => (self.control_of(&path)).or_else(|| self.control_of_target(&path)),
        };
        let control = control.map(str::to_owned);
        touched.push(one(path, control, false));
        for (path, control) in led {
            touched.push(one(path, Some(control), true));
        }
        Some(())
    }

    fn name_of(&self, path: &str) -> Option<&str> {
        let of_git = || self.is_of_git(path).then_some(GIT);
        let name = self.control.name_of(self.surroundings.above(), path);
        name.or_else(of_git)
    }

    fn is_of_git(&self, path: &str) -> bool {
        let of_git = &self.surroundings.of_git().paths;
        !of_git.is_empty()
            && ends(path)
                .chain([0])
                .any(|end| of_git.contains(&path[..end]))
    }

    /// Returns the control file that a path counts as after the action.
    fn control_of(&self, path: &str) -> Option<&str> {
        let in_repository = || self.is_in_repository(path).then_some(GIT);
        self.name_of(path).or_else(in_repository)
    }

    /// Returns the control file that a link counts as because of its target.
    fn control_of_target(&self, link: &str) -> Option<&str> {
        let is_absolute = self
            .after
            .target(link)
            .is_some_and(|it| it.starts_with('/'));
        match self.after.resolved(link).filter(|_| !is_absolute) {
            None => Some(OUTSIDE),
            Some(led) => self.control_of(&led),
        }
    }

    /// Returns the control files that appear below a new link to a directory, or `None` if the
    /// directory holds more than the host looks through.
    fn below_link(&self, link: &str) -> Option<Vec<(String, String)>> {
        let Some(target) = self.after.resolved(link) else {
            return Some(Vec::new());
        };
        // Files that the action creates in the target or moves into it have this path as an alias.
        let inside = self.surroundings.inside(&target);
        let control = inside.entries.iter().filter_map(|entry| {
            let path = join(link, &entry.path);
            let name = self.name_of(&path)?.to_owned();
            // A path that is a control file without the link isn't one because of the link.
            let own = join(&target, &entry.path);
            self.name_of(&own).is_none().then_some((path, name))
        });
        inside.is_all.then(|| control.collect())
    }

    /// Checks if a path is in a git repository that isn't called `.git`: git accepts any directory
    /// that has `HEAD` and one of `PARTS`.
    fn is_in_repository(&self, path: &str) -> bool {
        let mut above = ends(path).rev().skip(1).chain([0]);
        above.any(|end| self.is_repository(&path[..end]))
    }

    fn is_repository(&self, directory: &str) -> bool {
        if let Some(known) = self.repositories.borrow().get(directory) {
            return *known;
        }
        let has = |name: &str| self.after.has(&join(directory, name));
        let is_one = has("HEAD") && PARTS.iter().any(|name| has(name));
        self.repositories
            .borrow_mut()
            .insert(directory.to_owned(), is_one);
        is_one
    }
}

/// The control file's name for everything that git reads and runs.
const GIT: &str = ".git";

/// The other files and directories that git looks for: see gitrepository-layout(5).
const PARTS: [&str; 5] = ["objects", "refs", "config", "commondir", "config.worktree"];

fn is_directory(facts: &Facts) -> bool {
    facts.object == ObjectKind::Directory
}

fn is_executable(facts: &Facts) -> bool {
    facts.object == ObjectKind::File && facts.mode & 0o111 != 0
}
