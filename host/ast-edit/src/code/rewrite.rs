//! One piece of source and what becomes of it. Nothing here knows files.

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

/// One replacement, in bytes of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

/// What is to be done to one piece of source.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rewrite {
    /// By their place; none overlaps another.
    pub edits: Vec<Edit>,
    /// Matches inside of other matches of the same op, which are left as they are.
    pub nested: usize,
    /// Other matches that are left as they are.
    pub left: BTreeMap<Reason, Occurrences>,
    /// What those have that their pattern doesn't: a word for each.
    pub words: BTreeSet<String>,
    /// Comments inside of replaced code, which go with it.
    pub comments: Occurrences,
    /// How many matches each op has, by its index, whatever becomes of them.
    pub matches: BTreeMap<usize, usize>,
    /// What is wrong with the source itself.
    pub errors: Option<Errors>,
    /// The line of the first syntax error in what the edits make of the source, where that has
    /// more of them than the source has. Known only where it was asked for.
    pub breaks: Option<usize>,
}

/// Why a match is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Reason {
    /// It is in, beside or around a syntax error.
    SyntaxError,
    /// It has code that the pattern doesn't have, which the replacement would drop.
    MoreThanPattern,
    /// The replacement would mean something else there.
    Meaning,
    /// The replacement is code, but not there.
    NoCode,
}

/// Syntax errors in a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Errors {
    pub count: usize,
    /// Of the first one, counted from 1.
    pub line: usize,
}

/// Something that is in a source several times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Occurrences {
    pub count: usize,
    /// Of the first ones, counted from 1.
    pub lines: Vec<usize>,
}

impl Occurrences {
    /// Adds those of a part, which begins after so many lines.
    pub(super) fn add(&mut self, part: Occurrences, lines: usize) {
        self.count += part.count;
        self.lines
            .extend(part.lines.into_iter().map(|line| line + lines));
        self.lines.truncate(LINES_NAMED);
    }

    /// Those at some bytes of a source.
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

/// How many lines are kept of something that is in a source several times.
pub(crate) const LINES_NAMED: usize = 20;

/// How many words a source tells that its matches have and the pattern doesn't.
pub(crate) const WORDS_NAMED: usize = 5;

/// How long such a word may be.
pub(crate) const WORD_BYTES: usize = 80;

/// Why nothing can be done to a source.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RewriteError {
    /// Two ops would change the same place.
    Overlap {
        /// Counted from 0, the one that begins first first.
        ops: (usize, usize),
        /// Counted from 1.
        line: usize,
    },
    /// The replacements would take more memory than there is for them.
    TooLarge,
    ParseFailure(ParseFailure),
}

/// How many bytes the replacements of a call may still have, all together.
pub(crate) struct MemoryBudget(AtomicUsize);

impl MemoryBudget {
    pub fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// What was taken is not needed any more.
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

/// Finds all that the ops would replace, and with `checks_contents` also whether what that makes is
/// still code.
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

/// The line of the first error, where there are more than so many.
pub(crate) fn more_than(before: usize, errors: Option<(usize, usize)>) -> Option<usize> {
    errors.and_then(|(count, line)| (count > before).then_some(line))
}

/// The edits, and whether what they make has syntax errors. What would be replaced by itself is no
/// edit.
fn find_edits(
    source: &str,
    ops: &Ops,
    room: &MemoryBudget,
    stop: &Arc<Stop>,
) -> Result<(Rewrite, bool), RewriteError> {
    // Three bytes in front of the first token, which are no part of the code.
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

/// What each op matches.
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

/// No two ops may change the same place.
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

/// How many syntax errors a source has, and in which line the first one is. None where it has
/// none.
pub(crate) fn errors(
    source: &str,
    language: Language,
    stop: &Arc<Stop>,
) -> Result<Option<(usize, usize)>, ParseFailure> {
    let offset = mark(source);
    let document = Document::parse(&source[offset..], Grammar::new(language, stop))?;
    let damage = SyntaxErrors::of(&document);
    match document.was_stopped() {
        true => Err(ParseFailure::Stopped),
        false => Ok(damage.map(|damage| {
            (
                damage.count(),
                Lines::of(source).at(damage.first() + offset),
            )
        })),
    }
}

/// How many bytes the byte order mark has that a source begins with.
fn mark(source: &str) -> usize {
    match source.starts_with('\u{feff}') {
        true => '\u{feff}'.len_utf8(),
        false => 0,
    }
}

/// The source with the edits made: every byte outside of them as it was.
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
