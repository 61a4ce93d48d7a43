//! What the tool does, whoever runs it: it reads a directory, and says how files would be renamed
//! whose names begin with a given text. It changes nothing.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the tool is called, wherever it has a name.
pub const NAME: &str = "rename_prefix";

/// What a model reads about it.
pub const DESCRIPTION: &str = "Shows how files would be renamed whose names begin with a text.";

/// What a caller passes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What the names of the files begin with.
    pub prefix: String,
    /// What they would begin with.
    pub replacement: String,
}

/// One file, by its old name and its new one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rename {
    /// Its name.
    pub from: String,
    /// What it would be called.
    pub to: String,
}

/// The files of a directory that would be renamed, by their names.
///
/// # Errors
/// Where the directory can't be read.
pub fn plan(folder: &Path, params: &Params) -> io::Result<Vec<Rename>> {
    let mut renames = Vec::new();
    for entry in fs::read_dir(folder)? {
        let from = entry?.file_name();
        let from = from.to_string_lossy().into_owned();
        if let Some(rest) = from.strip_prefix(&params.prefix) {
            let to = format!("{}{rest}", params.replacement);
            renames.push(Rename { from, to });
        }
    }
    renames.sort_by(|one, other| one.from.cmp(&other.from));
    Ok(renames)
}

/// What the caller reads.
pub fn text(renames: &[Rename]) -> String {
    if renames.is_empty() {
        return "No file's name begins so.".to_owned();
    }
    let mut text = format!("Would rename {} files:\n", renames.len());
    for Rename { from, to } in renames {
        let _ = writeln!(text, "{from} -> {to}");
    }
    text
}
