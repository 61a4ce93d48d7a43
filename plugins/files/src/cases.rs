//! Cases from public reports about other programs' tools for files. Most name their report.

mod edits;
mod endings;
mod files;
mod patches;
mod properties;

use crate::change;
use crate::edit;
use crate::params::Edit;
use crate::plan::carry_out;
use crate::text::Text;
use crate::workspace::tests::Sandbox;

/// Returns the file after an edit, and the notes about it.
fn noted(file: &str, old: &str, new: &str) -> Result<(String, Vec<String>), String> {
    let edit = Edit {
        old_text: old.into(),
        new_text: new.into(),
        replace_all: false,
    };
    let mut text = Text::decode(file.into()).unwrap();
    let notes = edit::edit(&mut text, "a", &[edit])?;
    Ok((text.encode(), notes))
}

/// Returns the file after an edit.
fn edited(file: &str, old: &str, new: &str) -> Result<String, String> {
    noted(file, old, new).map(|(file, _)| file)
}

/// Returns the file after several edits.
fn edited_by(file: &str, edits: &[(&str, &str)]) -> Result<String, String> {
    let edit = |(old, new): &(&str, &str)| Edit {
        old_text: (*old).into(),
        new_text: (*new).into(),
        replace_all: false,
    };
    let mut text = Text::decode(file.into()).unwrap();
    edit::edit(&mut text, "a", &edits.iter().map(edit).collect::<Vec<_>>())?;
    Ok(text.encode())
}

/// Returns the file after an edit of every occurrence.
fn replaced(file: &str, old: &str, new: &str) -> Result<String, String> {
    let edit = Edit {
        old_text: old.into(),
        new_text: new.into(),
        replace_all: true,
    };
    let mut text = Text::decode(file.into()).unwrap();
    edit::edit(&mut text, "a", &[edit])?;
    Ok(text.encode())
}

/// Applies a patch to a workspace.
fn patch(sandbox: &Sandbox, patch: &str) -> Result<(), String> {
    let workspace = sandbox.workspace();
    let preview = change::patch_files(&workspace, patch).map_err(|it| it.to_string())?;
    for action in preview.actions() {
        carry_out(&workspace, action.plan(), 1).map_err(|it| it.to_string())?;
    }
    Ok(())
}

/// Returns the file `a` after the hunks of a patch.
fn patched(file: &str, hunks: &str) -> Result<String, String> {
    let sandbox = Sandbox::with(&[("a", file)]);
    let text = format!("*** Begin Patch\n*** Update File: a\n{hunks}\n*** End Patch");
    patch(&sandbox, &text).map(|()| sandbox.read("a"))
}
