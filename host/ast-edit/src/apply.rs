//! Does what was previewed, if the files are as they were previewed, and else nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use airlock_host::Error;
use airlock_host::content::{Content, ToolResult};
use airlock_host::digest::Digest;
use airlock_host::json::Json;

use crate::code::rewrite::{self, Rewrite, RewriteError};
use crate::parallel::{in_parallel, into_inner, lock};
use crate::parsers::ParserSettings;
use crate::plan::{Plan, PlannedFile, counted};
use crate::search::{self, MAX_FILE_BYTES, Search};
use airlock_host::native::folder::{Staged, Stamp, Unread, WritableFolder};
use airlock_host::native::{ApplyCall, DecidedAction, RunningCall};

/// How many files a message names.
const NAMED: usize = 20;

pub(crate) fn apply(
    plan: &Plan,
    decided: &DecidedAction,
    parsing: &ParserSettings,
    call: &ApplyCall,
) -> Result<ToolResult, Error> {
    let folder = &call.folder()?;
    let statuses = statuses_of_planned(plan, decided.attempt, folder, call)?;
    let search = Search::new(&plan.params, folder, parsing, call).map_err(stale_params)?;
    let stale = stale(plan, &statuses, &search)?;
    if !stale.is_empty() {
        return Err(refuse(&stale));
    }
    let planned = plan.files.iter();
    let to_write: Vec<&PlannedFile> = planned
        .filter(|file| {
            matches!(
                statuses.get(file.path.as_path()),
                Some(FileStatus::AsPreviewed)
            )
        })
        .collect();
    let ready = stage(&to_write, &search, folder, call)?;
    call.begin_changes()?;
    place(ready, folder)?;
    let done_before = plan.files.len() - to_write.len();
    Ok(summary(plan, done_before, &decided.reason, call))
}

/// How a planned file stands now.
#[derive(Debug, PartialEq, Eq)]
enum FileStatus {
    AsPreviewed,
    /// It has its new contents: an attempt before this one came so far.
    Done,
    Stale(&'static str),
}

fn statuses_of_planned<'a>(
    plan: &'a Plan,
    attempt: u32,
    folder: &WritableFolder,
    call: &RunningCall,
) -> Result<BTreeMap<&'a Path, FileStatus>, Error> {
    let statuses = Mutex::new(BTreeMap::new());
    in_parallel(&plan.files, |file| {
        if call.check().is_err() {
            return ControlFlow::Break(());
        }
        let status = match folder.read(&file.path, MAX_FILE_BYTES) {
            Err(Unread::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                FileStatus::Stale("no longer exists")
            }
            Err(_) => FileStatus::Stale("can no longer be read"),
            Ok(read) => match Digest::of(&read.bytes) {
                digest if digest == file.before => FileStatus::AsPreviewed,
                // Before the first attempt, whoever made it so was somebody else.
                digest if digest == file.after && attempt > 1 => FileStatus::Done,
                _ => FileStatus::Stale("has changed"),
            },
        };
        lock(&statuses).insert(file.path.as_path(), status);
        ControlFlow::Continue(())
    });
    call.check()?;
    Ok(into_inner(statuses))
}

/// All files that are not as they were previewed, with what is wrong with each: the planned ones,
/// and those that have matches now and had none.
fn stale(
    plan: &Plan,
    statuses: &BTreeMap<&Path, FileStatus>,
    search: &Search<'_>,
) -> Result<BTreeMap<PathBuf, &'static str>, Error> {
    let mut stale = BTreeMap::new();
    for (path, status) in statuses {
        if let FileStatus::Stale(why) = status {
            stale.insert(path.to_path_buf(), *why);
        }
    }
    let last = plan.files.last().map(|file| &file.path);
    let others = search
        .run(|path| plan.file(path).is_some())
        .map_err(stale_params)?;
    for matched in others.matched {
        // What lies behind the limit was not previewed either.
        let behind_the_limit = plan.limited && last.is_some_and(|last| matched.path > *last);
        if !behind_the_limit {
            stale.insert(matched.path, "has new matches");
        }
    }
    Ok(stale)
}

fn refuse(stale: &BTreeMap<PathBuf, &'static str>) -> Error {
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

/// Beside a file, its new contents, and how the file was when they were made.
struct Ready<'a> {
    path: &'a Path,
    was: Stamp,
    staged: Staged<'a>,
}

/// Writes the new contents of all files beside them. Where one can't be written, all are removed
/// again.
fn stage<'a>(
    files: &[&'a PlannedFile],
    search: &Search<'_>,
    folder: &'a WritableFolder,
    call: &RunningCall,
) -> Result<Vec<Ready<'a>>, Error> {
    let ready = Mutex::new(Vec::with_capacity(files.len()));
    let failed = Mutex::new(None);
    in_parallel(files, |file| {
        let staged = call.check().and_then(|()| stage_one(file, search, folder));
        match staged {
            Ok(one) => {
                lock(&ready).push(one);
                ControlFlow::Continue(())
            }
            Err(error) => {
                lock(&failed).get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(error) = into_inner(failed) {
        return Err(error);
    }
    let mut ready = into_inner(ready);
    ready.sort_by_key(|one| one.path);
    Ok(ready)
}

fn stage_one<'a>(
    file: &'a PlannedFile,
    search: &Search<'_>,
    folder: &'a WritableFolder,
) -> Result<Ready<'a>, Error> {
    let path = file.path.as_path();
    let changed = || refuse(&BTreeMap::from([(file.path.clone(), "has changed")]));
    let read = folder.read(path, MAX_FILE_BYTES).map_err(|_| changed())?;
    if Digest::of(&read.bytes) != file.before {
        return Err(changed());
    }
    let new = rewritten(file, search, &read.bytes);
    // What had to end found nothing.
    search.call.check()?;
    let new = new.map_err(|stuck| search::refusal(&stuck, path))?;
    let new = new.ok_or_else(|| Error::Tool {
        message: format!(
            "nothing was written: this version of airlock would change {} differently than was previewed; discard it and preview again",
            path.display()
        ),
    })?;
    let staged = folder
        .stage(path, &read.stamp, new.as_bytes())
        .map_err(|error| Error::Tool {
            message: format!(
                "nothing was written: can't write beside {}: {error}",
                path.display()
            ),
        })?;
    Ok(Ready {
        path,
        was: read.stamp,
        staged,
    })
}

/// The same search again. None where it has another result.
fn rewritten(
    file: &PlannedFile,
    search: &Search<'_>,
    bytes: &[u8],
) -> Result<Option<String>, RewriteError> {
    let language = search.selection.language_of_selected(&file.path);
    let (Some(language), Some(source)) = (language, search::text(bytes)) else {
        return Ok(None);
    };
    let Rewrite { edits, .. } = search.find(language, source)?;
    let Some(edits) = edits.get(..file.replacements) else {
        return Ok(None);
    };
    let new = rewrite::replace(source, edits);
    Ok((Digest::of(new.as_bytes()) == file.after).then_some(new))
}

/// Puts all new contents into their places. From the first one on, nothing stops it but an error of
/// the system.
fn place(ready: Vec<Ready<'_>>, folder: &WritableFolder) -> Result<(), Error> {
    let changed = ready
        .iter()
        .filter(|one| folder.stamp(one.path).ok().as_ref() != Some(&one.was));
    let changed: BTreeMap<PathBuf, &str> = changed
        .map(|one| (one.path.to_owned(), "has changed"))
        .collect();
    if !changed.is_empty() {
        return Err(refuse(&changed));
    }
    let count = ready.len();
    let mut folders: Vec<&Path> = Vec::new();
    for (written, one) in ready.into_iter().enumerate() {
        let path = one.path;
        one.staged.place().map_err(|error| Error::Tool {
            message: format!(
                "{written} of {} were written before {} failed: {error}; applying again writes the others",
                counted(count, "file"),
                path.display()
            ),
        })?;
        folders.push(path.parent().unwrap_or(Path::new("")));
    }
    folders.sort();
    folders.dedup();
    for path in folders {
        // The files are in their places; only a crash of the machine could still undo that.
        if let Err(error) = folder.sync_folder(path) {
            tracing::warn!("could not fsync {}: {error}", path.display());
        }
    }
    Ok(())
}

fn summary(plan: &Plan, done_before: usize, reason: &str, call: &RunningCall) -> ToolResult {
    let mut text = format!("Made {}.", plan.summary());
    if !reason.is_empty() {
        let _ = write!(text, " Reason: {reason}");
    }
    text.push('\n');
    if done_before > 0 {
        let _ = writeln!(
            text,
            "An attempt before this one had written {}.",
            counted(done_before, "file")
        );
    }
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

/// Params that were right once can only be wrong now because the files have changed.
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
