//! The rest of the changes of a layer, after a part of them, as steps that can be done later.

use std::io;
use std::path::Path;

use airlock_model::effects::{Change, ChangeKind, Choice, Effects, Facts, ObjectKind, Selection};
use airlock_workspace::View;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use super::WritableFolder;
use super::effects::contents;

/// A step towards the reviewed changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    Folder {
        path: String,
        mode: u32,
    },
    Rename {
        from: String,
        path: String,
    },
    Write {
        path: String,
        /// In base64.
        contents: String,
        mode: u32,
    },
    Link {
        path: String,
        target: String,
    },
    Mode {
        path: String,
        mode: u32,
    },
    RemoveFile {
        path: String,
    },
    RemoveFolder {
        path: String,
    },
}

/// Returns the steps from the selected part of the reviewed changes to all of them, except where a
/// person wrote other text. `layer` has all the changes.
///
/// # Errors
/// The reason why they can't be done later, as a clause.
pub(crate) fn rest_of(
    selection: &Selection,
    reviewed: &Effects,
    layer: &View,
) -> Result<Vec<Step>, String> {
    let mut rest = Rest::default();
    for (at, choice) in selection.choices() {
        let change = &reviewed.changes[at];
        match (choice, &change.after) {
            (Choice::Text(_), _) => {}
            (_, None) => rest.removals.push(removal(change)),
            (choice, Some(after)) => {
                let is_left_out = *choice == Choice::LeaveOut;
                rest.add(change, after, is_left_out, layer)?;
            }
        }
    }
    // From the inside out.
    rest.removals.reverse();
    let steps = [
        rest.in_the_way,
        rest.folders,
        rest.renames,
        rest.others,
        rest.removals,
    ];
    Ok(steps.concat())
}

/// Steps, in the order in which they are possible.
#[derive(Default)]
struct Rest {
    in_the_way: Vec<Step>,
    folders: Vec<Step>,
    renames: Vec<Step>,
    others: Vec<Step>,
    removals: Vec<Step>,
}

impl Rest {
    fn add(
        &mut self,
        change: &Change,
        after: &Facts,
        is_left_out: bool,
        layer: &View,
    ) -> Result<(), String> {
        let path = || change.path.clone();
        let before = kind(change.before.as_ref());
        let is_moved = change.kind == ChangeKind::Renamed;
        if let (Some(from), true) = (change.from.clone(), is_moved && is_left_out) {
            self.renames.push(Step::Rename { from, path: path() });
        } else if before.is_some_and(|it| it != after.object || it == ObjectKind::Link) {
            self.in_the_way.push(removal(change));
        }
        let mode = after.mode;
        let step = match after.object {
            ObjectKind::Directory | ObjectKind::File if has_same_contents(change) => {
                Step::Mode { path: path(), mode }
            }
            ObjectKind::Directory => {
                self.folders.push(Step::Folder { path: path(), mode });
                return Ok(());
            }
            ObjectKind::Link if is_moved => return Ok(()),
            ObjectKind::Link => Step::Link {
                path: path(),
                target: after.target.clone().unwrap_or_default(),
            },
            ObjectKind::File => {
                let read = contents(layer, &change.path, after.size);
                let read = read.ok_or_else(|| format!("{} can't be read", change.path))?;
                let contents = BASE64_STANDARD.encode(read);
                let path = path();
                Step::Write {
                    path,
                    contents,
                    mode,
                }
            }
            _ => {
                return Err(format!("{} is not a file, a folder or a link", change.path));
            }
        };
        self.others.push(step);
        Ok(())
    }
}

fn kind(facts: Option<&Facts>) -> Option<ObjectKind> {
    facts.map(|facts| facts.object)
}

fn has_same_contents(change: &Change) -> bool {
    let of = |facts: &Option<Facts>| {
        let facts = facts.as_ref();
        facts.map(|it| (it.object, it.digest.clone()))
    };
    change.before.is_some() && of(&change.before) == of(&change.after)
}

fn removal(change: &Change) -> Step {
    let path = change.path.clone();
    match kind(change.before.as_ref()) {
        Some(ObjectKind::Directory) => Step::RemoveFolder { path },
        _ => Step::RemoveFile { path },
    }
}

impl Step {
    /// Does the step.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn run(&self, folder: &WritableFolder) -> io::Result<()> {
        let set_mode = |path: &str, mode| folder.set_mode(Path::new(path), mode);
        match self {
            Step::Folder { path, mode } => {
                folder.create_folder(Path::new(path))?;
                set_mode(path, *mode)
            }
            Step::Rename { from, path } => folder.rename(Path::new(from), Path::new(path)),
            Step::Write {
                path,
                contents,
                mode,
            } => {
                let contents = BASE64_STANDARD.decode(contents);
                folder.write(Path::new(path), &contents.map_err(io::Error::other)?)?;
                set_mode(path, *mode)
            }
            Step::Link { path, target } => folder.create_link(target, Path::new(path)),
            Step::Mode { path, mode } => set_mode(path, *mode),
            Step::RemoveFile { path } => folder.remove_file(Path::new(path)),
            Step::RemoveFolder { path } => folder.remove_folder(Path::new(path)),
        }
    }

    /// The path that it changes.
    pub fn path(&self) -> &str {
        match self {
            Step::Folder { path, .. }
            | Step::Rename { path, .. }
            | Step::Write { path, .. }
            | Step::Link { path, .. }
            | Step::Mode { path, .. }
            | Step::RemoveFile { path }
            | Step::RemoveFolder { path } => path,
        }
    }
}
