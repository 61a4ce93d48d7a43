//! The previews of the tools that change the text of files.

use airlock_tool::{Action, Call, Error, Preview};

use crate::diff;
use crate::edit;
use crate::hunks;
use crate::params::{ApplyPatch, EditFile, EditValues, WriteFile};
use crate::patch::{self, FileChange};
use crate::path::{self, shown};
use crate::plan::{Operation, Plan};
use crate::text::Text;
use crate::values;
use crate::workspace::{Kind, Workspace};

/// The most bytes of a label, below the host's limit.
const MAX_LABEL: usize = 1000;

/// The changes that a preview proposes, with what it says about them.
#[derive(Default)]
pub(crate) struct Proposal {
    plan: Plan,
    parts: Vec<String>,
    notes: Vec<String>,
    room: usize,
}

impl Proposal {
    pub(crate) fn new() -> Self {
        Self {
            room: diff::room(),
            ..Self::default()
        }
    }

    /// Adds an operation that a line describes.
    pub(crate) fn add(&mut self, line: String, operation: Operation) {
        self.parts.push(line);
        self.plan.operations.push(operation);
    }

    /// Adds an operation that the lines of others describe.
    pub(crate) fn add_silently(&mut self, operation: Operation) {
        self.plan.operations.push(operation);
    }

    /// Adds the new text of a file.
    pub(crate) fn write(&mut self, path: &str, old: Option<&str>, new: &str) {
        let verb = old.map_or("Create", |_| "Change");
        let mut part = format!("{verb} `{}`:", shown(path));
        if self.room > 0 {
            let shown = diff::unified_diff(old.unwrap_or_default(), new, &mut self.room);
            part = format!("{part}\n{}", shown.replace('\r', ""));
        }
        self.add(part, Operation::write(path, old, new));
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.plan.operations.is_empty()
    }

    pub(crate) fn files(&self) -> usize {
        self.plan.operations.len()
    }

    /// Returns the preview, with one action.
    pub(crate) fn preview(self, mut label: String) -> Result<Preview<Plan>, Error> {
        self.plan.check_size()?;
        if label.len() > MAX_LABEL {
            label.truncate(label.floor_char_boundary(MAX_LABEL));
            label.push('…');
        }
        let mut paragraphs = self.parts;
        paragraphs.extend(self.notes);
        Ok(Preview::new(paragraphs.join("\n\n")).stage(Action::new(label, self.plan)))
    }
}

pub(crate) fn write_file(params: WriteFile, _call: &Call) -> Result<Preview<Plan>, Error> {
    let path = path::file(&params.path)?;
    write(&Workspace::of_session()?, &path, &params.content)
}

pub(crate) fn write(
    workspace: &Workspace,
    path: &str,
    content: &str,
) -> Result<Preview<Plan>, Error> {
    workspace.check_changeable(path)?;
    let mut proposal = Proposal::new();
    let shown = shown(path);
    if workspace.kind(path)?.is_none() {
        proposal.write(path, None, content);
        return proposal.preview(format!("Create {shown}"));
    }
    let old = workspace.text(path)?;
    let mut new = content.to_owned();
    let converts = old.is_crlf() && !content.contains('\r') && content.contains('\n');
    let marks = old.has_bom() && !content.starts_with('\u{feff}');
    if converts {
        new = new.replace('\n', "\r\n");
        proposal.note("The lines end in CRLF, as in the file until now.".to_owned());
    }
    if marks {
        new.insert(0, '\u{feff}');
        proposal.note("The file keeps its byte order mark.".to_owned());
    }
    let old = old.encode();
    if old == new {
        return Ok(Preview::new(format!("`{shown}` has this content already.")));
    }
    proposal.write(path, Some(&old), &new);
    proposal.preview(format!("Overwrite {shown}"))
}

pub(crate) fn edit_file(params: EditFile, _call: &Call) -> Result<Preview<Plan>, Error> {
    let path = path::file(&params.path)?;
    let change = |text: &mut Text| edit::edit(text, &path, &params.edits);
    propose(&Workspace::of_session()?, &path, change)
}

pub(crate) fn edit_values(params: EditValues, _call: &Call) -> Result<Preview<Plan>, Error> {
    let path = path::file(&params.path)?;
    let change = |text: &mut Text| values::edit(text, &path, &params.operations);
    propose(&Workspace::of_session()?, &path, change)
}

/// Returns the preview of a change to the text of one file.
fn propose(
    workspace: &Workspace,
    path: &str,
    change: impl FnOnce(&mut Text) -> Result<Vec<String>, String>,
) -> Result<Preview<Plan>, Error> {
    workspace.check_changeable(path)?;
    let mut text = workspace.text(path)?;
    let old = text.encode();
    let notes = change(&mut text).map_err(Error::tool)?;
    let new = text.encode();
    if old == new {
        return Ok(Preview::new(format!(
            "Nothing would change in `{}`.",
            shown(path)
        )));
    }
    let mut proposal = Proposal::new();
    proposal.write(path, Some(&old), &new);
    proposal.notes = notes;
    proposal.preview(format!("Edit {}", shown(path)))
}

pub(crate) fn apply_patch(params: ApplyPatch, _call: &Call) -> Result<Preview<Plan>, Error> {
    patch_files(&Workspace::of_session()?, &params.patch)
}

pub(crate) fn patch_files(workspace: &Workspace, patch: &str) -> Result<Preview<Plan>, Error> {
    let changes = patch::parse(patch)?;
    let mut proposal = Proposal::new();
    let mut problems = Vec::new();
    let mut names = Vec::new();
    for change in changes {
        names.push(shown(change.path()));
        let place = shown(change.path());
        match patch_file(workspace, change, &mut proposal) {
            Ok(()) => {}
            Err(Error::Tool(problem)) => problems.push(format!("`{place}`: {problem}")),
            Err(error) => return Err(error),
        }
    }
    if !problems.is_empty() {
        return Err(Error::tool(format!(
            "The patch doesn't fit, so nothing of it would be applied.\n{}",
            problems.join("\n")
        )));
    }
    if proposal.is_empty() {
        return Ok(Preview::new(
            "Nothing would change: the files are so already.",
        ));
    }
    let label = match names.as_slice() {
        [name] => format!("Patch {name}"),
        names => format!("Patch {} and {} more", names[0], names.len() - 1),
    };
    proposal.preview(label)
}

fn patch_file(
    workspace: &Workspace,
    change: FileChange,
    proposal: &mut Proposal,
) -> Result<(), Error> {
    let path = path::file(change.path())?;
    workspace.check_changeable(&path)?;
    let kind = workspace.kind(&path)?;
    match change {
        FileChange::Add { .. } if kind.is_some() => Err(Error::tool(
            "it exists already; use `*** Update File:`, or `write_file`.",
        )),
        FileChange::Add { contents, .. } => {
            proposal.write(&path, None, &contents);
            Ok(())
        }
        FileChange::Delete { .. } if kind == Some(Kind::Directory) => {
            Err(Error::tool("it is a directory; use `delete_file`."))
        }
        FileChange::Delete { .. } => match workspace.digest(&path)? {
            None => Err(Error::tool("it doesn't exist.")),
            Some(before) => {
                let line = format!("Delete `{}`.", shown(&path));
                proposal.add(line, Operation::Delete { path, before });
                Ok(())
            }
        },
        FileChange::Update { to, hunks, .. } => {
            let mut text = workspace.text(&path)?;
            let old = text.encode();
            let notes = hunks::apply(&mut text, &hunks).map_err(Error::tool)?;
            let new = text.encode();
            proposal.notes.extend(notes);
            let to = to
                .map(|to| path::file(&to))
                .transpose()?
                .filter(|to| *to != path);
            if let Some(to) = &to {
                free(workspace, to)?;
                let before = workspace.digest(&path)?.unwrap_or_default();
                let line = format!("Move `{}` to `{}`.", shown(&path), shown(to));
                let (from, to) = (path.clone(), to.clone());
                proposal.add(line, Operation::Move { from, to, before });
            }
            if old != new {
                proposal.write(to.as_deref().unwrap_or(&path), Some(&old), &new);
            }
            Ok(())
        }
    }
}

/// Returns an error if there is something at the path.
pub(crate) fn free(workspace: &Workspace, path: &str) -> Result<(), Error> {
    workspace.check_changeable(path)?;
    match workspace.kind(path)? {
        None => Ok(()),
        Some(_) => Err(Error::tool(format!(
            "`{}` exists already, and nothing is overwritten: delete it first, or give another path.",
            shown(path)
        ))),
    }
}
