//! `airlock new`: a project to begin with.

use std::path::PathBuf;

use airlock_author::new::{NewLanguage, NewOptions, Project, new as new_project};
use airlock_render::{Block, Line, Role};
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

/// The arguments of the command.
pub struct Request {
    pub name: String,
    pub language: NewLanguage,
    /// Where it goes, if not into a folder of its name.
    pub folder: Option<PathBuf>,
    /// A clone of Airlock, if not that of AIRLOCK_SDK.
    pub sdk: Option<PathBuf>,
}

pub fn new(request: &Request, out: &mut Output) -> Result<Exit, Failure> {
    let named = std::env::var_os("AIRLOCK_SDK").filter(|named| !named.is_empty());
    let checkout = request.sdk.clone().or(named.map(PathBuf::from));
    let project = new_project(NewOptions {
        name: &request.name,
        language: request.language,
        folder: request.folder.as_deref(),
        checkout: checkout.as_deref(),
    })?;
    out.show(&block(&project));
    out.json(&json!({
        "path": project.folder.display().to_string(),
        "files": project.files,
        "commands": project.commands,
    }));
    Ok(Exit::Done)
}

fn block(project: &Project) -> Block {
    let path = project.folder.display().to_string();
    let listed = |block: Block, line: &str| block.line(Line::from(line).indented(2));
    let block = Block::from(Line::new().with_role(Role::Title, path));
    let files = project.files.iter();
    let block = files.fold(block, |block, file| listed(block, file));
    let block = block.line("").line(format!("Next ({}):", project.needs));
    let commands = project.commands.iter();
    commands.fold(block, |block, command| listed(block, command))
}
