//! Applies what was previewed, if the files are unchanged. Otherwise changes nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use airlock_host::Error;
use airlock_host::content::{Content, ToolResult};
use airlock_host::digest::Digest;
use airlock_host::json::Json;

use crate::code::rewrite::{self, Rewrite, RewriteError};
use crate::contents::{self, MAX_FILE_BYTES};
use crate::parallel::{in_parallel, into_inner, lock};
use crate::parsers::ParserSettings;
use crate::plan::{After, Before, Plan, PlannedFile, counted};
use crate::search::{self, Search};
use airlock_host::native::folder::{Unread, WritableFolder};
use airlock_host::native::{ApplyCall, RunningCall};

/// The most files that a message names.
const NAMED: usize = 20;

/// The files that differ from the preview, each with its problem.
type Stale = BTreeMap<PathBuf, &'static str>;

/// Applies a plan. All writes go to the call's layer, which is dropped if this fails.
pub(crate) fn apply(
    plan: &Plan,
    reason: &str,
    parsing: &ParserSettings,
    call: &ApplyCall,
) -> Result<ToolResult, Error> {
    let folder = call.folder()?;
    let search = Search::new(&plan.params, &folder, parsing, call).map_err(stale_params)?;
    let mut stale = new_matches(plan, &search)?;
    // The host compares the edits of files that have changed elsewhere.
    stale.extend(write_all(plan, call.files_moved(), &search, &folder)?);
    if stale.is_empty() {
        Ok(summary(plan, reason, call))
    } else {
        Err(refuse(&stale))
    }
}

/// Returns the files that have matches now and had none before.
fn new_matches(plan: &Plan, search: &Search<'_>) -> Result<Stale, Error> {
    let last = plan.files.last().map(|file| &file.path);
    let others = search
        .run(|path| plan.file(path).is_some())
        .map_err(stale_params)?;
    let matched = others.matched.into_iter().map(|matched| matched.path);
    // Matches beyond the limit were not previewed either.
    let behind_the_limit = |path: &PathBuf| plan.limited && last.is_some_and(|last| path > last);
    let new = matched.filter(|path| !behind_the_limit(path));
    Ok(new.map(|path| (path, "has new matches")).collect())
}

/// Writes the new contents of each planned file. Returns the files that have changed. If `moved`,
/// files may have other contents in which the same edits are found.
fn write_all(
    plan: &Plan,
    moved: bool,
    search: &Search<'_>,
    folder: &WritableFolder,
) -> Result<Stale, Error> {
    let stale = Mutex::new(Stale::new());
    in_parallel(&plan.files, |file| {
        search.call.check()?;
        if let Some(why) = write(file, moved, search, folder)? {
            lock(&stale).insert(file.path.clone(), why);
        }
        Ok::<_, Error>(())
    })?;
    Ok(into_inner(stale))
}

/// Writes a file. Returns its problem if it has changed.
fn write(
    file: &PlannedFile,
    moved: bool,
    search: &Search<'_>,
    folder: &WritableFolder,
) -> Result<Option<&'static str>, Error> {
    let path = file.path.as_path();
    let bytes = match folder.read(path, MAX_FILE_BYTES) {
        Ok(read) if moved || Before::from(Digest::of(&read.bytes)) == file.before => read.bytes,
        Ok(_) => return Ok(Some("has changed")),
        Err(Unread::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Some("no longer exists"));
        }
        Err(_) => return Ok(Some("can no longer be read")),
    };
    let new = rewritten(file, moved, search, &bytes);
    // A search that was stopped may have found nothing.
    search.call.check()?;
    let new = new.map_err(|stuck| search::refusal(&stuck, path))?;
    if new.is_none() && moved {
        return Ok(Some("has changed"));
    }
    let new = new.ok_or_else(|| Error::Tool {
        message: format!(
            "nothing was written: this version of airlock would change {} differently than was previewed; discard it and preview again",
            path.display()
        ),
    })?;
    let written = folder.write(path, new.as_bytes());
    written.map_err(|error| Error::Tool {
        message: format!(
            "nothing was written: can't write {}: {error}",
            path.display()
        ),
    })?;
    Ok(None)
}

fn refuse(stale: &Stale) -> Error {
    let mut files: Vec<String> = stale
        .iter()
        .take(NAMED)
        .map(|(path, why)| format!("{} {why}", path.display()))
        .collect();
    if stale.len() > NAMED {
        files.push(format!("{} more", stale.len() - NAMED));
    }
    Error::Tool {
        message: format!(
            "nothing was written, since the preview is stale: {}; discard it and preview again",
            files.join(", ")
        ),
    }
}

/// Repeats the search in a file. Returns `None` if the result differs.
fn rewritten(
    file: &PlannedFile,
    moved: bool,
    search: &Search<'_>,
    bytes: &[u8],
) -> Result<Option<String>, RewriteError> {
    let language = search.selection.language_of_selected(&file.path);
    let (Some(language), Some(source)) = (language, contents::text(bytes)) else {
        return Ok(None);
    };
    let Rewrite { edits, .. } = search.find(language, source)?;
    let Some(edits) = edits.get(..file.replacements) else {
        return Ok(None);
    };
    let new = rewrite::replace(source, edits);
    let is_same = || After::from(Digest::of(new.as_bytes())) == file.after;
    Ok((moved || is_same()).then_some(new))
}

fn summary(plan: &Plan, reason: &str, call: &RunningCall) -> ToolResult {
    let mut text = format!("Made {}.", plan.summary());
    if !reason.is_empty() {
        let _ = write!(text, " Reason: {reason}");
    }
    text.push('\n');
    for file in plan.files.iter().take(NAMED) {
        let _ = write!(text, "\n{}: {}", file.path.display(), file.replacements);
    }
    if plan.files.len() > NAMED {
        let _ = write!(
            text,
            "\nand {}",
            counted(plan.files.len() - NAMED, "more file")
        );
    }
    ToolResult {
        content: vec![Content::Text { text }],
        details: Some(Json::of_own(
            &plan.to_json(false, call.limits().result_bytes / 2),
        )),
    }
}

/// Reports invalid params as a stale plan: they were valid before, so the files must have changed.
fn stale_params(error: Error) -> Error {
    match error {
        Error::InvalidParams { violations, .. } => {
            let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
            Error::Tool {
                message: format!(
                    "nothing was written, since the preview is stale: {}; discard it and preview again",
                    violations.join("; ")
                ),
            }
        }
        other => other,
    }
}
