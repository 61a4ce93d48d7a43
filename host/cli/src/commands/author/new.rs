//! `airlock new`: a project to begin with.

use std::path::PathBuf;

use airlock_author::new::{Order, Project, new as new_project};
use airlock_render::{Block, Line, Role};
use serde_json::json;

use crate::args::NewArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;

pub fn new(args: &NewArgs, out: &mut Output) -> Result<Exit, Failure> {
    let named = std::env::var_os("AIRLOCK_SDK").filter(|named| !named.is_empty());
    let checkout = args.sdk.clone().or(named.map(PathBuf::from));
    let project = new_project(Order {
        name: &args.name,
        language: args.lang.into(),
        folder: args.path.as_deref(),
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
