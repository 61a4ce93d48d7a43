//! Resolves a path in the folder as a layer shows it.
//!
//! The rules are those of a confined directory descriptor: absolute paths and links, and a `..`
//! above the start, are refused, as WASI requires.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use crate::bounded::{Paths, Sight};
use crate::bounds::Bounds;
use crate::lower::{Kind, Lower, OpenedToRead};
use crate::path::{is_private, join};
use crate::reads::Reads;
use crate::tree::{At, Body, NodeId, ROOT, Tree};

/// Maximum number of links in a path, as in Linux.
const MAX_LINKS: usize = 40;

/// Maximum length of a path in Linux, in bytes.
pub(crate) const MAX_PATH: usize = 4096;

/// Maximum length of a name in Linux, in bytes.
const MAX_NAME: usize = 255;

/// The result of resolving a path.
#[derive(Debug)]
pub(crate) struct Spot {
    /// The directory and the name in it; `None` if the path ends in `.` or `..`.
    pub place: Option<(At, String)>,
    /// The object; `None` if nothing exists there.
    pub found: Option<At>,
    /// True if the path requires a directory, by a trailing slash.
    pub must_be_directory: bool,
}

/// The treatment of a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLink {
    Kept,
    Followed,
    /// Followed, to create a file at its target if none exists. The target must not require a
    /// directory.
    FollowedToMake,
}

impl LastLink {
    pub fn followed(followed: bool) -> Self {
        if followed {
            LastLink::Followed
        } else {
            LastLink::Kept
        }
    }
}

/// The result of resolving a path of plain names.
enum Plain {
    Node(NodeId),
    /// An object of the real folder, at this path.
    Real(String),
}

pub(crate) struct Walk<'a> {
    pub tree: &'a Tree,
    pub lower: &'a Lower,
    pub reads: &'a mut Reads,
    /// What can be reached; `None` for everything.
    pub bounds: Option<&'a dyn Bounds>,
}

impl Walk<'_> {
    pub fn to(&mut self, start: &At, path: &str, link: LastLink) -> io::Result<Spot> {
        check(path)?;
        let mut names: VecDeque<String> = names_of(path).map(str::to_owned).collect();
        let mut must_be_directory = path.ends_with('/');
        let mut stack: Vec<(At, Option<String>)> = vec![(start.clone(), None)];
        let mut links = 0;
        let mut ends_above = false;
        let mut is_no_file = false;
        while let Some(name) = names.pop_front() {
            let last = names.is_empty();
            if name == "." {
                if last {
                    return Ok(Spot {
                        place: None,
                        found: stack.pop().map(|(at, _)| at),
                        must_be_directory: true,
                    });
                }
                continue;
            }
            if name == ".." {
                stack.pop();
                if stack.is_empty() {
                    return Err(Errno::PERM.into());
                }
                ends_above = last;
                continue;
            }
            if last && is_no_file {
                return Err(Errno::ISDIR.into());
            }
            if name.len() > MAX_NAME {
                return Err(Errno::NAMETOOLONG.into());
            }
            let directory = stack.last().map_or(start, |(at, _)| at).clone();
            let found = if is_private(&name) {
                self.reads.looked_up(self.tree, &directory, &name, None);
                None
            } else {
                let found = self.tree.child(self.lower, &directory, &name)?;
                let sight = self.sight(|tree| match &found {
                    Some(found) => Paths::of(tree, found),
                    None => Paths::of(tree, &directory).join(&name),
                });
                let kind = found.as_ref().map(|found| self.tree.kind(found));
                match (sight, kind) {
                    (Sight::Nothing, _) => return Err(Errno::ACCESS.into()),
                    (sight, Some(kind)) if !sight.shows(kind) => {
                        self.hide(|tree| Paths::of(tree, &directory).join(&name));
                        None
                    }
                    _ => {
                        self.reads
                            .looked_up(self.tree, &directory, &name, found.as_ref());
                        found
                    }
                }
            };
            let Some(found) = found else {
                return if last {
                    Ok(Spot {
                        place: Some((directory, name)),
                        found: None,
                        must_be_directory,
                    })
                } else {
                    Err(Errno::NOENT.into())
                };
            };
            match self.tree.kind(&found) {
                Kind::Link if !last || link != LastLink::Kept || must_be_directory => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    let target = self.target(&found)?;
                    check(&target)?;
                    if last && target.ends_with('/') {
                        is_no_file = link == LastLink::FollowedToMake;
                        must_be_directory = true;
                    }
                    for name in names_of(&target).rev() {
                        names.push_front(name.to_owned());
                    }
                }
                Kind::Directory => stack.push((found, Some(name))),
                _ if !last || must_be_directory => return Err(Errno::NOTDIR.into()),
                _ => {
                    return Ok(Spot {
                        place: Some((directory, name)),
                        found: Some(found),
                        must_be_directory,
                    });
                }
            }
        }
        let (found, name) = stack.pop().unwrap_or((start.clone(), None));
        let place = match (stack.pop(), name) {
            (Some((directory, _)), Some(name)) if !ends_above => Some((directory, name)),
            _ => None,
        };
        Ok(Spot {
            place,
            found: Some(found),
            must_be_directory,
        })
    }

    /// Resolves a path of plain names with one system call on the real folder, if nothing on the
    /// way is changed; `ENOENT` if nothing exists there. Returns `None` if that is not possible.
    pub fn quick(&mut self, start: &At, path: &str, follow: bool) -> Option<io::Result<At>> {
        let real = match self.plain(start, path, follow)? {
            Plain::Node(id) => return Some(self.seen(id)),
            Plain::Real(real) => real,
        };
        let sight = self.sight(|tree| Paths::of_real(tree, &real));
        if sight == Sight::Nothing {
            return Some(Err(Errno::ACCESS.into()));
        }
        let stamp = match self.lower.look(&real) {
            Ok(stamp) => stamp,
            Err(error) => return self.missing(real, &error),
        };
        if !sight.shows(stamp.kind) {
            return Some(Err(self.hide(|tree| Paths::of_real(tree, &real))));
        }
        if follow && stamp.kind == Kind::Link {
            return None;
        }
        let found = At::Lower(Arc::from(real), stamp);
        self.reads.note_found(&found);
        Some(Ok(found))
    }

    /// Records a missing path if the error says so. After any other error, the path is resolved
    /// name by name, for the error of that.
    fn missing<T>(&mut self, real: String, error: &io::Error) -> Option<io::Result<T>> {
        if error.raw_os_error() != Some(Errno::NOENT.raw_os_error()) {
            return None;
        }
        self.reads.missing(Arc::from(real));
        Some(Err(Errno::NOENT.into()))
    }

    /// Resolves like [`quick`](Self::quick) for reading: a file of the real folder is opened at
    /// once and examined by its descriptor. The caller records the lookup when it reads the
    /// contents.
    pub fn quick_to_read(
        &mut self,
        start: &At,
        path: &str,
        follow: bool,
    ) -> Option<io::Result<(At, Option<File>)>> {
        let real = match self.plain(start, path, follow)? {
            Plain::Node(id) => return Some(self.seen(id).map(|at| (at, None))),
            Plain::Real(real) => real,
        };
        let sight = self.sight(|tree| Paths::of_real(tree, &real));
        if sight == Sight::Nothing {
            return Some(Err(Errno::ACCESS.into()));
        }
        let OpenedToRead { file, stamp } = match self.lower.open_to_read(&real) {
            Ok(opened) => opened,
            // Only what can be read may fail for its own reasons.
            Err(_) if sight == Sight::Directory => return None,
            Err(error) => return self.missing(real, &error),
        };
        if !sight.shows(stamp.kind) {
            return Some(Err(self.hide(|tree| Paths::of_real(tree, &real))));
        }
        let found = At::Lower(Arc::from(real), stamp);
        if stamp.kind == Kind::File {
            return Some(Ok((found, Some(file))));
        }
        self.reads.note_found(&found);
        Some(Ok((found, None)))
    }

    /// Returns what can be seen at these paths.
    fn sight(&self, paths: impl FnOnce(&Tree) -> Paths) -> Sight {
        match self.bounds {
            None => Sight::Everything,
            Some(bounds) => paths(self.tree).sight(bounds),
        }
    }

    fn seen(&self, id: NodeId) -> io::Result<At> {
        let at = At::Node(id);
        match self.sight(|tree| Paths::of(tree, &at)) {
            Sight::Nothing => Err(Errno::ACCESS.into()),
            sight if sight.shows(self.tree.kind(&at)) => Ok(at),
            _ => Err(self.hide(|tree| Paths::of(tree, &at))),
        }
    }

    /// Notes a hidden object. Returns the error for something that is missing.
    fn hide(&self, paths: impl FnOnce(&Tree) -> Paths) -> io::Error {
        if let Some(bounds) = self.bounds {
            paths(self.tree).note_hidden(bounds);
        }
        Errno::NOENT.into()
    }

    /// Resolves a path of plain names, as far as possible without the real folder.
    fn plain(&self, start: &At, path: &str, follow: bool) -> Option<Plain> {
        if path.len() > MAX_PATH || path.contains('\0') {
            return None;
        }
        let is_plain = |name: &str| {
            !matches!(name, "" | "." | "..") && name.len() <= MAX_NAME && !is_private(name)
        };
        if !path.split('/').all(is_plain) {
            return None;
        }
        let mut at = match start {
            At::Lower(below, _) => return Some(Plain::Real(join(below, path))),
            At::Node(id) => *id,
        };
        let mut rest = path;
        loop {
            let node = self.tree.node(at);
            let (name, more) = rest.split_once('/').unwrap_or((rest, ""));
            match self.tree.children(at).get(name) {
                Some(child) => {
                    let child = (*child)?;
                    let kind = self.tree.node(child).body.kind();
                    if more.is_empty() && !(follow && kind == Kind::Link) {
                        return Some(Plain::Node(child));
                    }
                    if kind != Kind::Directory {
                        return None;
                    }
                    (at, rest) = (child, more);
                }
                None if at == ROOT || node.link.is_some() => {
                    return Some(Plain::Real(join(&node.origin.as_ref()?.path, rest)));
                }
                None => return None,
            }
        }
    }

    /// Returns the target of a link.
    pub fn target(&self, link: &At) -> io::Result<String> {
        let path = match link {
            At::Lower(path, _) => path,
            At::Node(id) => {
                let node = self.tree.node(*id);
                match (&node.body, &node.origin) {
                    (Body::Link(Some(target)), _) => return Ok(target.to_string()),
                    (Body::Link(None), Some(origin)) => &origin.path,
                    _ => return Err(Errno::INVAL.into()),
                }
            }
        };
        self.lower.read_link(path)
    }
}

fn check(path: &str) -> io::Result<()> {
    if path.is_empty() {
        return Err(Errno::NOENT.into());
    }
    if path.len() > MAX_PATH {
        return Err(Errno::NAMETOOLONG.into());
    }
    if path.starts_with('/') {
        return Err(Errno::PERM.into());
    }
    if path.contains('\0') {
        return Err(Errno::INVAL.into());
    }
    Ok(())
}

fn names_of(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}
