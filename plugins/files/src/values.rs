//! The tool `edit_values`: changes values in JSON, TOML and YAML files, and keeps comments
//! and layout.

use std::fmt::Display;

use crate::diff;
use crate::json;
use crate::params::{Op, ValueOperation};
use crate::path::shown;
use crate::text::{Change, Text};
use crate::toml;
use crate::yaml;

/// The steps to a value: keys, and indexes of arrays.
pub(crate) type Steps = Vec<String>;

/// Makes the operations, each in what the one before it left.
///
/// # Errors
/// Returns a message for the caller if the file can't be read, or an operation has no place.
pub(crate) fn edit(
    text: &mut Text,
    path: &str,
    operations: &[ValueOperation],
) -> Result<Vec<String>, String> {
    let extension = path
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let edit = match extension.as_str() {
        "json" | "jsonc" | "json5" | "webmanifest" | "code-workspace" => json::edit,
        "toml" => toml::edit,
        "yaml" | "yml" | "cff" => yaml::edit,
        _ => return Err(format!("`{}` is no JSON, TOML or YAML file.", shown(path))),
    };
    let mut parsed = Vec::new();
    for operation in operations {
        parsed.push((steps(&operation.path)?, operation));
    }
    let new = edit(text.body(), &parsed).map_err(|it| format!("`{}`: {it}", shown(path)))?;
    text.replace(&changes(text.body(), &new));
    Ok(Vec::new())
}

/// Parses a JSON Pointer.
fn steps(pointer: &str) -> Result<Steps, String> {
    let rest = match pointer.strip_prefix('/') {
        Some(rest) => rest,
        None if pointer.is_empty() => return Ok(Vec::new()),
        None => {
            return Err(format!(
                "The pointer `{pointer}` doesn't begin with a slash; write `/{}`.",
                pointer.replace('.', "/")
            ));
        }
    };
    Ok(rest
        .split('/')
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect())
}

/// Returns the pointer to a value, for a message.
pub(crate) fn pointer(steps: &[String]) -> String {
    let step = |step: &String| format!("/{}", step.replace('~', "~0").replace('/', "~1"));
    steps.iter().map(step).collect()
}

/// Returns the problem that a step leads nowhere, with the keys that are there.
pub(crate) fn no_key<K: Display>(steps: &[String], keys: impl Iterator<Item = K>) -> String {
    const SHOWN: usize = 20;
    let mut keys: Vec<_> = keys.map(|key| format!("`{key}`")).collect();
    if keys.len() > SHOWN {
        let more = keys.len() - SHOWN;
        keys.truncate(SHOWN);
        keys.push(format!("and {more} more"));
    }
    match keys.len() {
        0 => format!("There is no `{}`.", pointer(steps)),
        _ => format!(
            "There is no `{}`; the keys there are {}.",
            pointer(steps),
            keys.join(", ")
        ),
    }
}

/// Returns the index that a step is in an array with `len` values. `len` itself is one for `add`.
pub(crate) fn index(steps: &[String], len: usize, op: Op) -> Result<usize, String> {
    let last = steps.last().map_or("", String::as_str);
    let most = if op == Op::Add { len + 1 } else { len };
    if last == "-" && op == Op::Add {
        return Ok(len);
    }
    let is_index =
        last.bytes().all(|it| it.is_ascii_digit()) && (last == "0" || !last.starts_with('0'));
    let index = last.parse().ok().filter(|index| is_index && *index < most);
    index.ok_or_else(|| {
        format!(
            "`{}` is no place in the array, which has {len} values.",
            pointer(steps)
        )
    })
}

/// Returns the changes of lines from one text to another.
fn changes(old: &str, new: &str) -> Vec<Change> {
    let (old_lines, new_lines) = (diff::lines(old), diff::lines(new));
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let mut changes = Vec::new();
    let mut at = 0;
    for op in diff::ops(&old_lines, &new_lines) {
        let end = at + bytes(&old_lines[op.old_range()]);
        if !matches!(op, similar::DiffOp::Equal { .. }) {
            changes.push(Change {
                range: at..end,
                new: new_lines[op.new_range()].concat(),
            });
        }
        at = end;
    }
    changes
}
