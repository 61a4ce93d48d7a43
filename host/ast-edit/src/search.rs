//! Finds all replacements in the selected files. It has no write access.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use airlock_host::Error;
use airlock_host::digest::Digest;
use airlock_host::native::RunningCall;
use airlock_host::native::folder::ReadableFolder;

use crate::code::language::Language;
use crate::code::outline::{Outline, Refusal};
use crate::code::parser::ParseFailure;
use crate::code::rewrite::{
    self, Edit, Errors, MemoryBudget, Reason, Rewrite, RewriteError, more_than,
};
use crate::collector::Collector;
use crate::contents::{MAX_FILE_BYTES, NOT_TEXT, UTF_16, is_utf16, reason, text};
use crate::parallel::{Enqueue, share_out};
use crate::params::{Params, invalid};
use crate::parsers::{ParserSettings, Parsers};
use crate::plan::FILE_BYTES;
use crate::selection::Selection;
use crate::walk::{WalkEntry, walk};

/// The most files that one action can change: the host's limit for an apply.
const MAX_FILES: usize = 100_000;

/// The advice when there are too many matches.
pub(crate) const NARROW: &str = "name fewer files with `paths`, or set `limit`";

/// The most memory that all replacements of one call may take, in bytes.
pub(crate) const MAX_EDITS_BYTES: usize = 256 << 20;

/// The number of files that are searched between two progress reports.
const FILES_PER_REPORT: u64 = 1000;

/// A search, prepared from the params.
pub(crate) struct Search<'a> {
    pub params: &'a Params,
    pub selection: Selection,
    pub folder: &'a ReadableFolder,
    pub call: &'a RunningCall,
    parsers: Parsers<'a>,
    pub room: MemoryBudget,
    /// True if the new contents are parsed, too.
    checks_contents: bool,
}

/// A file with replacements.
#[derive(Debug)]
pub(crate) struct Matched {
    pub path: PathBuf,
    /// The digest of its current bytes.
    pub before: Digest,
    /// The digest of its bytes after all edits.
    pub after: Digest,
    pub edits: Vec<Edit>,
    pub is_read_only: bool,
    /// The line of the first syntax error in the new contents, if they have more of them than the
    /// old ones.
    pub breaks: Option<usize>,
}

/// Occurrences of something in the searched files.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub count: usize,
    /// The lines of the first ones, by path.
    pub by_file: BTreeMap<String, Vec<usize>>,
}

/// The results of a search.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// The files with replacements, by path.
    pub matched: Vec<Matched>,
    /// The number of files that were searched.
    pub searched: u64,
    /// The number of matches inside other matches, see [`rewrite::Rewrite::nested`].
    pub nested: usize,
    /// Other matches that are left unchanged.
    pub left: BTreeMap<Reason, Places>,
    /// Words in some of those matches that their pattern doesn't have.
    pub words: BTreeSet<String>,
    /// Comments that are removed with replaced code.
    pub comments: Places,
    /// Files that could not be searched, with the reason, by path.
    pub skipped: BTreeMap<String, String>,
    /// Files with syntax errors, by path.
    pub errors: BTreeMap<String, Errors>,
    /// Excluded folders of dependencies and builds.
    pub left_out: Vec<PathBuf>,
    /// The number of matches of each op.
    pub matches: Vec<usize>,
    /// The number of searched files of each language, largest first.
    pub languages: Vec<(Language, u64)>,
    /// Ops with a metavariable that has the name of a variable in a file, in languages that write
    /// both alike.
    pub own_variables: BTreeMap<usize, (Language, String)>,
}

impl Results {
    /// Returns the number of matches that are left unchanged for a reason.
    pub fn left_for(&self, reason: Reason) -> usize {
        self.left.get(&reason).map_or(0, |places| places.count)
    }
}

impl<'a> Search<'a> {
    pub fn new(
        params: &'a Params,
        folder: &'a ReadableFolder,
        parsing: &ParserSettings,
        call: &'a RunningCall,
    ) -> Result<Self, Error> {
        let language = params.language()?;
        let search = Self {
            params,
            selection: Selection::read(params.paths.as_deref(), language, folder)?,
            folder,
            call,
            parsers: Parsers::new(parsing, &params.ops, call),
            room: MemoryBudget::new(MAX_EDITS_BYTES),
            checks_contents: false,
        };
        if let Some(language) = language {
            let ops = search.outline(language)?;
            if let Some((index, refusal)) = ops.refused.first() {
                return Err(refused(*index, refusal));
            }
        }
        Ok(search)
    }

    /// Parses the new contents too, to detect when they are no longer valid code.
    pub fn with_contents_checked(self) -> Self {
        Self {
            checks_contents: true,
            ..self
        }
    }

    /// Searches all selected files, except those for which `leave_out` returns true.
    pub fn run(&self, leave_out: impl Fn(&Path) -> bool + Sync) -> Result<Results, Error> {
        let collector = Collector::new(self.params.ops.len());
        let feed = |give: Enqueue<'_, Job>| self.feed(give, &leave_out, &collector);
        share_out(usize::MAX, feed, |job: Job| {
            collector.keep(self.search(&job, &collector))
        });
        // Check again, because the call may have had to end before the first file.
        self.call.check()?;
        collector.finish()
    }

    /// Feeds all selected files to the search threads.
    fn feed(
        &self,
        give: Enqueue<'_, Job>,
        leave_out: &(impl Fn(&Path) -> bool + Sync),
        collector: &Collector,
    ) {
        for path in self.selection.files().filter(|path| !leave_out(path)) {
            if let Some(language) = self.selection.language_of_named(path) {
                let job = Job::new(path, language, true);
                if give(job).is_break() {
                    return;
                }
            }
        }
        let starts = self.selection.starts();
        if starts.is_empty() {
            return;
        }
        let visit = |path: &Path, language: Option<Language>| match language {
            Some(language) if !self.selection.names(path) && !leave_out(path) => {
                give(Job::new(path, language, false))
            }
            _ => ControlFlow::Continue(()),
        };
        let left_out = walk(self.folder, &starts, |visited| {
            collector.keep(self.call.check())?;
            match visited {
                WalkEntry::Unreadable(problem) => {
                    collector.skip(problem, "can't be read".to_owned());
                    ControlFlow::Continue(())
                }
                WalkEntry::File(path) => visit(path, self.selection.language(path)),
                WalkEntry::Hidden(path) => visit(path, self.selection.language_of_hidden(path)),
                WalkEntry::Other => ControlFlow::Continue(()),
            }
        });
        collector.leave_out(left_out);
    }

    /// Returns the ops as code of a language.
    ///
    /// # Errors
    /// Those of [`RunningCall::check`]: ops that are read while the call has to end are incomplete.
    /// [`Error::Tool`], if the parser needs too much for the ops themselves.
    pub fn outline(&self, language: Language) -> Result<&Outline, Error> {
        let outline = self.parsers.outline(language);
        self.call.check()?;
        outline.map_err(|why| Error::Tool {
            message: format!("can't read `ops` as {}: {why}", language.name()),
        })
    }

    /// Returns the rewrite of one source, as [`rewrite::find`] finds it.
    pub fn find(&self, language: Language, source: &str) -> Result<Rewrite, RewriteError> {
        let checks = self.checks_contents;
        self.parsers.find(language, source, &self.room, checks)
    }

    /// Searches one file. Files that were named must be searchable; other files in a folder are
    /// skipped if they are not.
    fn search(&self, job: &Job, collector: &Collector) -> Result<(), Error> {
        let Job {
            path,
            language,
            named,
        } = job;
        self.call.check()?;
        let ops = self.outline(*language)?;
        let searched = collector.count(*language);
        if searched.is_multiple_of(FILES_PER_REPORT) {
            let message = format!("Searched {searched} files");
            self.call.progress(message, searched as f64);
        }
        if ops.is_empty() {
            return Ok(());
        }
        let skip = |reason: String| {
            if *named {
                Err(Error::Tool {
                    message: format!("can't search {}: {reason}", path.display()),
                })
            } else {
                collector.skip(path.display().to_string(), reason);
                Ok(())
            }
        };
        let file = match self.folder.read(path, MAX_FILE_BYTES) {
            Ok(file) => file,
            Err(unread) => return skip(reason(&unread)),
        };
        // In UTF-16, words can't be found as they are written.
        if is_utf16(&file.bytes) {
            return skip(UTF_16.to_owned());
        }
        if !ops.may_match(&file.bytes) {
            return Ok(());
        }
        let Some(source) = text(&file.bytes) else {
            return skip(NOT_TEXT.to_owned());
        };
        let found = match self.find(*language, source) {
            Ok(found) => found,
            Err(RewriteError::ParseFailure(why)) if !matches!(why, ParseFailure::NotStarted(_)) => {
                self.call.check()?;
                return skip(why.to_string());
            }
            Err(stuck) => return Err(refusal(&stuck, path)),
        };
        for (op, name) in ops.variables_of_its_own(source) {
            collector.has_variable(op, *language, name);
        }
        let breaks = found.breaks;
        let edits = collector.take(path, found);
        if edits.is_empty() {
            return Ok(());
        }
        let Some(name) = path
            .to_str()
            .filter(|name| !name.contains(char::is_control))
        else {
            return skip("its name is not plain text".to_owned());
        };
        let new = rewrite::replace(source, &edits);
        let files = collector.add(Matched {
            path: PathBuf::from(name),
            before: Digest::of(&file.bytes),
            after: Digest::of(new.as_bytes()),
            edits,
            is_read_only: file.is_read_only(),
            breaks,
        });
        let most = MAX_FILES.min(self.call.limits().state_bytes / FILE_BYTES);
        if files > most && self.params.limit.is_none() {
            Err(Error::Tool {
                message: format!(
                    "there would be replacements in more than {most} files, which is the limit of one action; {NARROW}"
                ),
            })
        } else {
            Ok(())
        }
    }

    /// Returns the line of the first syntax error in a file's new contents, if they have more of
    /// them than the old ones.
    pub fn breaks_file(&self, path: &Path, old: &str, new: &str) -> Result<Option<usize>, Error> {
        let Some(language) = self.selection.language_of_selected(path) else {
            return Ok(None);
        };
        let errors = |text| self.parsers.errors(language, text);
        // Unparsable contents are not reported as broken.
        let (Ok(before), Ok(after)) = (errors(old), errors(new)) else {
            return Ok(None);
        };
        Ok(more_than(before.map_or(0, |(count, _)| count), after))
    }

    /// Checks that each op is valid code in at least one of the languages found. Otherwise it is a
    /// mistake, and not an op without matches. The error is the one for the language with the most
    /// files.
    pub fn check_that_each_op_was_read(&self, results: &Results) -> Result<(), Error> {
        let languages = results.languages.iter();
        let met: Vec<&Outline> = languages
            .filter_map(|(language, _)| self.parsers.outline(*language).ok())
            .collect();
        for index in 0..self.params.ops.len() {
            if met.iter().any(|ops| ops.has(index)) {
                continue;
            }
            if let Some(refusal) = met.iter().find_map(|ops| ops.refusal(index)) {
                return Err(refused(index, refusal));
            }
        }
        Ok(())
    }
}

/// A file to search.
struct Job {
    path: PathBuf,
    language: Language,
    /// True if the file itself was named.
    named: bool,
}

impl Job {
    fn new(path: &Path, language: Language, named: bool) -> Self {
        Self {
            path: path.to_owned(),
            language,
            named,
        }
    }
}

fn refused(index: usize, refusal: &Refusal) -> Error {
    let path = format!("/ops/{index}/{}", refusal.field);
    invalid(&path, refusal.message.as_str())
}

/// Returns the error for a file that can't be changed, which fails the call.
pub(crate) fn refusal(stuck: &RewriteError, path: &Path) -> Error {
    let message = match stuck {
        RewriteError::Overlap {
            ops: (first, second),
            line,
        } => format!(
            "ops {first} and {second} would both change {}:{line}; make two calls, the one for what lies inside first",
            path.display()
        ),
        RewriteError::TooLarge => format!(
            "there is too much to replace: more than {} MiB of text; name fewer files with `paths`, or say more in `pat`",
            MAX_EDITS_BYTES >> 20
        ),
        RewriteError::ParseFailure(why) => format!("can't search {}: {why}", path.display()),
    };
    Error::Tool { message }
}
