//! What an action touches, each path by every name that leads to it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use airlock_model::effects::{Change, Facts, ObjectKind};

use super::after::After;
use crate::control::{ControlFiles, OUTSIDE};
use crate::surroundings::{Entry, Inside, Surroundings};

/// What is at one path that a change touches.
pub(super) struct Touched<'a> {
    pub path: String,
    pub change: &'a Change,
    /// Whether it can be executed then.
    pub executable: bool,
    /// Whether it is a link, before or after.
    pub link: bool,
    /// What the control file is called that it counts as, if it is any.
    pub control: Option<String>,
    /// Whether this is another name, by a link, of something that is touched.
    pub is_alias: bool,
}

/// Looks at what an action changes, in the workspace as it is then.
pub(super) struct Looking<'a> {
    after: After<'a>,
    surroundings: &'a dyn Surroundings,
    control: &'a ControlFiles,
    /// By directory: whether git takes it for a repository.
    repositories: RefCell<HashMap<String, bool>>,
}

/// A change, with what is in the directory that it moves.
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

    /// Each path that a change touches, before and after; none where more paths lead there than
    /// anybody looks through.
    pub fn touched(&self, looked: &Looked<'a>) -> Option<Vec<Touched<'a>>> {
        let change = looked.change;
        let facts = [change.after.as_ref(), change.before.as_ref()];
        let itself = Entry {
            path: String::new(),
            object: match facts
                .iter()
                .flatten()
                .any(|it| it.object == ObjectKind::Link)
            {
                true => ObjectKind::Link,
                false => facts[0]
                    .or(facts[1])
                    .map_or(ObjectKind::File, |it| it.object),
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
        for alias in &*self
            .after
            .aliases(&path, &|name| self.control.is_joint(name))?
        {
            let control = self.name_of(alias).map(str::to_owned);
            touched.push(one(alias.clone(), control, true));
        }
        let led = match is_link && is_after {
            true => self.below_link(&path)?,
            false => Vec::new(),
        };
        let control = match self.name_of(&path) {
            Some(name) => Some(name.to_owned()),
            None if is_after && self.is_in_repository(&path) => Some(".git".to_owned()),
            None if is_link && is_after => self.control_of_target(&path),
            None => None,
        };
        touched.push(one(path, control, false));
        for (path, control) in led {
            touched.push(one(path, Some(control), true));
        }
        Some(())
    }

    fn name_of(&self, path: &str) -> Option<&str> {
        self.control.name_of(self.surroundings.above(), path)
    }

    /// What a link counts as by what it leads to.
    fn control_of_target(&self, link: &str) -> Option<String> {
        let is_absolute = self
            .after
            .target(link)
            .is_some_and(|it| it.starts_with('/'));
        match self.after.resolved(link).filter(|_| !is_absolute) {
            None => Some(OUTSIDE.to_owned()),
            Some(led) => match self.name_of(&led) {
                Some(name) => Some(name.to_owned()),
                None => self.is_in_repository(&led).then(|| ".git".to_owned()),
            },
        }
    }

    /// The control files that there are below a link, by the link's own path, since it is a
    /// directory then; none where there are more things than anybody looks through.
    fn below_link(&self, link: &str) -> Option<Vec<(String, String)>> {
        let Some(target) = self.after.resolved(link) else {
            return Some(Vec::new());
        };
        // What is made there, or moved there, is touched itself, and has this path as an alias.
        let inside = self.surroundings.inside(&target);
        let control = inside.entries.iter().filter_map(|entry| {
            let path = format!("{link}/{}", entry.path);
            let name = self.name_of(&path)?.to_owned();
            // What already is one is none because of the link.
            let own = join(&target, &entry.path);
            self.name_of(&own).is_none().then_some((path, name))
        });
        inside.is_all.then(|| control.collect())
    }

    /// Whether a path is that of a git repository without the name `.git`, or of something in one:
    /// git takes any directory for one that has `HEAD` and what goes with it.
    fn is_in_repository(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        [""].into_iter()
            .chain(above)
            .any(|directory| self.is_repository(directory))
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

/// What git looks for beside `HEAD`: see gitrepository-layout(5).
const PARTS: [&str; 5] = ["objects", "refs", "config", "commondir", "config.worktree"];

fn join(directory: &str, below: &str) -> String {
    match (directory, below) {
        ("", path) | (path, "") => path.to_owned(),
        (directory, below) => format!("{directory}/{below}"),
    }
}

fn moved_from(change: &Change) -> Option<&str> {
    change.from.as_deref().filter(|from| *from != change.path)
}

fn is_directory(facts: &Facts) -> bool {
    facts.object == ObjectKind::Directory
}

fn is_executable(facts: &Facts) -> bool {
    facts.object == ObjectKind::File && facts.mode & 0o111 != 0
}
