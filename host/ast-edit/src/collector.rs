//! The results that the threads of a search have found so far.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use airlock_host::Error;

use crate::code::language::Language;
use crate::code::rewrite::{Edit, Occurrences, Rewrite};
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
    results: Mutex<Results>,
    failed: Mutex<Option<Error>>,
}

impl Collector {
    pub fn new(ops: usize) -> Self {
        let results = Results {
            matches: vec![0; ops],
            ..Results::default()
        };
        Self {
            results: Mutex::new(results),
            failed: Mutex::default(),
        }
    }

    /// Counts one more searched file. Returns how many there are.
    pub fn count(&self, language: Language) -> u64 {
        let mut results = lock(&self.results);
        let mut known = results.languages.iter_mut();
        match known.find(|(known, _)| *known == language) {
            Some((_, files)) => *files += 1,
            None => results.languages.push((language, 1)),
        }
        results.searched += 1;
        results.searched
    }

    /// Adds a file. Returns how many there are.
    pub fn add(&self, matched: Matched) -> usize {
        let all = &mut lock(&self.results).matched;
        all.push(matched);
        all.len()
    }

    pub fn skip(&self, path: String, reason: String) {
        lock(&self.results).skipped.insert(path, reason);
    }

    pub fn leave_out(&self, folders: BTreeSet<PathBuf>) {
        lock(&self.results).left_out.extend(folders);
    }

    /// Records that an op's metavariable has the same name as a variable of the source.
    pub fn has_variable(&self, op: usize, language: Language, name: &str) {
        let known = &mut lock(&self.results).own_variables;
        known
            .entry(op)
            .or_insert_with(|| (language, name.to_owned()));
    }

    /// Takes everything that was found in a file, except the edits, which it returns.
    pub fn take(&self, path: &Path, found: Rewrite) -> Vec<Edit> {
        let mut results = lock(&self.results);
        results.nested += found.nested;
        for (op, matches) in found.matches {
            results.matches[op] += matches;
        }
        for (reason, places) in found.left {
            results.left.entry(reason).or_default().add(path, places);
        }
        results.words.extend(found.words);
        while results.words.len() > NAMED {
            results.words.pop_last();
        }
        if found.comments.count > 0 {
            results.comments.add(path, found.comments);
        }
        if let Some(found) = found.errors
            && results.errors.len() < ERRORS_KEPT
        {
            results.errors.insert(path.display().to_string(), found);
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
        let mut results = into_inner(self.results);
        let matched = &mut results.matched;
        matched.sort_by(|one, other| one.path.cmp(&other.path));
        // A file that is named twice is found twice.
        matched.dedup_by(|one, other| one.path == other.path);
        let by_files = |(language, files): &(Language, u64)| (Reverse(*files), *language);
        results.languages.sort_by_key(by_files);
        Ok(results)
    }
}
