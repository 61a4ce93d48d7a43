//! Finds all replacements in the files that are meant. It has nothing to write with.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::language::{self, Language};
use super::parallel::{in_parallel, into_inner, lock};
use super::params::{Params, invalid};
use super::pattern::Ops;
use super::rewrite::{self, Edit, Found};
use super::selection::Selection;
use crate::digest::Digest;
use crate::error::Error;
use crate::producer::native::Running;
use crate::workspace::{ReadableFolder, Unread, Visited};

/// Larger files were hardly written by hand, and parsing one takes seconds and a hundred times its size in memory.
pub(super) const MAX_FILE_BYTES: u64 = 4 << 20;

/// The most that all replacements of one call may take of memory.
const MAX_EDITS_BYTES: usize = 256 << 20;

/// How many files are searched between two reports of progress.
const FILES_PER_REPORT: u64 = 1000;

/// All that the params mean, ready to search with.
pub(super) struct Search<'a> {
    params: &'a Params,
    pub selection: Selection,
    folder: &'a ReadableFolder,
    running: &'a Running,
    /// By language, read when the first file of it is met.
    ops: [OnceLock<Ops>; language::COUNT],
}

/// A file in which something would be replaced.
#[derive(Debug)]
pub(super) struct Matched {
    pub path: PathBuf,
    /// Of its bytes as they are.
    pub before: Digest,
    /// Of its bytes with all edits made.
    pub after: Digest,
    pub edits: Vec<Edit>,
    pub is_read_only: bool,
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// By their paths.
    pub matched: Vec<Matched>,
    /// How many files were looked at.
    pub searched: u64,
    /// Matches inside of other matches, see [`Found::nested`].
    pub nested: usize,
    /// What could not be searched, and why, by path.
    pub skipped: BTreeMap<String, String>,
}

impl<'a> Search<'a> {
    pub fn new(
        params: &'a Params,
        folder: &'a ReadableFolder,
        running: &'a Running,
    ) -> Result<Self, Error> {
        let language = params.language()?;
        let search = Self {
            params,
            selection: Selection::read(params.paths.as_deref(), language, folder)?,
            folder,
            running,
            ops: Default::default(),
        };
        if let Some(language) = language
            && let Some((index, refusal)) = search.ops(language).refused.first()
        {
            return Err(invalid(
                &format!("/ops/{index}/{}", refusal.field),
                refusal.message.as_str(),
            ));
        }
        Ok(search)
    }

    /// Searches all files that are meant, but those that `leave_out` knows.
    pub fn run(&self, leave_out: impl Fn(&Path) -> bool + Sync) -> Result<Results, Error> {
        let collector = Collector::default();
        let named: Vec<&Path> = self
            .selection
            .files()
            .filter(|path| !leave_out(path))
            .collect();
        in_parallel(&named, |path| {
            let language = self.selection.language_of_named(path);
            let found = match language {
                Some(language) => self.search(path, language, true, &collector),
                None => Ok(()),
            };
            collector.keep(found)
        });
        let folders = self.selection.folders();
        if !folders.is_empty() && !collector.has_failed() {
            self.folder.walk(&folders, |visited| {
                let found = match visited {
                    Visited::Unreadable(problem) => {
                        collector.skip(problem.clone(), "can't be looked at".to_owned());
                        Ok(())
                    }
                    Visited::File(path) if self.selection.names(path) || leave_out(path) => Ok(()),
                    Visited::File(path) => match self.selection.language(path) {
                        Some(language) => self.search(path, language, false, &collector),
                        None => Ok(()),
                    },
                };
                collector.keep(found)
            });
        }
        collector.finish()
    }

    pub fn ops(&self, language: Language) -> &Ops {
        self.ops[language.index()].get_or_init(|| Ops::read(&self.params.ops, language))
    }

    /// Searches one file. What was `named` must be searchable; what a folder has besides code need not be.
    fn search(
        &self,
        path: &Path,
        language: Language,
        named: bool,
        collector: &Collector,
    ) -> Result<(), Error> {
        self.running.check()?;
        let ops = self.ops(language);
        let searched = collector.searched.fetch_add(1, Ordering::Relaxed) + 1;
        if searched.is_multiple_of(FILES_PER_REPORT) {
            let message = format!("Searched {searched} files");
            self.running.progress(message, searched as f64);
        }
        if ops.is_empty() {
            return Ok(());
        }
        let skip = |reason: String| match named {
            true => Err(Error::Tool {
                message: format!("can't search {}: {reason}", path.display()),
            }),
            false => {
                collector.skip(path.display().to_string(), reason);
                Ok(())
            }
        };
        let file = match self.folder.read(path, MAX_FILE_BYTES) {
            Ok(file) => file,
            Err(unread) => return skip(reason(&unread)),
        };
        if !ops.may_match(&file.bytes) {
            return Ok(());
        }
        let Some(source) = text(&file.bytes) else {
            return skip(NOT_TEXT.to_owned());
        };
        let Found { edits, nested } = rewrite::find(source, ops).map_err(|overlap| {
            let ((first, second), line) = (overlap.ops, overlap.line);
            let place = format!("{}:{line}", path.display());
            Error::Tool {
                message: format!(
                    "ops {first} and {second} would both change {place}; make two calls, the one for what lies inside first"
                ),
            }
        })?;
        collector.nested.fetch_add(nested, Ordering::Relaxed);
        if edits.is_empty() {
            return Ok(());
        }
        let Some(name) = path
            .to_str()
            .filter(|name| !name.contains(char::is_control))
        else {
            return skip("its name is not plain text".to_owned());
        };
        let matched = Matched {
            path: PathBuf::from(name),
            before: Digest::of(&file.bytes),
            after: Digest::of(rewrite::replace(source, &edits).as_bytes()),
            edits,
            is_read_only: file.stamp.is_read_only(),
        };
        collector.add(matched)
    }

    /// An op that is code in no language that was met is a mistake, and not one without matches.
    pub fn check_that_each_op_was_read(&self) -> Result<(), Error> {
        let met: Vec<&Ops> = self.ops.iter().filter_map(OnceLock::get).collect();
        for index in 0..self.params.ops.len() {
            if met.iter().any(|ops| ops.iter().any(|op| op.index == index)) {
                continue;
            }
            let mut refusals = met.iter().flat_map(|ops| &ops.refused);
            if let Some((_, refusal)) = refusals.find(|(refused, _)| *refused == index) {
                let path = format!("/ops/{index}/{}", refusal.field);
                return Err(invalid(&path, refusal.message.as_str()));
            }
        }
        Ok(())
    }
}

/// Why a file can't be searched.
fn reason(unread: &Unread) -> String {
    match unread {
        Unread::TooLarge(size) => format!("it has {size} bytes, {MAX_FILE_BYTES} is the most"),
        Unread::NotAFile => "it is not a file".to_owned(),
        Unread::Io(error) => error.to_string(),
    }
}

const NOT_TEXT: &str = "it is not text in UTF-8";

/// The source, where it is text.
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!bytes.contains(&0)).then_some(text)
}

/// What the threads of a search found so far.
#[derive(Default)]
struct Collector {
    matched: Mutex<Vec<Matched>>,
    skipped: Mutex<BTreeMap<String, String>>,
    failed: Mutex<Option<Error>>,
    searched: AtomicU64,
    nested: AtomicUsize,
    edits_bytes: AtomicUsize,
}

impl Collector {
    fn add(&self, matched: Matched) -> Result<(), Error> {
        let edits = matched.edits.iter();
        let bytes: usize = edits.map(|edit| edit.text.len() + size_of::<Edit>()).sum();
        if self.edits_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_EDITS_BYTES {
            return Err(Error::Tool {
                message: format!(
                    "there is too much to replace: more than {} MiB of text; name fewer files with `paths`, or say more in `pat`",
                    MAX_EDITS_BYTES >> 20
                ),
            });
        }
        lock(&self.matched).push(matched);
        Ok(())
    }

    fn skip(&self, path: String, reason: String) {
        lock(&self.skipped).insert(path, reason);
    }

    /// The first failure counts, and ends the search.
    fn keep(&self, found: Result<(), Error>) -> ControlFlow<()> {
        match found {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                lock(&self.failed).get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    fn has_failed(&self) -> bool {
        lock(&self.failed).is_some()
    }

    fn finish(self) -> Result<Results, Error> {
        if let Some(error) = into_inner(self.failed) {
            return Err(error);
        }
        let mut matched = into_inner(self.matched);
        matched.sort_by(|one, other| one.path.cmp(&other.path));
        // A file that is named twice is found twice.
        matched.dedup_by(|one, other| one.path == other.path);
        Ok(Results {
            matched,
            searched: self.searched.into_inner(),
            nested: self.nested.into_inner(),
            skipped: into_inner(self.skipped),
        })
    }
}
