//! Rewriting one piece of source. This module knows nothing about files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ast_grep_core::Node;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::document::Document;
use super::embedded;
use super::grammar::Grammar;
use super::language::Language;
use super::lines::{LineEnds, Lines};
use super::meaning;
use super::op_search::OpSearch;
use super::parser::ParseFailure;
use super::pattern::Ops;
use super::syntax_errors::SyntaxErrors;
use airlock_host::native::Stop;

/// A replacement, in bytes of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

/// The changes to one piece of source.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rewrite {
    /// The edits, by position. They don't overlap.
    pub edits: Vec<Edit>,
    /// The number of matches inside other matches of the same op, which are left unchanged.
    pub nested: usize,
    /// Other matches that are left unchanged.
    pub left: BTreeMap<Reason, Occurrences>,
    /// The code in these matches that their pattern doesn't have: one word for each.
    pub words: BTreeSet<String>,
    /// Comments inside replaced code, which are removed with it.
    pub comments: Occurrences,
    /// The number of matches of each op, by index, whether replaced or not.
    pub matches: BTreeMap<usize, usize>,
    /// The syntax errors of the source itself.
    pub errors: Option<Errors>,
    /// The line of the first syntax error in the result, if it has more of them than the source.
    /// Only set if requested.
    pub breaks: Option<usize>,
}

/// The reason why a match is left unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Reason {
    /// The match is in, next to or around a syntax error.
    SyntaxError,
    /// The match has code that the pattern doesn't have, which the replacement would drop.
    MoreThanPattern,
    /// The replacement would have another meaning there.
    Meaning,
    /// The replacement is code, but not in that place.
    NoCode,
}

/// Syntax errors in a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Errors {
    pub count: usize,
    /// The line of the first one, counted from 1.
    pub line: usize,
}

/// Occurrences of something in a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Occurrences {
    pub count: usize,
    /// The lines of the first ones, counted from 1.
    pub lines: Vec<usize>,
}

impl Occurrences {
    /// Adds the occurrences of a part that begins after `lines` lines.
    pub(super) fn add(&mut self, part: Occurrences, lines: usize) {
        self.count += part.count;
        self.lines
            .extend(part.lines.into_iter().map(|line| line + lines));
        self.lines.truncate(LINES_NAMED);
    }

    /// Returns the occurrences at some bytes of a source.
    pub(super) fn at(source: &str, mut places: Vec<usize>) -> Self {
        places.sort_unstable();
        let count = places.len();
        let mut lines = Lines::of(source);
        let lines = places.into_iter().map(|at| lines.at(at));
        let mut lines: Vec<usize> = lines.collect();
        lines.dedup();
        lines.truncate(LINES_NAMED);
        Self { count, lines }
    }
}

/// The most lines that are kept of each kind of occurrence.
pub(crate) const LINES_NAMED: usize = 20;

/// The most words that are kept of code missing from the pattern.
pub(crate) const WORDS_NAMED: usize = 5;

/// The most bytes of such a word.
pub(crate) const WORD_BYTES: usize = 80;

/// The reason why a source can't be changed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RewriteError {
    /// Two ops would change the same place.
    Overlap {
        /// The indexes of the ops from 0; the op that begins first comes first.
        ops: (usize, usize),
        /// The line, counted from 1.
        line: usize,
    },
    /// The replacements would exceed the memory budget.
    TooLarge,
    ParseFailure(ParseFailure),
}

/// The bytes that the replacements of a call may still use, in total.
pub(crate) struct MemoryBudget(AtomicUsize);

impl MemoryBudget {
    pub fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Returns the number of bytes left.
    pub fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns bytes that are no longer needed to the budget.
    pub fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn take(&self, bytes: usize) -> Result<(), RewriteError> {
        let order = Ordering::Relaxed;
        let taken = self
            .0
            .fetch_update(order, order, |left| left.checked_sub(bytes));
        taken.map(drop).map_err(|_| RewriteError::TooLarge)
    }
}

/// Finds everything that the ops would replace. With `checks_contents`, also checks whether the
/// result is still valid code.
pub(crate) fn find(
    source: &str,
    ops: &Ops,
    room: &MemoryBudget,
    checks_contents: bool,
    stop: &Arc<Stop>,
) -> Result<Rewrite, RewriteError> {
    let (mut found, has_errors) = find_edits(source, ops, room, stop)?;
    if checks_contents && has_errors {
        let after = errors(&replace(source, &found.edits), ops.language(), stop);
        let before = found.errors.as_ref().map_or(0, |errors| errors.count);
        found.breaks = more_than(before, after.ok().flatten());
    }
    if ops.embedded.iter().any(|inner| inner.may_match(source)) {
        embedded::add(&mut found, source, ops, (room, checks_contents), stop)?;
    }
    Ok(found)
}

impl Rewrite {
    /// Adds the matches in a part of the source.
    pub(super) fn merge(&mut self, part: Rewrite, start: usize, lines: usize) {
        let edits = part.edits.into_iter().map(|Edit { range, text }| Edit {
            range: range.start + start..range.end + start,
            text,
        });
        self.edits.extend(edits);
        self.nested += part.nested;
        for (reason, places) in part.left {
            self.left.entry(reason).or_default().add(places, lines);
        }
        self.words.extend(part.words);
        while self.words.len() > WORDS_NAMED {
            self.words.pop_last();
        }
        self.comments.add(part.comments, lines);
        for (op, matches) in part.matches {
            *self.matches.entry(op).or_default() += matches;
        }
        self.breaks = self.breaks.or(part.breaks.map(|line| line + lines));
        self.errors = match (self.errors.take(), part.errors) {
            (Some(one), Some(more)) => Some(Errors {
                count: one.count + more.count,
                line: one.line.min(more.line + lines),
            }),
            (one, more) => one.or(more.map(|more| Errors {
                line: more.line + lines,
                ..more
            })),
        };
    }
}

/// Returns the line of the first error if there are more than `before`.
pub(crate) fn more_than(before: usize, errors: Option<(usize, usize)>) -> Option<usize> {
    errors.and_then(|(count, line)| (count > before).then_some(line))
}

/// Returns the edits, and whether the result has syntax errors. A replacement that equals the
/// original is not an edit.
fn find_edits(
    source: &str,
    ops: &Ops,
    room: &MemoryBudget,
    stop: &Arc<Stop>,
) -> Result<(Rewrite, bool), RewriteError> {
    // The three bytes of a byte order mark before the first token are not code.
    let offset = mark(source);
    let code = &source[offset..];
    if !ops.may_match(code) {
        return Ok((Rewrite::default(), false));
    }
    let grammar = Grammar::new(ops.language(), stop);
    let root = Document::parse(code, grammar)
        .map_err(RewriteError::ParseFailure)?
        .into_root();
    let root = root.root();
    let document = root.get_doc();
    let damage = SyntaxErrors::of(document);
    let searches = search(&root, ops, damage.as_ref(), room)?;
    if document.was_stopped() {
        return Err(RewriteError::ParseFailure(ParseFailure::Stopped));
    }
    let mut found = Rewrite {
        errors: damage.as_ref().map(|damage| Errors {
            count: damage.count(),
            line: Lines::of(code).at(damage.first()),
        }),
        ..Rewrite::default()
    };
    let mut left: BTreeMap<Reason, Vec<usize>> = BTreeMap::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    for OpSearch { op, seen, .. } in searches {
        found.matches.insert(op.index, seen.matches);
        found.nested += seen.nested;
        found.words.extend(seen.words);
        for (reason, at) in seen.left {
            left.entry(reason).or_default().push(at);
        }
        candidates.extend(seen.candidates);
    }
    while found.words.len() > WORDS_NAMED {
        found.words.pop_last();
    }
    candidates.sort_by_key(|candidate| (candidate.edit.range.start, candidate.edit.range.end));
    check_overlaps(code, &candidates)?;
    let kept =
        meaning::keep(document, damage.as_ref(), candidates).map_err(RewriteError::ParseFailure)?;
    for (reason, at) in kept.left {
        left.entry(reason).or_default().push(at);
    }
    let left = left.into_iter();
    found.left = left
        .map(|(reason, places)| (reason, Occurrences::at(code, places)))
        .collect();
    let comments = kept
        .candidates
        .iter()
        .flat_map(|candidate| &candidate.comments);
    found.comments = Occurrences::at(code, comments.copied().collect());
    let edits = kept.candidates.into_iter().map(|candidate| Edit {
        range: candidate.edit.range.start + offset..candidate.edit.range.end + offset,
        text: candidate.edit.text,
    });
    found.edits = edits.collect();
    Ok((found, kept.has_errors))
}

/// Returns the matches of each op.
fn search<'a>(
    root: &Node<'_, Document>,
    ops: &'a Ops,
    damage: Option<&SyntaxErrors>,
    room: &MemoryBudget,
) -> Result<Vec<OpSearch<'a>>, RewriteError> {
    let code = root.get_doc().source();
    let ops = ops.iter();
    let mut searches: Vec<OpSearch<'_>> = ops.filter_map(|op| OpSearch::new(op, code)).collect();
    let line_ends = LineEnds::of(code);
    for node in root.dfs() {
        let is_damaged =
            || damage.is_some_and(|damage| damage.touches(&node.get_inner_node().inner(), code));
        for search in &mut searches {
            search.visit(&node, is_damaged, &line_ends, room)?;
        }
    }
    Ok(searches)
}

/// Checks that no two ops change the same place.
fn check_overlaps(code: &str, candidates: &[Candidate]) -> Result<(), RewriteError> {
    let mut pairs = candidates.windows(2);
    let overlap = pairs.find_map(|pair| match pair {
        [first, second] if second.edit.range.start < first.edit.range.end => Some((first, second)),
        _ => None,
    });
    match overlap {
        None => Ok(()),
        Some((first, second)) => Err(RewriteError::Overlap {
            ops: (first.op, second.op),
            line: Lines::of(code).at(second.edit.range.start),
        }),
    }
}

/// Returns the number of syntax errors in a source and the line of the first one, or `None` if
/// there are none.
pub(crate) fn errors(
    source: &str,
    language: Language,
    stop: &Arc<Stop>,
) -> Result<Option<(usize, usize)>, ParseFailure> {
    let offset = mark(source);
    let document = Document::parse(&source[offset..], Grammar::new(language, stop))?;
    let damage = SyntaxErrors::of(&document);
    if document.was_stopped() {
        Err(ParseFailure::Stopped)
    } else {
        Ok(damage.map(|damage| {
            (
                damage.count(),
                Lines::of(source).at(damage.first() + offset),
            )
        }))
    }
}

/// Returns the length in bytes of the byte order mark at the start of a source.
fn mark(source: &str) -> usize {
    if source.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    }
}

/// Returns the source with the edits applied. All other bytes stay unchanged.
pub(crate) fn replace(source: &str, edits: &[Edit]) -> String {
    let grows: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut replaced = String::with_capacity(source.len() + grows);
    let mut at = 0;
    for edit in edits {
        replaced.push_str(&source[at..edit.range.start]);
        replaced.push_str(&edit.text);
        at = edit.range.end;
    }
    replaced.push_str(&source[at..]);
    replaced
}
