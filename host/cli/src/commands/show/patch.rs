//! `airlock show --patch`: prints the changes of an action as a patch.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;

use airlock_desk::store::{self, StoreOptions, WhenMissing};
use airlock_host::effects::NoPatch;
use airlock_host::pending::ActionState;
use airlock_host::store::ActionRecord;
use airlock_render::Block;

use crate::commands::{recovered, rehearsed};
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

pub async fn patch(
    id: &str,
    store: &StoreOptions,
    verbose: u8,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let record = recovered::find(&store, id).await?;
    let effects = rehearsed::effects(&store, &record, verbose).await?;
    let patch = match effects {
        Some(effects) => effects.git_patch(|directory| files_in(&record, directory)),
        None => Err(NoPatch::Unverified),
    };
    let patch = patch.map_err(|why| {
        let message = format!(
            "there is no patch of action {}: {why}",
            record.action.id.short()
        );
        Failure::host(message).quoting()
    })?;
    if io::stdout().is_terminal() {
        out.page(&Block::new().text(&patch));
    } else if let Some(lines) = patch.strip_suffix('\n') {
        out.write(lines);
    }
    Ok(Exit::Done)
}

/// Returns the paths of all files and links in a directory that a pending action renames.
fn files_in(record: &ActionRecord, directory: &str) -> io::Result<Vec<String>> {
    let workspace = match (&record.action.workspace, record.state) {
        (Some(workspace), ActionState::Pending) => workspace,
        _ => return Err(io::Error::other("the action is not pending")),
    };
    let mut files = Vec::new();
    list(workspace, directory, &mut files)?;
    Ok(files)
}

fn list(workspace: &Path, directory: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(workspace.join(directory))? {
        let entry = entry?;
        let not_text = |_| io::Error::other("a name is not UTF-8");
        let name = entry.file_name().into_string().map_err(not_text)?;
        let path = format!("{directory}/{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list(workspace, &path, files)?;
        } else if kind.is_file() || kind.is_symlink() {
            files.push(path);
        }
    }
    Ok(())
}
