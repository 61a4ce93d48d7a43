//! A workspace in memory.

use std::path::Path;

use airlock_model::effects::ObjectKind;
use airlock_rules::{Entry, Inside, Led, Links, OfGit, Surroundings};

/// A workspace: each object's path, a directory's with a `/` at its end and a link's with ` -> `
/// and where it leads.
#[derive(Default)]
pub struct Workspace {
    pub above: &'static str,
    paths: Vec<String>,
    pub links: Links,
    pub of_git: OfGit,
    /// Whose insides nobody has looked through.
    pub huge: Vec<&'static str>,
}

impl Workspace {
    pub fn of<S: AsRef<str>>(objects: impl IntoIterator<Item = S>) -> Self {
        let mut workspace = Self::default();
        workspace.links.is_all = true;
        workspace.of_git.is_all = true;
        for object in objects {
            let object = object.as_ref();
            let path = match object.split_once(" -> ") {
                Some((link, target)) => {
                    let both = (link.to_owned(), target.to_owned());
                    workspace.links.links.push(both);
                    link
                }
                None => object,
            };
            workspace.paths.push(path.to_owned());
        }
        workspace
    }
}

impl Surroundings for Workspace {
    fn inside(&self, directory: &str) -> Inside {
        let entries = self.paths.iter().filter_map(|path| {
            let below = match directory {
                "" => path,
                directory => path.strip_prefix(directory)?.strip_prefix('/')?,
            };
            let is_link = self.links.links.iter().any(|(link, _)| link == path);
            let object = match path.ends_with('/') {
                true => ObjectKind::Directory,
                false if is_link => ObjectKind::Link,
                false => ObjectKind::File,
            };
            let path = below.trim_end_matches('/').to_owned();
            (!path.is_empty()).then(|| Entry {
                executable: path.ends_with(".sh"),
                path,
                object,
            })
        });
        Inside {
            entries: entries.collect(),
            is_all: !self.huge.contains(&directory),
        }
    }

    fn links(&self) -> &Links {
        &self.links
    }

    /// `/alias` is another path of the workspace.
    fn led(&self, outside: &Path) -> Led {
        match outside.strip_prefix("/alias") {
            Ok(below) => Led::Inside(below.to_str().unwrap().to_owned()),
            Err(_) => Led::Outside(outside.to_owned()),
        }
    }

    fn of_git(&self) -> &OfGit {
        &self.of_git
    }

    fn has(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let is_it = |it: &String| it == path || it.starts_with(&below);
        self.paths.iter().any(is_it)
    }

    fn above(&self) -> &str {
        self.above
    }
}
