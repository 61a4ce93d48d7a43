//! Changes that make sense only together with others.

use std::collections::{BTreeSet, HashMap};

use crate::Change;
use crate::path::{join, parent_and_name};
use crate::stamp::Kind;

/// The outline of a change: the place that it frees, and the place that it takes.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'a> {
    /// The path; for a removed object its old one.
    pub path: &'a str,
    /// The previous path, if the object itself was moved.
    pub moved_from: Option<&'a str>,
    /// The kind of object before the change; `None` if it is new.
    pub before: Option<Kind>,
    /// The kind of object after the change; `None` if it is deleted.
    pub after: Option<Kind>,
}

impl<'a> From<&'a Change> for Outline<'a> {
    fn from(change: &'a Change) -> Self {
        Self {
            path: &change.path,
            moved_from: change.from.as_deref().filter(|_| change.is_moved),
            before: change.before.as_ref().map(|it| it.kind),
            after: change.after.as_ref().map(|it| it.kind),
        }
    }
}

impl<'a> Outline<'a> {
    /// Returns the path where an object leaves its place.
    fn departure(&self) -> Option<&'a str> {
        let removed = self.before.is_some() && self.after.is_none();
        self.moved_from.or(removed.then_some(self.path))
    }

    /// Returns the path where an object comes to a place.
    fn arrival(&self) -> Option<&'a str> {
        let comes = self.before.is_none() || self.moved_from.is_some();
        (comes && self.after.is_some()).then_some(self.path)
    }
}

/// For each of some changes, the others without which it can't be made: a new file needs its new
/// directory, a file that is moved to the place of another needs the removal of that one, and the
/// removal of a directory needs the removal of everything in it.
#[derive(Debug, Clone)]
pub struct Needs {
    /// Sorted.
    needs: Vec<Vec<usize>>,
    needed_by: Vec<Vec<usize>>,
}

impl Needs {
    /// Finds the needs of the changes of one layer. They are named by their indices.
    pub fn of(changes: &[Outline<'_>]) -> Self {
        let mut needs = vec![Vec::new(); changes.len()];
        let places = Places::of(changes);
        for (at, change) in changes.iter().enumerate() {
            let all = &mut needs[at];
            if change.after.is_some() {
                let above = above(change.path).find_map(|it| places.arrivals.get(it));
                all.extend(above);
            }
            let vacated = change.arrival().and_then(|path| places.vacated.get(path));
            all.extend(vacated.into_iter().flatten());
        }
        for (at, change) in changes.iter().enumerate() {
            let Some(path) = change.departure() else {
                continue;
            };
            for directory in above(path).filter_map(|it| places.removed.get(it)) {
                needs[*directory].push(at);
            }
        }
        let mut needed_by = vec![Vec::new(); changes.len()];
        for (at, needs) in needs.iter_mut().enumerate() {
            needs.retain(|other| *other != at);
            needs.sort_unstable();
            needs.dedup();
            needs.iter().for_each(|other| needed_by[*other].push(at));
        }
        Self { needs, needed_by }
    }

    /// Returns these changes and all that they need.
    pub fn with_needed(&self, changes: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        closure(&self.needs, changes)
    }

    /// Returns these changes and all that need them.
    pub fn with_dependent(&self, changes: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        closure(&self.needed_by, changes)
    }
}

fn closure(edges: &[Vec<usize>], from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut left: Vec<usize> = from.into_iter().collect();
    while let Some(at) = left.pop() {
        if let Some(edges) = edges.get(at)
            && found.insert(at)
        {
            left.extend(edges);
        }
    }
    found
}

/// The places that changes free and take.
#[derive(Default)]
struct Places<'a> {
    arrivals: HashMap<&'a str, usize>,
    /// By the path where the object would be without the change, whether or not the directories
    /// above it are moved.
    vacated: HashMap<String, Vec<usize>>,
    /// Removed directories.
    removed: HashMap<&'a str, usize>,
}

impl<'a> Places<'a> {
    fn of(changes: &[Outline<'a>]) -> Self {
        let mut places = Self::default();
        let mut moved = HashMap::new();
        for (at, change) in changes.iter().enumerate() {
            if let Some(path) = change.arrival() {
                places.arrivals.insert(path, at);
            }
            if let Some(from) = change.moved_from {
                moved.insert(from, change.path);
            }
            if (change.before, change.after) == (Some(Kind::Directory), None) {
                places.removed.insert(change.path, at);
            }
        }
        for (at, change) in changes.iter().enumerate() {
            let Some(path) = change.departure() else {
                continue;
            };
            places.vacate(path.to_owned(), at);
            for directory in above(path) {
                if let Some(now) = moved.get(directory) {
                    places.vacate(join(now, &path[directory.len() + 1..]), at);
                }
            }
        }
        places
    }

    fn vacate(&mut self, path: String, at: usize) {
        self.vacated.entry(path).or_default().push(at);
    }
}

/// Returns the directories above a path, the nearest first, without the folder itself.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let mut path = path;
    std::iter::from_fn(move || {
        path = parent_and_name(path).0;
        (!path.is_empty()).then_some(path)
    })
}
