//! What a preview shows, and what it wants decided.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;
use similar::TextDiff;

use super::params::{NAME, Params};
use super::plan::{Plan, PlannedFile, counted};
use super::rewrite;
use super::search::{self, MAX_FILE_BYTES, Matched, Results};
use crate::content::{Content, ToolResult};
use crate::digest::Digest;
use crate::error::Error;
use crate::json::Json;
use crate::producer::native::{Preview, Running};
use crate::pushing::{Details, Pushed};
use crate::workspace::ReadableFolder;

/// The most bytes of diffs: what nobody reads to the end, person or model.
const MAX_DIFF_BYTES: usize = 256 << 10;

/// How many files that could not be searched are named.
const SKIPPED_NAMED: usize = 20;

/// How long to look for the smallest diff of one file: with thousands of replacements that takes long, and any diff will do.
const DIFF_TIME: Duration = Duration::from_millis(250);

/// Lines of context in a diff.
const CONTEXT: usize = 3;

pub(super) fn of(
    params: &Params,
    mut results: Results,
    folder: &ReadableFolder,
    running: &Running,
) -> Result<Preview, Error> {
    let left_by_limit = keep_to_limit(&mut results.matched, params.limit(), folder)?;
    if let Some(matched) = results.matched.iter().find(|matched| matched.is_read_only) {
        return Err(Error::Tool {
            message: format!(
                "{} would change, and is read-only; make it writable, or leave it out of `paths`",
                matched.path.display()
            ),
        });
    }
    let plan = Plan {
        params: params.clone(),
        files: results.matched.iter().map(planned).collect(),
        limited: left_by_limit > 0,
    };
    let notes = notes(&results, left_by_limit);
    // What the rest of the result may need is a small part of what it may have.
    let room = running.limits().result_bytes;
    let mut details = plan.to_json(true, (room / 4).min(running.limits().details_bytes / 2));
    if plan.files.is_empty() {
        details["searchedFiles"] = results.searched.into();
        let text = format!(
            "No replacements: {} searched.{notes}",
            counted(results.searched as usize, "file")
        );
        return Ok(Preview {
            result: result(text, details),
            action: None,
        });
    }
    let state = plan.write()?;
    if state.len() > running.limits().state_bytes {
        return Err(Error::Tool {
            message: format!(
                "there would be {}, more than one action can keep; name fewer files with `paths`, or set `limit`",
                plan.summary()
            ),
        });
    }
    let action = Pushed {
        label: format!("AST Edit: {}", plan.summary()),
        source_tool_name: Some(NAME.to_owned()),
        details: Details::Json(Json::of_own(&details)),
        has_reject: false,
        state: Some(state),
    };
    details["searchedFiles"] = results.searched.into();
    details["leftByLimit"] = left_by_limit.into();
    details["skipped"] = results
        .skipped
        .iter()
        .take(SKIPPED_NAMED)
        .map(|(path, reason)| json!({"path": path, "reason": reason}))
        .collect();
    let mut text = format!(
        "{}, of {} searched.{notes}\n",
        plan.summary(),
        counted(results.searched as usize, "file")
    );
    let room = MAX_DIFF_BYTES.min(room / 2);
    write_diffs(&mut text, &results.matched, room, folder, running)?;
    Ok(Preview {
        result: result(text, details),
        action: Some(action),
    })
}

fn result(text: String, details: serde_json::Value) -> ToolResult {
    ToolResult {
        content: vec![Content::Text { text }],
        details: Some(Json::of_own(&details)),
    }
}

fn planned(matched: &Matched) -> PlannedFile {
    PlannedFile {
        path: matched.path.clone(),
        before: matched.before,
        after: matched.after,
        replacements: matched.edits.len(),
    }
}

/// Drops what lies beyond the limit, and tells how much that is.
fn keep_to_limit(
    matched: &mut Vec<Matched>,
    limit: usize,
    folder: &ReadableFolder,
) -> Result<usize, Error> {
    let found: usize = matched.iter().map(|matched| matched.edits.len()).sum();
    let mut room = limit;
    for matched in matched.iter_mut() {
        let keep = matched.edits.len().min(room);
        room -= keep;
        if (1..matched.edits.len()).contains(&keep) {
            matched.edits.truncate(keep);
            let new = rewrite::replace(&source(matched, folder)?, &matched.edits);
            matched.after = Digest::of(new.as_bytes());
        }
        matched.edits.truncate(keep);
    }
    matched.retain(|matched| !matched.edits.is_empty());
    Ok(found.saturating_sub(limit))
}

/// The text of a file that was searched, once more.
fn source(matched: &Matched, folder: &ReadableFolder) -> Result<String, Error> {
    let read = folder.read(&matched.path, MAX_FILE_BYTES).ok();
    let same = read.filter(|file| Digest::of(&file.bytes) == matched.before);
    let text = same.and_then(|file| search::text(&file.bytes).map(str::to_owned));
    text.ok_or_else(|| Error::Tool {
        message: format!(
            "{} changed while it was being searched; call again",
            matched.path.display()
        ),
    })
}

/// What else there is to know, a line each.
fn notes(results: &Results, left_by_limit: usize) -> String {
    let mut notes = String::new();
    let mut note = |text: String| {
        notes.push('\n');
        notes.push_str(&text);
    };
    if left_by_limit > 0 {
        note(format!(
            "Left as they are by `limit`: {}.",
            counted(left_by_limit, "more match")
        ));
    }
    if results.nested > 0 {
        note(format!(
            "Left as they are: {} inside of another; call again after this is applied.",
            counted(results.nested, "match")
        ));
    }
    for (path, reason) in results.skipped.iter().take(SKIPPED_NAMED) {
        note(format!("Not searched: {path:?}, {reason}."));
    }
    let more = results.skipped.len().saturating_sub(SKIPPED_NAMED);
    if more > 0 {
        note(format!("Not searched: {}.", counted(more, "more file")));
    }
    notes
}

/// Appends a unified diff for each file, as far as there is room, and says what was left out.
fn write_diffs(
    text: &mut String,
    matched: &[Matched],
    room: usize,
    folder: &ReadableFolder,
    running: &Running,
) -> Result<(), Error> {
    let end = text.len() + room;
    for (index, file) in matched.iter().enumerate() {
        running.check()?;
        let path = file.path.display();
        let mut diff = format!(
            "\n{path}: {}\n--- a/{path}\n+++ b/{path}\n",
            counted(file.edits.len(), "replacement")
        );
        let old = source(file, folder)?;
        let new = rewrite::replace(&old, &file.edits);
        let (mut shown, mut left) = (0, 0);
        let lines = lines_diff(&old, &new);
        let mut unified = lines.unified_diff();
        for hunk in unified.context_radius(CONTEXT).iter_hunks() {
            let hunk = hunk.to_string();
            if left == 0 && text.len() + diff.len() + hunk.len() <= end {
                diff.push_str(&hunk);
                shown += 1;
            } else {
                left += 1;
            }
        }
        if shown > 0 {
            text.push_str(&diff);
        }
        if left > 0 {
            let files = &matched[index + usize::from(shown > 0)..];
            let replacements: usize = files.iter().map(|file| file.edits.len()).sum();
            let mut parts = Vec::new();
            if shown > 0 {
                parts.push(format!("{} of {path}", counted(left, "hunk")));
            }
            if !files.is_empty() {
                parts.push(format!(
                    "{} with {}",
                    counted(files.len(), "file"),
                    counted(replacements, "replacement")
                ));
            }
            // Never fails: it is written to a string.
            let _ = write!(text, "\nToo long to be shown: {}.\n", parts.join(", and "));
            break;
        }
    }
    Ok(())
}

/// Lines end with a line feed alone: whatever else is in them is theirs.
fn lines_diff<'a>(old: &'a str, new: &'a str) -> TextDiff<'a, 'a, str> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    TextDiff::configure()
        .newline_terminated(true)
        .timeout(DIFF_TIME)
        .diff_slices(&old, &new)
}
