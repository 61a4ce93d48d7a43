//! One piece of source and what becomes of it. Nothing here knows files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ast_grep_core::matcher::{MatcherExt as _, Pattern};
use ast_grep_core::{Matcher as _, NodeMatch};
use serde::{Deserialize, Serialize};
use tree_sitter::{InputEdit, Tree};

use super::document::Document;
use super::grammar::Grammar;
use super::language::Language;
use super::lines::{LineEnds, Lines, after};
use super::parser::ParseFailure;
use super::pattern::{Ops, ReadOp, Reading};
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
    /// How many matches each op has, by its index, whatever becomes of them.
    pub matches: BTreeMap<usize, usize>,
    /// What is wrong with the source itself.
    pub errors: Option<Errors>,
    /// The line of the first syntax error in what the edits make of the source, where that has
    /// more of them than the source has. Known only where it was asked for.
    pub breaks: Option<usize>,
}

/// Syntax errors in a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Errors {
    pub count: usize,
    /// Of the first one, counted from 1.
    pub line: usize,
    /// Matches that are left as they are, being in, beside or around one.
    pub left: usize,
    /// The lines of the first of these, counted from 1.
    pub left_at: Vec<usize>,
}

/// How many matches that are left are told by their lines, of one source.
pub(crate) const LEFT_NAMED: usize = 20;

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
    let (mut found, tree) = find_edits(source, ops, room, stop)?;
    if checks_contents && !found.edits.is_empty() {
        let new = replace(source, &found.edits);
        let after = match tree {
            Some(tree) => errors_after((source, &found.edits), tree, &new, ops, stop),
            None => errors(&new, ops.language(), stop),
        };
        let before = found.errors.as_ref().map_or(0, |errors| errors.count);
        found.breaks = more_than(before, after.ok().flatten());
    }
    Ok(found)
}

/// The line of the first error, where there are more than so many.
pub(crate) fn more_than(before: usize, errors: Option<(usize, usize)>) -> Option<usize> {
    errors.and_then(|(count, line)| (count > before).then_some(line))
}

/// The edits, and the tree of the source where it was parsed. What would be replaced by itself is
/// no edit.
fn find_edits(
    source: &str,
    ops: &Ops,
    room: &MemoryBudget,
    stop: &Arc<Stop>,
) -> Result<(Rewrite, Option<Tree>), RewriteError> {
    // Three bytes in front of the first token, which are no part of the code.
    let offset = mark(source);
    let code = &source[offset..];
    if !ops.may_match(code) {
        return Ok((Rewrite::default(), None));
    }
    let grammar = Grammar::new(ops.language(), stop);
    let root = Document::parse(code, grammar)
        .map_err(RewriteError::ParseFailure)?
        .into_root();
    let root = root.root();
    let document = root.get_doc();
    let damage = SyntaxErrors::of(document);
    let mut searches: Vec<OpSearch<'_>> = ops
        .iter()
        .filter_map(|op| OpSearch::new(op, code))
        .collect();
    let line_ends = LineEnds::of(code);
    for node in root.dfs() {
        let kind = node.kind_id();
        for search in &mut searches {
            for reading in &search.readings {
                if !reading.may_be(kind) {
                    continue;
                }
                let Some(matched) = reading.pattern.match_node(node.clone()) else {
                    continue;
                };
                let is_damaged = || {
                    let damage = damage.as_ref();
                    damage
                        .is_some_and(|damage| damage.touches(&node.get_inner_node().inner(), code))
                };
                search
                    .seen
                    .take(search.op, reading, &matched, is_damaged, &line_ends, room)?;
            }
        }
    }
    if document.was_stopped() {
        return Err(RewriteError::ParseFailure(ParseFailure::Stopped));
    }
    let mut found = Rewrite::default();
    let mut left = 0;
    let mut left_at = Vec::new();
    let mut all: Vec<(usize, Edit)> = Vec::new();
    for OpSearch { op, seen, .. } in searches {
        found.matches.insert(op.index, seen.matches);
        found.nested += seen.nested;
        left += seen.left;
        left_at.extend(seen.left_at);
        all.extend(seen.edits.into_iter().map(|edit| (op.index, edit)));
    }
    left_at.sort_unstable();
    left_at.dedup();
    left_at.truncate(LEFT_NAMED);
    let mut lines = Lines::of(source);
    found.errors = damage.map(|damage| Errors {
        count: damage.count(),
        line: Lines::of(source).at(damage.first() + offset),
        left,
        left_at: left_at
            .into_iter()
            .map(|at| lines.at(at + offset))
            .collect(),
    });
    all.sort_by_key(|(_, edit)| (edit.range.start, edit.range.end));
    for pair in all.windows(2) {
        let [(first, one), (second, other)] = pair else {
            continue;
        };
        if other.range.start < one.range.end {
            return Err(RewriteError::Overlap {
                ops: (*first, *second),
                line: Lines::of(code).at(other.range.start),
            });
        }
    }
    let moved = all.into_iter().map(|(_, Edit { range, text })| Edit {
        range: range.start + offset..range.end + offset,
        text,
    });
    found.edits = moved.collect();
    Ok((found, Some(document.tree().clone())))
}

/// The same as [`errors`], for a source that edits made of another one, whose tree is known: that
/// is much quicker where there is none.
fn errors_after(
    (old, edits): (&str, &[Edit]),
    mut tree: Tree,
    new: &str,
    ops: &Ops,
    stop: &Arc<Stop>,
) -> Result<Option<(usize, usize)>, ParseFailure> {
    let offset = mark(old);
    let mut places = Lines::of(&old[offset..]);
    let edits = edits.iter().map(|edit| {
        let (start, end) = (edit.range.start - offset, edit.range.end - offset);
        let start_position = places.point(start);
        InputEdit {
            start_byte: start,
            old_end_byte: end,
            new_end_byte: start + edit.text.len(),
            start_position,
            old_end_position: places.point(end),
            new_end_position: after(start_position, &edit.text),
        }
    });
    // From the last on, so that the places of the others stay true.
    let edits: Vec<InputEdit> = edits.collect();
    for edit in edits.iter().rev() {
        if stop.is_due() {
            return Err(ParseFailure::Stopped);
        }
        tree.edit(edit);
    }
    let grammar = Grammar::new(ops.language(), stop);
    let document = Document::parse_again(&new[mark(new)..], grammar, &tree)?;
    match document.tree().root_node().has_error() {
        true => errors(new, ops.language(), stop),
        false => Ok(None),
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

/// One op in one source.
struct OpSearch<'a> {
    op: &'a ReadOp,
    /// Those that may match there.
    readings: Vec<&'a Reading>,
    seen: OpMatches,
}

/// What an op matched so far, outer nodes before those inside.
#[derive(Default)]
struct OpMatches {
    edits: Vec<Edit>,
    matches: usize,
    nested: usize,
    left: usize,
    left_at: Vec<usize>,
    last: Range<usize>,
}

impl<'a> OpSearch<'a> {
    /// None where it can't match.
    fn new(op: &'a ReadOp, code: &str) -> Option<Self> {
        let readings = op.readings.iter();
        let readings: Vec<&Reading> = readings.filter(|reading| reading.may_match(code)).collect();
        let seen = OpMatches::default();
        (!readings.is_empty()).then_some(Self { op, readings, seen })
    }
}

impl OpMatches {
    fn take(
        &mut self,
        op: &ReadOp,
        reading: &Reading,
        matched: &NodeMatch<'_, Document>,
        is_damaged: impl Fn() -> bool,
        line_ends: &LineEnds,
        room: &MemoryBudget,
    ) -> Result<(), RewriteError> {
        let range = replaced(matched, &reading.pattern);
        // One place may match in two readings, or as a node and the only one in it.
        if range.is_empty() || range == self.last {
            return Ok(());
        }
        self.matches += 1;
        if is_damaged() {
            self.left += 1;
            if self.left_at.len() < LEFT_NAMED {
                self.left_at.push(range.start);
            }
            return Ok(());
        }
        if range.start < self.last.end {
            self.nested += 1;
            return Ok(());
        }
        self.last = range.clone();
        room.take(op.template.size(matched) + size_of::<Edit>())?;
        let text = line_ends.make(op.template.fill(matched));
        if matched.get_doc().source()[range.clone()] != text {
            self.edits.push(Edit { range, text });
        }
        Ok(())
    }
}

/// The part of a match that is replaced: a final semicolon stays if the pattern has none.
fn replaced(matched: &NodeMatch<'_, Document>, pattern: &Pattern) -> Range<usize> {
    let range = matched.range();
    match pattern.get_match_len(matched.get_node().clone()) {
        Some(length) => range.start..range.start + length,
        None => range,
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
