//! Finds the replacements that would change the meaning of the code, by parsing the result.
//!
//! A replacement keeps the meaning if
//!
//! - the code around all replacements has the same structure as before;
//! - the replacement is a whole node there, or a list of them;
//! - each captured node in it has the same structure as before.
//!
//! Parentheses are added if that requires them. Any other match is left unchanged.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::{InputEdit, Node, Tree};

use super::binding::{ends_early, needs_parentheses};
use super::candidate::{Candidate, Faults};
use super::compare::{self, Changes, Replaced, innermost};
use super::document::Document;
use super::filled::Inserted;
use super::lenient;
use super::lines::{Lines, after};
use super::parser::ParseFailure;
use super::places::{Place, places, trimmed};
use super::rewrite::{Edit, Reason, replace};
use super::syntax_errors::SyntaxErrors;
use super::texts::is_text;

/// The maximum number of times that a result is parsed.
const TRIES: usize = 12;

/// The try from which on no parentheses are added.
const LAST_WITH_PARENTHESES: usize = 6;

/// The candidates that are kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub candidates: Vec<Candidate>,
    /// The matches that are left unchanged: the reason, and the start position in the source.
    pub left: Vec<(Reason, usize)>,
    /// True if the result has syntax errors.
    pub has_errors: bool,
}

/// Keeps the candidates that don't change the meaning, adding parentheses to some. Fails if the
/// result can't be parsed.
pub(super) fn keep(
    old: &Document,
    old_errors: Option<&SyntaxErrors>,
    mut candidates: Vec<Candidate>,
) -> Result<Kept, ParseFailure> {
    let mut kept = Kept::default();
    let can_wrap = old.grammar().language().has_parentheses();
    for number in 0..TRIES {
        if candidates.is_empty() {
            return Ok(kept);
        }
        let edits: Vec<Edit> = candidates
            .iter()
            .map(|candidate| candidate.edit.clone())
            .collect();
        let text = replace(old.source(), &edits);
        let new = Document::parse_again(&text, old.grammar().clone(), &edited(old, &edits)?)?;
        let faults = Comparison::of((old, old_errors), &new, &candidates)
            .and_then(|seen| seen.faults(&candidates));
        let faults = faults.ok_or(ParseFailure::Stopped)?;
        if faults.iter().all(Faults::is_empty) {
            kept.has_errors = new.tree().root_node().has_error();
            kept.candidates = candidates;
            return Ok(kept);
        }
        let may_wrap = can_wrap && number < LAST_WITH_PARENTHESES;
        let mut good = Vec::with_capacity(candidates.len());
        for (mut candidate, faults) in candidates.into_iter().zip(faults) {
            if faults.is_empty() || (may_wrap && candidate.add_parentheses(&faults)) {
                good.push(candidate);
            } else {
                let reason = candidate.first_reason.unwrap_or(faults.reason());
                kept.left.push((reason, candidate.edit.range.start));
            }
        }
        candidates = good;
    }
    let rest = candidates.into_iter();
    kept.left
        .extend(rest.map(|candidate| (Reason::Meaning, candidate.edit.range.start)));
    Ok(kept)
}

/// Returns the tree of a source, updated with the edits, which makes the next parse much faster.
fn edited(old: &Document, edits: &[Edit]) -> Result<Tree, ParseFailure> {
    let mut lines = Lines::of(old.source());
    let edits: Vec<InputEdit> = edits
        .iter()
        .map(|edit| {
            let (start, end) = (edit.range.start, edit.range.end);
            let start_position = lines.point(start);
            InputEdit {
                start_byte: start,
                old_end_byte: end,
                new_end_byte: start + edit.text.len(),
                start_position,
                old_end_position: lines.point(end),
                new_end_position: after(start_position, &edit.text),
            }
        })
        .collect();
    let mut tree = old.tree().clone();
    // Start with the last edit, so that the positions of the others stay valid.
    for edit in edits.iter().rev() {
        if old.steps().step() {
            return Err(ParseFailure::Stopped);
        }
        tree.edit(edit);
    }
    Ok(tree)
}

/// A source and the result of applying some candidates to it.
struct Comparison<'t> {
    old: &'t Document,
    new: &'t Document,
    /// The range that each candidate replaces and its replacement, without surrounding whitespace.
    /// Includes the semicolon of a statement if nothing else is left of it.
    replaced: Vec<Replaced>,
    /// The start of each edit in the result.
    starts: Vec<usize>,
    old_places: Vec<Place<'t>>,
    old_errors: Option<&'t SyntaxErrors>,
}

impl<'t> Comparison<'t> {
    /// Returns `None` if the call has to end.
    fn of(
        (old, old_errors): (&'t Document, Option<&'t SyntaxErrors>),
        new: &'t Document,
        candidates: &[Candidate],
    ) -> Option<Self> {
        let source = old.source();
        let ranges: Vec<Range<usize>> = candidates
            .iter()
            .map(|candidate| trimmed(source, &candidate.edit.range))
            .collect();
        let mut old_places = places(old, &ranges)?;
        let mut moved = 0_isize;
        let mut replaced = Vec::with_capacity(candidates.len());
        let mut starts = Vec::with_capacity(candidates.len());
        for ((candidate, range), place) in candidates.iter().zip(&ranges).zip(&mut old_places) {
            let edit = &candidate.edit;
            let start = edit.range.start.saturating_add_signed(moved);
            starts.push(start);
            let all = start..start + edit.text.len();
            moved += edit.text.len() as isize - edit.range.len() as isize;
            let new_range = trimmed(new.source(), &all);
            // Whitespace at the end of the edit stays between the code and the semicolon.
            let tail = statement_end(source, range, &place.parent)
                .filter(|end| *end >= edit.range.end)
                .map(|end| end - edit.range.end);
            replaced.push(match tail {
                None => Replaced {
                    old: range.clone(),
                    new: new_range,
                },
                Some(tail) => {
                    place.nodes = vec![place.parent];
                    Replaced {
                        old: range.start..edit.range.end + tail,
                        new: new_range.start..all.end + tail,
                    }
                }
            });
        }
        Some(Self {
            old,
            new,
            replaced,
            starts,
            old_places,
            old_errors,
        })
    }

    /// Returns the faults of each candidate, or `None` if the call has to end.
    fn faults(&self, candidates: &[Candidate]) -> Option<Vec<Faults>> {
        let mut faults = vec![Faults::default(); candidates.len()];
        self.check_captured(candidates, &mut faults)?;
        self.check_whole(candidates, &mut faults)?;
        self.check_emptied(candidates, &mut faults);
        self.check_errors(candidates, &mut faults);
        if faults.iter().all(Faults::is_empty) {
            let changes = compare::outside(self.old, self.new, &self.replaced)?;
            self.blame(&changes, candidates, &mut faults);
        }
        Some(faults)
    }

    /// Checks whether each captured node is the same as before.
    fn check_captured(&self, candidates: &[Candidate], faults: &mut [Faults]) -> Option<()> {
        let mut owners = Vec::new();
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (number, candidate) in candidates.iter().enumerate() {
            let start = self.starts[number];
            for (index, inserted) in candidate.inserted.iter().enumerate() {
                let at = start + inserted.at.start..start + inserted.at.end;
                let (before, now) = (
                    trimmed(self.old.source(), &inserted.from),
                    trimmed(self.new.source(), &at),
                );
                if !before.is_empty() && !now.is_empty() {
                    owners.push((number, index));
                    from.push(before);
                    to.push(now);
                }
            }
        }
        let befores = places(self.old, &from)?;
        let afters = places(self.new, &to)?;
        for (((number, index), before), after) in owners.into_iter().zip(befores).zip(afters) {
            let candidate = &candidates[number];
            let is_broken = is_newly_broken(&before.parent, &after.parent, candidate);
            if !is_broken && !self.is_same(&candidate.inserted[index], &before, &after)? {
                faults[number].captured.push(index);
            }
            let rest = &candidate.edit.text[candidate.inserted[index].at.end..];
            let language = self.old.grammar().language();
            if let [new] = &after.nodes[..]
                && ends_early(language, (&after.parent, new), rest)
            {
                faults[number].captured.push(index);
            }
            if let ([old], [new]) = (&before.nodes[..], &after.nodes[..])
                && before.parent.kind_id() != after.parent.kind_id()
                && old.kind_id() == new.kind_id()
                && self.needs_parentheses(&after.parent, new)
                && candidate.edit.text.len() > candidate.inserted[index].at.len()
            {
                faults[number].captured.push(index);
            }
        }
        Some(())
    }

    fn is_same(&self, inserted: &Inserted, before: &Place<'t>, after: &Place<'t>) -> Option<bool> {
        // Code must not become page text, or the other way round.
        let is_page = |place: &Place<'_>| {
            place.parent.kind() == "jsx_text"
                || matches!(&place.nodes[..], [node] if node.kind() == "jsx_text")
        };
        if is_page(before) != is_page(after) {
            return Some(false);
        }
        // A part of a name, a string or a comment has no meaning by itself.
        if after.nodes.is_empty() || is_unparsed(after) {
            return Some(true);
        }
        if !after.is_exact || !before.is_exact {
            return Some(false);
        }
        if is_unparsed(before) {
            return Some(true);
        }
        match (inserted.is_single, &before.nodes[..], &after.nodes[..]) {
            (true, [before], [after]) => compare::is_same((self.old, *before), (self.new, *after)),
            (true, ..) => Some(false),
            (false, befores, afters) => compare::are_same((self.old, befores), (self.new, afters)),
        }
    }

    /// Checks whether each replacement is a node, or a list of nodes.
    fn check_whole(&self, candidates: &[Candidate], faults: &mut [Faults]) -> Option<()> {
        let ranges = self.replaced.iter().map(|replaced| replaced.new.clone());
        let (numbers, ranges): (Vec<usize>, Vec<Range<usize>>) = ranges
            .enumerate()
            .filter(|(_, range)| !range.is_empty())
            .unzip();
        let afters = places(self.new, &ranges)?;
        for (number, after) in numbers.into_iter().zip(afters) {
            let before = &self.old_places[number];
            let candidate = &candidates[number];
            let is_broken = is_newly_broken(&before.parent, &after.parent, candidate);
            let is_whole = after.is_exact && is_list(&before.nodes, &after.nodes);
            let has_error = after.parent.is_error() || after.nodes.iter().any(Node::has_error);
            let language = self.old.grammar().language();
            faults[number].syntax = (has_error && candidate.must_parse())
                || lenient::is_wrong(
                    language,
                    (before, self.old.source()),
                    (&after, self.new.source()),
                );
            if let ([old], [new]) = (&before.nodes[..], &after.nodes[..]) {
                faults[number].whole |= innermost(*old).kind_id() != innermost(*new).kind_id()
                    && self.needs_parentheses(&after.parent, new);
            }
            faults[number].whole |=
                !(is_broken || is_whole || after.nodes.is_empty() || is_unparsed(&after));
        }
        Some(())
    }

    fn needs_parentheses(&self, parent: &Node<'_>, node: &Node<'_>) -> bool {
        let language = self.old.grammar().language();
        // A statement may consist of nothing but its expression.
        let (mut parent, mut node) = (*parent, *node);
        while node.kind().ends_with("statement")
            && node.named_child_count() == 1
            && let Some(child) = node.named_child(0)
        {
            (parent, node) = (node, child);
        }
        needs_parentheses(language, (&parent, &node), self.new.source())
    }

    /// Checks whether places that must not be empty still have code.
    fn check_emptied(&self, candidates: &[Candidate], faults: &mut [Faults]) {
        let (language, source) = (self.old.grammar().language(), self.old.source());
        for (number, candidate) in candidates.iter().enumerate() {
            let is_emptied = candidate.edit.text.trim().is_empty();
            faults[number].syntax |= is_emptied
                && lenient::must_not_be_empty(language, &self.old_places[number], source);
        }
    }

    /// Blames each new syntax error on the replacement before it.
    fn check_errors(&self, candidates: &[Candidate], faults: &mut [Faults]) {
        let Some(errors) = SyntaxErrors::of(self.new) else {
            return;
        };
        let old = self.old_errors.into_iter().flat_map(SyntaxErrors::starts);
        let known: HashSet<usize> = old.map(|at| compare::moved(&self.replaced, at)).collect();
        for at in errors.starts().filter(|at| !known.contains(at)) {
            let after = self.replaced.partition_point(|edit| edit.new.start <= at);
            let number = after.saturating_sub(1);
            faults[number].syntax |= candidates[number].must_parse();
        }
    }

    /// Determines which candidates changed the code around them.
    fn blame(&self, changes: &Changes, candidates: &[Candidate], faults: &mut [Faults]) {
        let within = |node: &Range<usize>| {
            let starts = self
                .replaced
                .partition_point(|edit| edit.old.start < node.start);
            let ends = self
                .replaced
                .partition_point(|edit| edit.old.end <= node.end);
            if starts < ends {
                starts..ends
            } else {
                // The node contains no replacement: blame the one before it.
                starts.saturating_sub(1)..starts.max(1)
            }
        };
        for node in &changes.nodes {
            for number in within(node) {
                faults[number].whole = true;
            }
        }
        for node in &changes.broken {
            for number in within(node) {
                faults[number].syntax |= candidates[number].must_parse();
            }
        }
    }
}

/// Returns the end of a statement that has only a semicolon after a range.
fn statement_end(source: &str, range: &Range<usize>, parent: &Node<'_>) -> Option<usize> {
    let all = trimmed(source, &parent.byte_range());
    let rest = source.get(range.end..all.end)?;
    (all.start == range.start && rest.trim() == ";").then_some(all.end)
}

/// Returns whether the result has a new syntax error that the preview reports.
fn is_newly_broken(before: &Node<'_>, after: &Node<'_>, candidate: &Candidate) -> bool {
    after.has_error() && !before.has_error() && !candidate.must_parse()
}

/// Returns whether nodes are a single one, or a list: without commas, or all of the original's
/// kind.
fn is_list(before: &[Node<'_>], after: &[Node<'_>]) -> bool {
    let ([old], [_, _, ..]) = (before, after) else {
        return true;
    };
    let has_commas = after.iter().any(|node| node.kind() == ",");
    after.iter().all(|node| {
        if node.is_named() {
            !has_commas || node.kind_id() == old.kind_id()
        } else {
            node.byte_range().is_empty() || matches!(node.kind(), "," | ";" | "\n")
        }
    })
}

/// Returns whether a part lies in text, or in code that isn't parsed as code.
fn is_unparsed(place: &Place<'_>) -> bool {
    let is_macro = |node: &Node<'_>| matches!(node.kind(), "token_tree" | "preproc_arg");
    is_text(&place.parent)
        || is_macro(&place.parent)
        || matches!(&place.nodes[..], [node] if is_macro(node))
}
