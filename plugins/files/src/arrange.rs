//! The previews of the tools that move, copy, delete and make files as a whole.

use airlock_tool::{Call, Error, Preview};

use crate::change::{Proposal, free};
use crate::params::{DeleteFile, MakeDirectory, Transfer};
use crate::path::{self, shown};
use crate::plan::{Operation, Plan};
use crate::workspace::{Kind, Workspace};

pub(crate) fn move_file(params: Transfer, _call: &Call) -> Result<Preview<Plan>, Error> {
    relocate(&Workspace::of_session()?, &params)
}

pub(crate) fn relocate(workspace: &Workspace, params: &Transfer) -> Result<Preview<Plan>, Error> {
    let (from, to, _) = transfer(workspace, params)?;
    let before = workspace.digest(&from)?.unwrap_or_default();
    let (old, new) = (shown(&from), shown(&to));
    let mut proposal = Proposal::new();
    proposal.add(
        format!("Move `{old}` to `{new}`."),
        Operation::Move { from, to, before },
    );
    proposal.preview(format!("Move {old} to {new}"))
}

pub(crate) fn copy_file(params: Transfer, _call: &Call) -> Result<Preview<Plan>, Error> {
    copy(&Workspace::of_session()?, &params)
}

pub(crate) fn copy(workspace: &Workspace, params: &Transfer) -> Result<Preview<Plan>, Error> {
    let (from, to, kind) = transfer(workspace, params)?;
    let (old, new) = (shown(&from), shown(&to));
    let mut proposal = Proposal::new();
    let copied = |from: &str, to: String| -> Result<_, Error> {
        let before = workspace.digest(from)?.unwrap_or_default();
        Ok(Operation::Copy {
            from: from.to_owned(),
            to,
            before,
        })
    };
    if kind == Kind::File {
        proposal.add(format!("Copy `{old}` to `{new}`."), copied(&from, to)?);
        return proposal.preview(format!("Copy {old} to {new}"));
    }
    let tree = workspace.tree(&from)?;
    let files = tree.iter().filter(|(_, kind)| *kind == Kind::File).count();
    let line = format!("Copy the directory `{old}` with {files} files to `{new}`.");
    proposal.add(line, Operation::MakeDirectory { path: to.clone() });
    let mut left = 0;
    for (path, kind) in tree {
        let target = format!("{to}{}", &path[from.len()..]);
        match kind {
            Kind::File => proposal.add_silently(copied(&path, target)?),
            Kind::Directory => proposal.add_silently(Operation::MakeDirectory { path: target }),
            Kind::Link | Kind::Other => left += 1,
        }
    }
    if left > 0 {
        proposal.note(format!(
            "{left} symbolic links and special files are not copied."
        ));
    }
    proposal.preview(format!("Copy {old} to {new}"))
}

/// Returns the paths of a move or a copy, if it is possible, and the kind of the source.
fn transfer(workspace: &Workspace, params: &Transfer) -> Result<(String, String, Kind), Error> {
    let (from, to) = (
        path::file(&params.source)?,
        path::file(&params.destination)?,
    );
    workspace.check_changeable(&from)?;
    let Some(kind) = workspace.kind(&from)? else {
        return Err(Error::tool(format!("`{}` doesn't exist.", shown(&from))));
    };
    if kind == Kind::Other {
        return Err(Error::tool(format!(
            "`{}` isn't a regular file.",
            shown(&from)
        )));
    }
    if path::is_in(&to, &from) && from != to {
        return Err(Error::tool(
            "A directory can't be moved or copied into itself.",
        ));
    }
    if workspace.kind(&to)? == Some(Kind::Directory) && from != to {
        let inside = path::join(&to, path::split(&from).1);
        return Err(Error::tool(format!(
            "`{}` is a directory: to get it there, give the new path, such as `{}`.",
            shown(&to),
            shown(&inside)
        )));
    }
    free(workspace, &to)?;
    Ok((from, to, kind))
}

pub(crate) fn delete_file(params: DeleteFile, _call: &Call) -> Result<Preview<Plan>, Error> {
    delete(&Workspace::of_session()?, &params)
}

pub(crate) fn delete(workspace: &Workspace, params: &DeleteFile) -> Result<Preview<Plan>, Error> {
    let path = path::file(&params.path)?;
    // A link itself can be deleted, but nothing behind one.
    if let (parent, _) = path::split(&path)
        && !parent.is_empty()
    {
        workspace.check_changeable(parent)?;
    }
    let shown = shown(&path);
    let Some(kind) = workspace.kind(&path)? else {
        return Err(Error::tool(format!("`{shown}` doesn't exist.")));
    };
    let mut line = format!("Delete `{shown}`.");
    if kind == Kind::Directory {
        let within = workspace.tree(&path)?;
        if !within.is_empty() && !params.recursive {
            return Err(Error::tool(format!(
                "`{shown}` is a directory and not empty: set `recursive` to delete it with everything in it."
            )));
        }
        let files = within
            .iter()
            .filter(|(_, kind)| *kind != Kind::Directory)
            .count();
        line = format!("Delete the directory `{shown}` with {files} files.");
    }
    let before = workspace.digest(&path)?.unwrap_or_default();
    let mut proposal = Proposal::new();
    proposal.add(line, Operation::Delete { path, before });
    proposal.preview(format!("Delete {shown}"))
}

pub(crate) fn make_directory(params: MakeDirectory, _call: &Call) -> Result<Preview<Plan>, Error> {
    let workspace = Workspace::of_session()?;
    let path = path::file(&params.path)?;
    let shown = shown(&path);
    workspace.check_changeable(&path)?;
    match workspace.kind(&path)? {
        Some(Kind::Directory) => {
            return Ok(Preview::new(format!(
                "The directory `{shown}` exists already."
            )));
        }
        Some(_) => {
            return Err(Error::tool(format!(
                "`{shown}` exists already, and is a file."
            )));
        }
        None => {}
    }
    let mut proposal = Proposal::new();
    let line = format!("Make the directory `{shown}`.");
    proposal.add(line, Operation::MakeDirectory { path });
    proposal.preview(format!("Make directory {shown}"))
}
