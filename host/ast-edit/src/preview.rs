//! The content of a preview, and the action that it pushes.

use std::time::Duration;

use airlock_host::Error;
use airlock_host::content::{Content, ToolResult};
use airlock_host::digest::Digest;
use airlock_host::json::Json;
use airlock_host::visible::side_of_diff;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::advice;
use crate::code::rewrite;
use crate::draft::{source, write_draft};
use crate::notes::{NAMED, add_results, headline, notes};
use crate::plan::{Plan, PlannedFile, counted};
use crate::search::{Matched, NARROW, Results, Search};
use airlock_host::native::folder::{ReadableFolder, WritableFolder};
use airlock_host::native::{Preview, ProposedAction, RunningCall};

/// The most bytes of diffs that the caller gets, because a model doesn't read more. The person who
/// decides gets as much as a result may have.
const MAX_DIFF_BYTES: usize = 256 << 10;

/// The room for the sentence about omitted diffs. A path has at most 4,096 bytes.
const LEFT_OUT_BYTES: usize = 5 << 10;

/// The time to look for the smallest diff of one file. With thousands of replacements that takes
/// long, and any diff is good enough.
const DIFF_TIME: Duration = Duration::from_millis(250);

/// The lines of context in a diff.
const CONTEXT: usize = 3;

pub(crate) fn of(
    search: &Search<'_>,
    mut results: Results,
    draft: impl FnOnce() -> Result<WritableFolder, Error>,
) -> Result<Preview, Error> {
    let (params, folder, call) = (search.params, search.folder, search.call);
    let left_by_limit = keep_to_limit(&mut results.matched, params.limit(), search)?;
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
    let headline = headline(&results, left_by_limit);
    let mut notes = notes(&results);
    for line in advice::on(search, &results) {
        notes.push('\n');
        notes.push_str(&line);
    }
    // The rest of the result needs only a small part of the limit.
    let room = call.limits().result_bytes;
    let mut details = plan.to_json(true, (room / 4).min(call.limits().details_bytes / 2));
    let breaks = breaks(&results);
    if !breaks.is_empty() {
        details["breaks"] = breaks.into();
    }
    if plan.files.is_empty() {
        add_results(&mut details, &results, left_by_limit);
        let text = format!("No replacements: {headline}{notes}");
        return Ok(Preview::of(result(text, details)));
    }
    let state = plan.write()?;
    if state.len() > call.limits().state_bytes {
        return Err(Error::Tool {
            message: format!(
                "there would be {}, more than one action can hold; {}",
                plan.summary(),
                NARROW
            ),
        });
    }
    write_draft(&results.matched, search, &draft()?)?;
    let action = ProposedAction::new(format!("AST Edit: {}", plan.summary()), state)
        .details(Json::of_own(&details));
    add_results(&mut details, &results, left_by_limit);
    let mut diffs = Diffs {
        text: format!("{}, of {headline}{notes}\n", plan.summary()),
        matched: &results.matched,
        short: None,
    };
    diffs.write((MAX_DIFF_BYTES.min(room / 2), room), folder, call)?;
    Ok(match diffs.short {
        None => Preview::of(result(diffs.text, details)).proposing(action),
        Some(short) => Preview::of(result(short, details))
            .proposing(action)
            .in_full(vec![Content::Text { text: diffs.text }]),
    })
}

/// Returns the lines with new syntax errors in the new contents, for programs.
fn breaks(results: &Results) -> Vec<Value> {
    let broken = results.matched.iter().filter_map(|matched| {
        let line = matched.breaks?;
        Some(json!({"path": matched.path, "line": line}))
    });
    broken.take(NAMED).collect()
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
        before: matched.before.into(),
        after: matched.after.into(),
        replacements: matched.edits.len(),
    }
}

/// Drops matches beyond the limit, and returns how many.
fn keep_to_limit(
    matched: &mut Vec<Matched>,
    limit: usize,
    search: &Search<'_>,
) -> Result<usize, Error> {
    let found: usize = matched.iter().map(|matched| matched.edits.len()).sum();
    let mut room = limit;
    for matched in matched.iter_mut() {
        let keep = matched.edits.len().min(room);
        room -= keep;
        if (1..matched.edits.len()).contains(&keep) {
            matched.edits.truncate(keep);
            let old = source(matched, search.folder)?;
            let new = rewrite::replace(&old, &matched.edits);
            matched.after = Digest::of(new.as_bytes());
            matched.breaks = search.breaks_file(&matched.path, &old, &new)?;
        }
        matched.edits.truncate(keep);
    }
    matched.retain(|matched| !matched.edits.is_empty());
    Ok(found.saturating_sub(limit))
}

/// The unified diffs of all files.
struct Diffs<'a> {
    /// The text of the preview, which starts with the notes.
    text: String,
    matched: &'a [Matched],
    /// The caller's version, if it is shorter.
    short: Option<String>,
}

/// The end of the diffs: before this hunk of this file.
#[derive(Clone, Copy)]
struct DiffEnd {
    file: usize,
    hunk: usize,
    hunks: usize,
}

impl Diffs<'_> {
    /// Writes as many diffs as fit, first for the caller and then in full. Lists the rest by name
    /// and number, so that no changed file goes unnamed.
    fn write(
        &mut self,
        (room, all_room): (usize, usize),
        folder: &ReadableFolder,
        call: &RunningCall,
    ) -> Result<(), Error> {
        let end = self.text.len() + room;
        let names: usize = self.matched.iter().map(|file| file_line(file).len()).sum();
        let all_end = all_room.saturating_sub(names + LEFT_OUT_BYTES).max(end);
        // Content that the caller does not get must not fail the call: the rest of the time is for
        // pushing all of it onto the stack.
        let time_kept = call.stop().time_left() / 2;
        for (index, file) in self.matched.iter().enumerate() {
            call.check()?;
            let path = file.path.to_string_lossy();
            let (old, new) = (side_of_diff("a", &path), side_of_diff("b", &path));
            let heading = format!("\n{}--- {old}\n+++ {new}\n", file_line(file));
            let old = source(file, folder)?;
            let new = rewrite::replace(&old, &file.edits);
            let lines = lines_diff(&old, &new);
            let mut unified = lines.unified_diff();
            let unified = unified.context_radius(CONTEXT);
            let hunks: Vec<String> = unified.iter_hunks().map(|hunk| hunk.to_string()).collect();
            for (number, hunk) in hunks.iter().enumerate() {
                let here = DiffEnd {
                    file: index,
                    hunk: number,
                    hunks: hunks.len(),
                };
                let heading = if number == 0 { &*heading } else { "" };
                // A line of a minified file must not hide all other files.
                let too_long = (hunk.len() > MAX_DIFF_BYTES / 4)
                    .then(|| format!("A hunk of {} bytes is too long to be shown.\n", hunk.len()));
                let hunk = too_long.as_ref().unwrap_or(hunk);
                let length = self.text.len() + heading.len() + hunk.len();
                if length > end && self.short.is_none() {
                    self.short = Some(format!("{}{}", self.text, self.left_out(here)));
                }
                let in_time = self.short.is_none() || call.stop().time_left() > time_kept;
                if length > all_end || !in_time {
                    self.text.push_str(&self.left_out(here));
                    let room = all_room.saturating_sub(self.text.len());
                    self.text.push_str(&self.names(here, room));
                    return Ok(());
                }
                self.text.push_str(heading);
                self.text.push_str(hunk);
            }
        }
        Ok(())
    }

    /// Returns the files of which nothing is shown.
    fn files_after(&self, place: DiffEnd) -> &[Matched] {
        &self.matched[place.file + usize::from(place.hunk > 0)..]
    }

    fn left_out(&self, place: DiffEnd) -> String {
        let files = self.files_after(place);
        let replacements: usize = files.iter().map(|file| file.edits.len()).sum();
        let mut parts = Vec::new();
        if place.hunk > 0 {
            let left = counted(place.hunks - place.hunk, "hunk");
            parts.push(format!(
                "{left} of {}",
                self.matched[place.file].path.display()
            ));
        }
        if !files.is_empty() {
            parts.push(format!(
                "{} with {}",
                counted(files.len(), "file"),
                counted(replacements, "replacement")
            ));
        }
        format!("\nToo long to be shown: {}.\n", parts.join(", and "))
    }

    /// Returns the names and numbers of changes of those files, as far as they fit.
    fn names(&self, place: DiffEnd, room: usize) -> String {
        let mut names = "\n".to_owned();
        let files = self.files_after(place);
        for (index, file) in files.iter().enumerate() {
            let name = file_line(file);
            let more = format!("and {}\n", counted(files.len() - index, "more file"));
            if names.len() + name.len() + more.len() > room {
                names.push_str(&more);
                break;
            }
            names.push_str(&name);
        }
        names
    }
}

/// Returns a line with a file and its number of replacements.
fn file_line(file: &Matched) -> String {
    let replacements = counted(file.edits.len(), "replacement");
    format!("{}: {replacements}\n", file.path.display())
}

/// Compares lines. Only a line feed ends a line; other control characters are part of it.
fn lines_diff<'a>(old: &'a str, new: &'a str) -> TextDiff<'a, 'a, str> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    TextDiff::configure()
        .newline_terminated(true)
        .timeout(DIFF_TIME)
        .diff_slices(&old, &new)
}
