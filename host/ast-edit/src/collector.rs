//! The results that the threads of a search have found so far.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use airlock_host::Error;

use crate::code::language::{self, Language};
use crate::code::rewrite::{Edit, Errors, Occurrences, Reason, Rewrite};
use crate::notes::NAMED;
use crate::parallel::{into_inner, lock};
use crate::search::{Matched, Places, Results};

/// The most files with errors that are kept. A folder of code in another dialect has nothing else.
const ERRORS_KEPT: usize = 1000;

/// The most files that are kept with their lines, for each reason.
const FILES_WITH_PLACES: usize = 1000;

impl Places {
    fn add(&mut self, path: &Path, found: Occurrences) {
        self.count += found.count;
        if self.by_file.len() < FILES_WITH_PLACES {
            self.by_file.insert(path.display().to_string(), found.lines);
        }
    }
}

/// The collector of results, which all threads fill at once.
pub(crate) struct Collector {
    matched: Mutex<Vec<Matched>>,
    skipped: Mutex<BTreeMap<String, String>>,
    errors: Mutex<BTreeMap<String, Errors>>,
    left: Mutex<BTreeMap<Reason, Places>>,
    words: Mutex<BTreeSet<String>>,
    comments: Mutex<Places>,
    own_variables: Mutex<BTreeMap<usize, (Language, String)>>,
    left_out: Mutex<BTreeSet<PathBuf>>,
    failed: Mutex<Option<Error>>,
    searched: AtomicU64,
    languages: [AtomicU64; language::COUNT],
    nested: AtomicUsize,
    /// The number of matches, by op.
    matches: Vec<AtomicUsize>,
}

impl Collector {
    pub fn new(ops: usize) -> Self {
        Self {
            matched: Mutex::default(),
            skipped: Mutex::default(),
            errors: Mutex::default(),
            left: Mutex::default(),
            words: Mutex::default(),
            comments: Mutex::default(),
            own_variables: Mutex::default(),
            left_out: Mutex::default(),
            failed: Mutex::default(),
            searched: AtomicU64::default(),
            languages: std::array::from_fn(|_| AtomicU64::default()),
            nested: AtomicUsize::default(),
            matches: (0..ops).map(|_| AtomicUsize::default()).collect(),
        }
    }

    /// Counts one more searched file. Returns how many there are.
    pub fn count(&self, language: Language) -> u64 {
        self.languages[language.index()].fetch_add(1, Ordering::Relaxed);
        self.searched.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Adds a file. Returns how many there are.
    pub fn add(&self, matched: Matched) -> usize {
        let mut all = lock(&self.matched);
        all.push(matched);
        all.len()
    }

    pub fn skip(&self, path: String, reason: String) {
        lock(&self.skipped).insert(path, reason);
    }

    pub fn leave_out(&self, folders: BTreeSet<PathBuf>) {
        lock(&self.left_out).extend(folders);
    }

    /// Records that an op's metavariable has the same name as a variable of the source.
    pub fn has_variable(&self, op: usize, language: Language, name: &str) {
        lock(&self.own_variables)
            .entry(op)
            .or_insert_with(|| (language, name.to_owned()));
    }

    /// Takes everything that was found in a file, except the edits, which it returns.
    pub fn take(&self, path: &Path, found: Rewrite) -> Vec<Edit> {
        self.nested.fetch_add(found.nested, Ordering::Relaxed);
        for (op, matches) in found.matches {
            self.matches[op].fetch_add(matches, Ordering::Relaxed);
        }
        for (reason, places) in found.left {
            lock(&self.left)
                .entry(reason)
                .or_default()
                .add(path, places);
        }
        if !found.words.is_empty() {
            let mut words = lock(&self.words);
            words.extend(found.words);
            while words.len() > NAMED {
                words.pop_last();
            }
        }
        if found.comments.count > 0 {
            lock(&self.comments).add(path, found.comments);
        }
        if let Some(found) = found.errors {
            let mut errors = lock(&self.errors);
            if errors.len() < ERRORS_KEPT {
                errors.insert(path.display().to_string(), found);
            }
        }
        found.edits
    }

    /// Keeps the first failure, which ends the search.
    pub fn keep(&self, found: Result<(), Error>) -> ControlFlow<()> {
        match found {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                lock(&self.failed).get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    pub fn finish(self) -> Result<Results, Error> {
        if let Some(error) = into_inner(self.failed) {
            return Err(error);
        }
        let mut matched = into_inner(self.matched);
        matched.sort_by(|one, other| one.path.cmp(&other.path));
        // A file that is named twice is found twice.
        matched.dedup_by(|one, other| one.path == other.path);
        let counts = self.languages.into_iter().map(AtomicU64::into_inner);
        let mut languages: Vec<(Language, u64)> = Language::all()
            .zip(counts)
            .filter(|(_, files)| *files > 0)
            .collect();
        languages.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        Ok(Results {
            matched,
            searched: self.searched.into_inner(),
            nested: self.nested.into_inner(),
            skipped: into_inner(self.skipped),
            errors: into_inner(self.errors),
            left: into_inner(self.left),
            words: into_inner(self.words),
            comments: into_inner(self.comments),
            left_out: into_inner(self.left_out).into_iter().collect(),
            matches: self
                .matches
                .into_iter()
                .map(AtomicUsize::into_inner)
                .collect(),
            languages,
            own_variables: into_inner(self.own_variables),
        })
    }
}
