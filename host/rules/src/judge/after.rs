//! The workspace as an action leaves it: the paths that exist, and the targets of links.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use airlock_model::effects::{Change, ChangeKind};

use crate::path::{ends, join};
use crate::surroundings::{Led, Surroundings};

/// The most links that are followed for one path: the same number as on Linux.
const FOLLOWED: usize = 40;

/// A workspace after an action.
pub(super) struct After<'a> {
    before: &'a dyn Surroundings,
    root: Option<&'a Path>,
    /// The changes, by path after the action.
    made: HashMap<&'a str, &'a Change>,
    /// Directories above the paths in `made`.
    above_made: HashSet<&'a str>,
    /// The paths of moved objects after the action, by path before it.
    moved: HashMap<&'a str, &'a str>,
    /// The removed paths, as they were before the action.
    removed: HashSet<&'a str>,
    /// The targets of all links, by path after the action.
    links: BTreeMap<String, String>,
    /// The links before and after the action, by the paths that they lead to.
    by_target: BTreeMap<String, BTreeSet<String>>,
    /// The links before and after the action, by the other links that they lead through.
    through: BTreeMap<String, BTreeSet<String>>,
    /// The aliases of directories, kept for the next file in them.
    of_directories: RefCell<HashMap<String, Option<Vec<String>>>>,
}

impl<'a> After<'a> {
    pub fn new(
        changes: &'a [Change],
        before: &'a dyn Surroundings,
        root: Option<&'a Path>,
    ) -> Self {
        let mut after = Self {
            before,
            root,
            made: HashMap::new(),
            above_made: HashSet::new(),
            moved: HashMap::new(),
            removed: HashSet::new(),
            links: BTreeMap::new(),
            by_target: BTreeMap::new(),
            through: BTreeMap::new(),
            of_directories: RefCell::default(),
        };
        for change in changes {
            if change.after.is_none() {
                after.removed.insert(&change.path);
            } else {
                after.made.insert(&change.path, change);
                let above = ends(&change.path).rev().skip(1);
                after
                    .above_made
                    .extend(above.map(|end| &change.path[..end]));
            }
            if let Some(from) = moved_from(change) {
                after.moved.insert(from, &change.path);
            }
        }
        after.links = after.links_after();
        let before = before.links().links.iter().cloned().collect();
        after.add_links(&before);
        after.add_links(&after.links.clone());
        after
    }

    /// Adds these links by the paths that they lead to, and by the links that they lead through: a
    /// change of any of these changes what the link means.
    fn add_links(&mut self, links: &BTreeMap<String, String>) {
        for link in links.keys() {
            let add = |by: &mut BTreeMap<String, BTreeSet<String>>, path| {
                by.entry(path).or_default().insert(link.clone());
            };
            let mut through = Vec::new();
            let end = self.follow(links, link, |link| through.push(link.to_owned()));
            if let Some(end) = end {
                add(&mut self.by_target, end);
            }
            for path in through {
                add(&mut self.through, path);
            }
        }
    }

    fn links_after(&self) -> BTreeMap<String, String> {
        let kept = self.before.links().links.iter().filter_map(|(path, to)| {
            let path = self.path_after(path)?;
            // The link is overwritten, or `made` below has its new target.
            let is_made = self.made.contains_key(&*path);
            (!is_made).then(|| (path, to.clone()))
        });
        let made = self.made.iter().filter_map(|(path, change)| {
            let after = change.after.as_ref()?;
            Some(((*path).to_owned(), after.target.clone()?))
        });
        kept.chain(made).collect()
    }

    /// Returns the path after the action of a path before it, or `None` if the action removes it.
    fn path_after(&self, path: &str) -> Option<String> {
        for end in ends(path).rev() {
            let (above, rest) = path.split_at(end);
            if self.removed.contains(above) {
                return None;
            }
            if let Some(to) = self.moved.get(above) {
                return Some(format!("{to}{rest}"));
            }
        }
        Some(path.to_owned())
    }

    /// Checks if the path exists after the action.
    pub fn has(&self, path: &str) -> bool {
        if self.above_made.contains(path) {
            return true;
        }
        for end in ends(path).rev() {
            let (above, rest) = path.split_at(end);
            let Some(change) = self.made.get(above) else {
                continue;
            };
            if rest.is_empty() {
                return true;
            }
            return match &change.from {
                Some(from) => self.is_kept(&format!("{from}{rest}"), from.len()),
                // All contents of a new directory are listed as changes.
                None if change.kind == ChangeKind::Created => false,
                None => self.is_kept(path, above.len()),
            };
        }
        self.is_kept(path, 0)
    }

    /// Checks if a path from before the action still exists. `above` is the length of the path of a
    /// directory that is known to exist.
    fn is_kept(&self, path: &str, above: usize) -> bool {
        let mut ends = ends(path).rev().take_while(|end| *end > above);
        let is_gone = |end: usize| {
            self.removed.contains(&path[..end]) || self.moved.contains_key(&path[..end])
        };
        !ends.any(is_gone) && self.before.has(path)
    }

    /// Returns a link's target, as it is written.
    pub fn target(&self, link: &str) -> Option<&str> {
        self.links.get(link).map(String::as_str)
    }

    /// Returns a path with all links followed, or `None` if it leads out of the workspace or in
    /// circles.
    pub fn resolved(&self, path: &str) -> Option<String> {
        self.follow(&self.links, path, |_| {})
    }

    /// Follows these links from a path. Returns `None` if the path leads out of the workspace or in
    /// circles. Calls `through` with each other link on the way.
    fn follow(
        &self,
        links: &BTreeMap<String, String>,
        path: &str,
        mut through: impl FnMut(&str),
    ) -> Option<String> {
        let mut ahead: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut at = At::Inside(Vec::new());
        let mut followed = 0;
        while let Some(name) = ahead.pop() {
            let link = match self.step(&mut at, name)? {
                Some(here) => here,
                None => continue,
            };
            let Some(target) = links.get(&link) else {
                continue;
            };
            if link != path {
                through(&link);
            }
            followed += 1;
            if followed > FOLLOWED {
                return None;
            }
            match (target.starts_with('/'), &mut at) {
                (true, at) => *at = At::Outside(PathBuf::from("/")),
                (false, At::Inside(names)) => drop(names.pop()),
                (false, At::Outside(_)) => {}
            }
            ahead.extend(target.split('/').rev().map(str::to_owned));
        }
        match at {
            At::Inside(names) => Some(names.join("/")),
            At::Outside(_) => None,
        }
    }

    /// Goes one name further. Returns the path in the workspace if the name was added to it.
    fn step(&self, at: &mut At, name: String) -> Option<Option<String>> {
        match (&mut *at, &*name) {
            (_, "" | ".") => return Some(None),
            (At::Inside(names), "..") => {
                if names.pop().is_none() {
                    *at = At::Outside(self.root?.parent()?.to_owned());
                }
                return Some(None);
            }
            (At::Outside(path), "..") => {
                path.pop();
                return Some(None);
            }
            (At::Inside(names), _) => {
                names.push(name);
                return Some(Some(names.join("/")));
            }
            (At::Outside(path), _) => path.push(name),
        }
        let At::Outside(path) = &*at else {
            return Some(None);
        };
        let led = match path.strip_prefix(self.root?) {
            Ok(below) => Led::Inside(below.to_str()?.to_owned()),
            Err(_) => self.before.led(path),
        };
        *at = match led {
            Led::Inside(below) => {
                let names = below.split('/').filter(|it| !it.is_empty());
                At::Inside(names.map(str::to_owned).collect())
            }
            Led::Outside(path) => At::Outside(path),
        };
        Some(None)
    }

    /// Returns the other paths by which links lead to a path, or `None` if there are more than
    /// `MOST_ALIASES`.
    ///
    /// Links into each other's directories would make endless paths, so each link counts once. If
    /// `is_joint` returns true for its name, a pattern may match the name together with the names
    /// after it. The link then counts once for each of these.
    pub fn aliases(&self, path: &str, is_joint: &impl Fn(&str) -> bool) -> Option<Vec<String>> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_led_to = self.by_target.contains_key(path) || self.through.contains_key(path);
        if self.by_target.is_empty() || is_led_to {
            return self.aliases_of(path, is_joint);
        }
        // All files of a directory have the same aliases.
        let mut known = self.of_directories.borrow_mut();
        let of_directory = known
            .entry(directory.to_owned())
            .or_insert_with(|| self.aliases_of(directory, is_joint));
        let below = |alias: &String| join(alias, name);
        Some(of_directory.as_ref()?.iter().map(below).collect())
    }

    fn aliases_of(&self, path: &str, is_joint: &impl Fn(&str) -> bool) -> Option<Vec<String>> {
        let through = self.through.get(path).into_iter().flatten();
        let mut aliases: Vec<String> = through.cloned().collect();
        let mut seen = HashSet::new();
        let mut looked_at = 0;
        let mut next = Some(path.to_owned());
        while let Some(path) = next {
            for end in ends(&path).rev().chain([0]) {
                let rest = path[end..].trim_start_matches('/');
                for link in self.by_target.get(&path[..end]).into_iter().flatten() {
                    let name = link.rsplit('/').next().unwrap_or_default();
                    let joined: Vec<&str> = if is_joint(name) {
                        rest.split('/').take(JOINED).collect()
                    } else {
                        Vec::new()
                    };
                    if seen.insert((link.as_str(), joined.join("/"))) {
                        aliases.push(join(link, rest));
                    }
                }
            }
            if aliases.len() > MOST_ALIASES {
                return None;
            }
            next = aliases.get(looked_at).cloned();
            looked_at += 1;
        }
        Some(aliases)
    }
}

/// The place to which a path has led so far.
enum At {
    Inside(Vec<String>),
    /// An absolute path outside of the workspace.
    Outside(PathBuf),
}

/// The number of names after a link that are compared: no pattern of a control file has more.
const JOINED: usize = 4;

/// The most aliases of one path.
const MOST_ALIASES: usize = 20_000;

/// Returns the path before the change, if it differs from the one after it.
pub(super) fn moved_from(change: &Change) -> Option<&str> {
    change.from.as_deref().filter(|from| *from != change.path)
}
