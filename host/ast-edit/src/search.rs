//! Finds all replacements in the files that are meant. It has nothing to write with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use airlock_host::Error;
use airlock_host::digest::Digest;
use airlock_host::native::RunningCall;
use airlock_host::native::folder::{ReadableFolder, Unread};

use crate::code::language::Language;
use crate::code::outline::{Outline, Refusal};
use crate::code::parser::ParseFailure;
use crate::code::rewrite::{
    self, Edit, Errors, MemoryBudget, Reason, Rewrite, RewriteError, more_than,
};
use crate::collector::Collector;
use crate::parallel::{Enqueue, share_out};
use crate::params::{Params, invalid};
use crate::parsers::{ParserSettings, Parsers};
use crate::plan::FILE_BYTES;
use crate::selection::Selection;
use crate::walk::{WalkEntry, walk};

/// Larger files were hardly written by hand, and parsing one takes seconds and a hundred times its
/// size in memory.
pub(crate) const MAX_FILE_BYTES: u64 = 4 << 20;

/// How many files one action can change, where its state has room for them: what the host lets an
/// apply change.
const MAX_FILES: usize = 100_000;

/// What to do where there is too much.
pub(crate) const NARROW: &str = "name fewer files with `paths`, or set `limit`";

/// The most that all replacements of one call may take of memory.
pub(crate) const MAX_EDITS_BYTES: usize = 256 << 20;

/// How many files are searched between two reports of progress.
const FILES_PER_REPORT: u64 = 1000;

/// All that the params mean, ready to search with.
pub(crate) struct Search<'a> {
    pub params: &'a Params,
    pub selection: Selection,
    pub folder: &'a ReadableFolder,
    pub call: &'a RunningCall,
    parsers: Parsers<'a>,
    pub room: MemoryBudget,
    /// Whether the new contents are parsed, too.
    checks_contents: bool,
}

/// A file in which something would be replaced.
#[derive(Debug)]
pub(crate) struct Matched {
    pub path: PathBuf,
    /// Of its bytes as they are.
    pub before: Digest,
    /// Of its bytes with all edits made.
    pub after: Digest,
    pub edits: Vec<Edit>,
    pub is_read_only: bool,
    /// The line of the first syntax error in the new contents, where these have more of them
    /// than the old ones.
    pub breaks: Option<usize>,
}

/// Something that is in the searched files several times.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub count: usize,
    /// The lines of the first ones, by path.
    pub by_file: BTreeMap<String, Vec<usize>>,
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// By their paths.
    pub matched: Vec<Matched>,
    /// How many files were looked at.
    pub searched: u64,
    /// Matches inside of other matches, see [`rewrite::Rewrite::nested`].
    pub nested: usize,
    /// Other matches that are left as they are.
    pub left: BTreeMap<Reason, Places>,
    /// What some of those have that their pattern doesn't.
    pub words: BTreeSet<String>,
    /// Comments that go with replaced code.
    pub comments: Places,
    /// What could not be searched, and why, by path.
    pub skipped: BTreeMap<String, String>,
    /// Files with syntax errors, by path.
    pub errors: BTreeMap<String, Errors>,
    /// Folders of dependencies and builds that were left out.
    pub left_out: Vec<PathBuf>,
    /// How many matches each op has.
    pub matches: Vec<usize>,
    /// How many files of each language were looked at, the most first.
    pub languages: Vec<(Language, u64)>,
    /// Ops with a metavariable that has the name of a variable in a file whose language writes
    /// variables alike.
    pub own_variables: BTreeMap<usize, (Language, String)>,
}

impl Results {
    /// How many matches are left for a reason.
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

    /// Parses the new contents too, so that it can be told where they are no code any more.
    pub fn with_contents_checked(self) -> Self {
        Self {
            checks_contents: true,
            ..self
        }
    }

    /// Searches all files that are meant, but those that `leave_out` knows.
    pub fn run(&self, leave_out: impl Fn(&Path) -> bool + Sync) -> Result<Results, Error> {
        let collector = Collector::new(self.params.ops.len());
        let feed = |give: Enqueue<'_, Job>| self.feed(give, &leave_out, &collector);
        share_out(usize::MAX, feed, |job: Job| {
            collector.keep(self.search(&job, &collector))
        });
        // Also where it had to end before the first file was met.
        self.call.check()?;
        collector.finish()
    }

    /// Gives all files that are meant to those who search them.
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

    /// The ops as code of a language.
    ///
    /// # Errors
    /// Those of [`RunningCall::check`]: what is read when the call has to end is not complete.
    /// [`Error::Tool`] where the parser needs too much for the ops themselves.
    pub fn outline(&self, language: Language) -> Result<&Outline, Error> {
        let outline = self.parsers.outline(language);
        self.call.check()?;
        outline.map_err(|why| Error::Tool {
            message: format!("can't read `ops` as {}: {why}", language.name()),
        })
    }

    /// What becomes of one source, as [`rewrite::find`] finds it.
    pub fn find(&self, language: Language, source: &str) -> Result<Rewrite, RewriteError> {
        let checks = self.checks_contents;
        self.parsers.find(language, source, &self.room, checks)
    }

    /// Searches one file. What was named must be searchable; what a folder has besides code need
    /// not be.
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
        // Its words can't be found as they are written.
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
        match files > most && self.params.limit.is_none() {
            true => Err(Error::Tool {
                message: format!(
                    "there would be replacements in more than {most} files, which is the limit of one action; {NARROW}"
                ),
            }),
            false => Ok(()),
        }
    }

    /// In which line the new contents of a file have the first error of syntax, where they have
    /// more of them than the old ones.
    pub fn breaks_file(&self, path: &Path, old: &str, new: &str) -> Result<Option<usize>, Error> {
        let Some(language) = self.selection.language_of_selected(path) else {
            return Ok(None);
        };
        let errors = |text| self.parsers.errors(language, text);
        // What can't be parsed is not known to break anything.
        let (Ok(before), Ok(after)) = (errors(old), errors(new)) else {
            return Ok(None);
        };
        Ok(more_than(before.map_or(0, |(count, _)| count), after))
    }

    /// An op that is code in no language that was met is a mistake, and not one without matches.
    /// What is wrong with it is told for the language of the most files.
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

/// A file to be searched.
struct Job {
    path: PathBuf,
    language: Language,
    /// Whether it was named itself.
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

/// What can't be done in a file, and so not at all.
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

/// Why a file can't be searched.
fn reason(unread: &Unread) -> String {
    match unread {
        Unread::TooLarge(size) => format!("it is {size} bytes; the limit is {MAX_FILE_BYTES}"),
        Unread::NotAFile => "it is not a file".to_owned(),
        other => other.to_string(),
    }
}

const NOT_TEXT: &str = "it is not text in UTF-8";

const UTF_16: &str = "it is text in UTF-16; convert it to UTF-8 to search it";

/// Whether a file says that it is UTF-16, by its first two bytes.
fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// The source, where it is text.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!bytes.contains(&0)).then_some(text)
}
