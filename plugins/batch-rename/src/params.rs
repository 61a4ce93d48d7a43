//! The parameters that a caller passes.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::form::Form;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The files to rename: paths or globs, relative to the workspace, for example
    /// `photos/*.jpg`, `**/*.{md,txt}` or `notes/todo.md`. Globs skip hidden files unless the
    /// pattern has the dot too.
    #[schemars(length(min = 1))]
    pub(crate) files: Vec<String>,

    /// A regular expression (Rust syntax; `(?i)` at the start ignores case, `\p{L}` is any letter),
    /// matched against each file's name without its directory. Every match in a name is replaced;
    /// anchor with `^` and `$` to match the whole name, for example `^IMG_(\d+)\.jpe?g$`. Files
    /// whose name does not match are left alone.
    #[schemars(length(min = 1))]
    pub(crate) find: String,

    /// The replacement for each match. `$1` or `{1}` is a group, `{name}` a named group, `$$` a
    /// dollar sign. `{1:upper}`, `{1:lower}`, `{1:title}` and `{1:sentence}` change the group's
    /// case; `{1:3}` writes a group of digits with leading zeros as 007. `{n}` counts the files
    /// that match, with numbers inside their names taken as numbers (`a2` before `a10`); `{n:3}`
    /// counts 001, 002, and so on. For example `beach-{n:3}.jpg`, `$2-$1` or `{1:lower}.txt`.
    pub(crate) replace: String,

    /// The value of `{n}` for the first file.
    #[serde(default = "one")]
    pub(crate) start: u32,

    /// Rename directories too: each moves with everything in it. `files` then selects directories
    /// as well as files; a pattern that ends in a slash, such as `photos/*/`, selects directories
    /// only.
    #[serde(default)]
    pub(crate) directories: bool,

    /// Ignore how accented letters are encoded when matching, and write new names in this Unicode
    /// form. `nfc` (most systems) makes `é` one character, `nfd` (older macOS) two. With `find` as
    /// `^` and an empty `replace` it only changes the form.
    #[serde(default)]
    #[schemars(with = "Form")]
    pub(crate) normalize: Option<Form>,
}

fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_what_options_can_be_made_of() {
        let schema = schemars::schema_for!(Params);
        let property = |name: &str| schema.get("properties").unwrap()[name].clone();
        assert_eq!(property("directories")["type"], "boolean");
        assert_eq!(property("normalize")["type"], "string");
        assert_eq!(
            format!("{}", property("normalize")["enum"]),
            r#"["nfc","nfd"]"#
        );
        assert_eq!(
            format!("{}", schema.get("required").unwrap()),
            r#"["files","find","replace"]"#
        );
    }
}
