//! The matches of one op in one source, and their replacements.

use std::collections::BTreeSet;
use std::ops::Range;

use ast_grep_core::matcher::{MatcherExt as _, Pattern};
use ast_grep_core::{Matcher as _, Node, NodeMatch};

use super::candidate::Candidate;
use super::document::Document;
use super::dropped::shortened;
use super::lines::LineEnds;
use super::pattern::{ReadOp, Reading};
use super::rewrite::{Edit, MemoryBudget, Reason, RewriteError};

/// The search for an op in a source.
pub(super) struct OpSearch<'a> {
    pub op: &'a ReadOp,
    /// The readings that may match in the source.
    readings: Vec<&'a Reading>,
    pub seen: OpMatches,
}

/// The matches of an op so far, outer nodes before inner ones.
#[derive(Default)]
pub(super) struct OpMatches {
    pub candidates: Vec<Candidate>,
    pub matches: usize,
    pub nested: usize,
    /// The matches that are left unchanged, with their start positions.
    pub left: Vec<(Reason, usize)>,
    /// The words, missing from the pattern, because of which matches are left unchanged.
    pub words: BTreeSet<String>,
    last: Range<usize>,
}

impl<'a> OpSearch<'a> {
    /// Returns `None` if the op can't match.
    pub fn new(op: &'a ReadOp, code: &str) -> Option<Self> {
        let readings = op.readings.iter();
        let readings: Vec<&Reading> = readings.filter(|reading| reading.may_match(code)).collect();
        let seen = OpMatches::default();
        (!readings.is_empty()).then_some(Self { op, readings, seen })
    }

    /// Adds the matches of a node.
    ///
    /// # Errors
    /// If the replacements take too much memory.
    pub fn visit(
        &mut self,
        node: &Node<'_, Document>,
        is_damaged: impl Fn() -> bool,
        line_ends: &LineEnds,
        room: &MemoryBudget,
    ) -> Result<(), RewriteError> {
        let kind = node.kind_id();
        for reading in &self.readings {
            if !reading.may_be(kind) {
                continue;
            }
            if let Some(matched) = reading.pattern.match_node(node.clone()) {
                self.seen
                    .take(self.op, reading, &matched, &is_damaged, line_ends, room)?;
            }
        }
        Ok(())
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
        // A place may match in two readings, or both as a node and as its only child.
        if range.is_empty() || range == self.last {
            return Ok(());
        }
        self.matches += 1;
        if is_damaged() {
            self.left.push((Reason::SyntaxError, range.start));
            return Ok(());
        }
        if range.start < self.last.end {
            self.nested += 1;
            return Ok(());
        }
        self.last = range.clone();
        room.take(size_of::<Candidate>())?;
        let (text, inserted) = op.template.fill(matched, range.end, line_ends, room)?;
        if matched.get_doc().source()[range.clone()] == text {
            return Ok(());
        }
        let dropped = reading.leaves.dropped(matched, &range);
        match dropped.word.or_else(|| further_argument(matched, &range)) {
            Some(word) => {
                self.left.push((Reason::MoreThanPattern, range.start));
                self.words.insert(word);
            }
            None => self.candidates.push(Candidate::new(
                (op.index, op.out_is_code),
                Edit { range, text },
                inserted,
                dropped.comments,
            )),
        }
        Ok(())
    }
}

/// Returns the first argument of a Bash command after the replaced part: a pattern with one
/// argument means a command with one.
fn further_argument(matched: &NodeMatch<'_, Document>, range: &Range<usize>) -> Option<String> {
    let is_command =
        matched.kind() == "command" && matched.get_doc().grammar().language().name() == "bash";
    let rest = matched
        .get_doc()
        .source()
        .get(range.end..matched.range().end)?;
    let word = rest.split_whitespace().next()?;
    is_command.then(|| shortened(word))
}

/// Returns the part of a match that is replaced. A final semicolon stays if the pattern has none.
fn replaced(matched: &NodeMatch<'_, Document>, pattern: &Pattern) -> Range<usize> {
    let range = matched.range();
    match pattern.get_match_len(matched.get_node().clone()) {
        Some(length) => range.start..range.start + length,
        None => range,
    }
}
