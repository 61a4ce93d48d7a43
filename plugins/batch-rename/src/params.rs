//! What a caller passes.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Which files to look at: paths or globs, relative to the workspace, for example
    /// `photos/*.jpg`, `**/*.{md,txt}` or `notes/todo.md`. Globs skip hidden files unless the
    /// pattern has the dot too. Directories are never renamed.
    #[schemars(length(min = 1))]
    pub(crate) files: Vec<String>,

    /// A regular expression (Rust syntax; `(?i)` at the start ignores case), matched against each
    /// file's name without its directory. Every match in a name is replaced; anchor with `^` and
    /// `$` to match the whole name, for example `^IMG_(\d+)\.jpe?g$`. Files whose name does not
    /// match are left alone.
    #[schemars(length(min = 1))]
    pub(crate) find: String,

    /// What replaces each match. `$1` or `${1}` is a group, `${name}` a named group, `$$` a dollar
    /// sign. `{n}` counts the files that match, with numbers inside their names taken as numbers
    /// (`a2` before `a10`); `{n:3}` counts 001, 002, and so on. For example `beach-{n:3}.jpg`, or
    /// `$2-$1`.
    pub(crate) replace: String,

    /// What `{n}` is for the first file.
    #[serde(default = "one")]
    pub(crate) start: u32,
}

fn one() -> u32 {
    1
}
