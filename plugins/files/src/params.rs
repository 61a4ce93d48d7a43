//! The parameters of the tools.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// The file, relative to the workspace.
    pub(crate) path: String,
    /// The first line to read, from 1. A negative number counts from the end: -20 reads the last 20
    /// lines.
    #[serde(default = "first")]
    pub(crate) offset: i64,
    /// The most lines to read.
    #[serde(default = "lines")]
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) limit: usize,
    /// Begin each line with its number and a tab.
    #[serde(default)]
    pub(crate) line_numbers: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectory {
    /// The directory, relative to the workspace.
    #[serde(default = "workspace")]
    pub(crate) path: String,
    /// How deep to go: 1 lists the directory alone, 2 also the directories in it.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 20))]
    pub(crate) depth: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindFiles {
    /// A glob such as `**/*.{ts,tsx}` or `src/**/test_*.py`. Without a slash it matches names in
    /// any directory, as `*.md` does.
    #[schemars(length(min = 1))]
    pub(crate) pattern: String,
    /// The directory to search, relative to the workspace.
    #[serde(default = "workspace")]
    pub(crate) path: String,
    /// Search files that `.gitignore` excludes too.
    #[serde(default)]
    pub(crate) include_ignored: bool,
    /// The most paths to list.
    #[serde(default = "paths")]
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) limit: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grep {
    /// A regular expression in the syntax of Rust and ripgrep.
    #[schemars(length(min = 1))]
    pub(crate) pattern: String,
    /// The file or directory to search, relative to the workspace.
    #[serde(default = "workspace")]
    pub(crate) path: String,
    /// Search only files that match this glob, such as `*.rs` or `src/**/*.{js,ts}`. A `!` before
    /// it leaves them out instead.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(crate) glob: Option<String>,
    /// What to list: lines that match (`content`), files (`files_with_matches`), or the number of
    /// matches in each file (`count`).
    #[serde(default)]
    pub(crate) output_mode: OutputMode,
    /// Ignore the case of letters.
    #[serde(default)]
    pub(crate) ignore_case: bool,
    /// The lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub(crate) context: usize,
    /// Let a match go over several lines; `.` then matches a newline.
    #[serde(default)]
    pub(crate) multiline: bool,
    /// Search files that `.gitignore` excludes too.
    #[serde(default)]
    pub(crate) include_ignored: bool,
    /// The most lines, or files, to list.
    #[serde(default = "matches")]
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) limit: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutputMode {
    #[default]
    Content,
    FilesWithMatches,
    Count,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    /// The file, relative to the workspace. Its directory is made if it is missing.
    pub(crate) path: String,
    /// The whole text of the file.
    pub(crate) content: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{
    "path": "src/main.rs",
    "edits": [{ "old_text": "fn main() {\n", "new_text": "fn main() {\n    start();\n" }],
}]))]
pub(crate) struct EditFile {
    /// The file, relative to the workspace.
    pub(crate) path: String,
    /// The replacements, made in this order, each in the text that the one before it left.
    #[schemars(length(min = 1))]
    pub(crate) edits: Vec<Edit>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The text to replace, with enough around it that it occurs once. Copy it exactly, without
    /// line numbers.
    #[schemars(length(min = 1))]
    pub(crate) old_text: String,
    /// The text to put in its place.
    pub(crate) new_text: String,
    /// Replace every occurrence.
    #[serde(default)]
    pub(crate) replace_all: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyPatch {
    /// The patch: `*** Begin Patch`, then `*** Update File: PATH`, `*** Add File: PATH` or `***
    /// Delete File: PATH` for each file, and `*** End Patch`. Or a unified diff with `--- a/PATH`
    /// and `+++ b/PATH`. Paths are relative to the workspace.
    #[schemars(length(min = 1))]
    #[schemars(extend("examples" = ["*** Begin Patch\n*** Update File: src/main.rs\n@@ fn main() {\n+    start();\n*** Add File: notes.md\n+# Notes\n*** End Patch\n"]))]
    pub(crate) patch: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchReplace {
    /// A regular expression in the syntax of Rust and ripgrep, or a plain text if `literal` is set.
    #[schemars(length(min = 1))]
    pub(crate) pattern: String,
    /// The text for each match. `$1` or `${1}` is a group, `${name}` a named one, `$0` the match
    /// and `$$` a dollar sign, unless `literal` is set.
    pub(crate) replacement: String,
    /// The file or directory to search, relative to the workspace.
    #[serde(default = "workspace")]
    pub(crate) path: String,
    /// Change only files that match this glob, such as `*.rs` or `src/**/*.{js,ts}`. A `!` before
    /// it leaves them out instead.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(crate) glob: Option<String>,
    /// Take `pattern` and `replacement` as plain texts.
    #[serde(default)]
    pub(crate) literal: bool,
    /// Ignore the case of letters.
    #[serde(default)]
    pub(crate) ignore_case: bool,
    /// Let a match go over several lines; `.` then matches a newline.
    #[serde(default)]
    pub(crate) multiline: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{
    "path": "config.toml",
    "operations": [{ "op": "add", "path": "/server", "value": { "port": 8080 } }],
}]))]
pub(crate) struct EditValues {
    /// The JSON, JSONC, TOML or YAML file, relative to the workspace.
    pub(crate) path: String,
    /// The changes, made in this order, as in a JSON Patch.
    #[schemars(length(min = 1))]
    pub(crate) operations: Vec<ValueOperation>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueOperation {
    pub(crate) op: Op,
    /// A JSON Pointer to the value, such as `/dependencies/serde/version` or `/items/0`. In a key,
    /// `~1` is a slash and `~0` a tilde. `/items/-` adds to the end of an array.
    pub(crate) path: String,
    /// The new value, for `add` and `replace`.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Value")]
    pub(crate) value: Option<Value>,
}

/// `add` sets a key, or inserts into an array. `replace` needs a value that is there. `remove`
/// deletes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Op {
    Add,
    Replace,
    Remove,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transfer {
    /// The file or directory, relative to the workspace.
    pub(crate) source: String,
    /// The new path, at which there must be nothing.
    pub(crate) destination: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFile {
    /// The file or directory, relative to the workspace.
    pub(crate) path: String,
    /// Delete a directory with everything in it.
    #[serde(default)]
    pub(crate) recursive: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MakeDirectory {
    /// The directory, relative to the workspace. Those around it are made too.
    pub(crate) path: String,
}

/// Reads a value that is there, so that `null` counts as one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn workspace() -> String {
    ".".to_owned()
}

fn first() -> i64 {
    1
}

fn one() -> usize {
    1
}

fn lines() -> usize {
    2000
}

fn paths() -> usize {
    500
}

fn matches() -> usize {
    200
}
