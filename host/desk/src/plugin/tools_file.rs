//! Files that give a program its own tools: a TOML file that names the program, and defines each
//! tool by a command line.

use std::path::{Path, PathBuf};

use airlock_host::regular::read_regular_file;
use airlock_host::tool::command::{CommandTool, CommandTools};
use airlock_host::tool::with_command_tools;
use airlock_host::wants::{Wants, with_wants};
use serde::Deserialize;

use super::{MAX_PLUGIN_BYTES, module};
use crate::Error;
use crate::configuration::{PathText, Problem};

/// The maximum size of a tools file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The contents of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The program's file, relative to this file's folder.
    program: PathText,
    /// The program's wants; without them, only grants limit it.
    wants: Option<Wants>,
    /// Its tools.
    #[serde(rename = "tool", default)]
    tools: Vec<CommandTool>,
}

/// Returns whether a path is that of a file that gives a program its own tools.
pub fn is_tools_file(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Returns the path of the program that a tools file names. `None` for other files, and if the file
/// has an error.
pub fn program(path: &Path) -> Option<PathBuf> {
    let file = is_tools_file(path).then(|| read(path))?.ok()?;
    Some(below(path, &file))
}

/// Returns the program as a component that has the tools.
///
/// # Errors
/// Fails if the file has an error, or names no program that can be read.
pub fn component(path: &Path) -> Result<Vec<u8>, Error> {
    let file = read(path)?;
    let program = below(path, &file);
    let component = match module::component_of(&program, MAX_PLUGIN_BYTES)? {
        Some(component) => component,
        None => read_regular_file(&program, MAX_PLUGIN_BYTES).map_err(|error| {
            let message = format!("its program {} can't be read: {error}", program.display());
            Error::ToolsFile(Problem::of_file(path, message))
        })?,
    };
    let tools = CommandTools::try_from(file.tools);
    let tools = tools.map_err(|error| Error::ToolsFile(Problem::of_file(path, error)))?;
    let component = with_command_tools(component, &tools);
    let Some(wants) = &file.wants else {
        return Ok(component);
    };
    let checked = wants.check();
    checked.map_err(|error| Error::ToolsFile(Problem::of_file(path, error)))?;
    Ok(with_wants(component, wants))
}

fn below(path: &Path, file: &File) -> PathBuf {
    file.program.below(path.parent().unwrap_or(Path::new("")))
}

fn read(path: &Path) -> Result<File, Error> {
    let whole = |message: String| Error::ToolsFile(Problem::of_file(path, message));
    let bytes = read_regular_file(path, MAX_BYTES);
    let bytes = bytes.map_err(|error| whole(format!("it can't be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| whole("it is not UTF-8".to_owned()))?;
    toml::from_str(&text).map_err(|error| {
        let problem = Problem::at(path, &text, error.span(), error.message());
        Error::ToolsFile(problem)
    })
}
