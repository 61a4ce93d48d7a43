//! The syntax errors of a source, and the code too close to them to be trusted.
//!
//! The parser continues after an error and may misread the code around it. So no code in, next to
//! or around an error is replaced. Code farther away is parsed as usual.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use tree_sitter::Node;

use super::document::{Document, visit};

/// The errors of one source.
#[derive(Debug)]
pub(crate) struct SyntaxErrors {
    /// The ranges of all errors, by start. Missing tokens have an empty range.
    errors: Vec<Range<usize>>,
    /// The errors' ends, in order.
    ends: Vec<usize>,
    /// The errors that are not inside another one.
    outermost: Vec<Range<usize>>,
    /// The nearest named nodes on both sides of each error.
    neighbours: HashSet<usize>,
}

impl SyntaxErrors {
    /// Returns `None` if there is no error.
    pub fn of(document: &Document) -> Option<Self> {
        let root = document.tree().root_node();
        if !root.has_error() {
            return None;
        }
        let mut damage = Self {
            errors: Vec::new(),
            ends: Vec::new(),
            outermost: Vec::new(),
            neighbours: HashSet::new(),
        };
        // The last node at each depth: the last named one, and whether an error followed it.
        let mut before: Vec<(Option<usize>, bool)> = Vec::new();
        visit(&root, document.steps(), |cursor, depth| {
            let node = cursor.node();
            // Deeper nodes belong to other parents.
            before.truncate(depth + 1);
            before.resize(depth + 1, (None, false));
            let (named, after_error) = &mut before[depth];
            if node.is_error() || node.is_missing() {
                damage.neighbours.extend(*named);
                *after_error = true;
                damage.add(node.byte_range());
            } else if node.is_named() {
                if std::mem::take(after_error) {
                    damage.neighbours.insert(node.id());
                }
                *named = Some(node.id());
            }
            ControlFlow::Continue(())
        });
        damage.ends.sort_unstable();
        Some(damage)
    }

    fn add(&mut self, error: Range<usize>) {
        let is_inside = self
            .outermost
            .last()
            .is_some_and(|last| error.end <= last.end);
        if !is_inside {
            self.outermost.push(error.clone());
        }
        self.ends.push(error.end);
        self.errors.push(error);
    }

    /// Returns the number of errors.
    pub fn count(&self) -> usize {
        self.errors.len()
    }

    /// Returns the start of each error.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        self.errors.iter().map(|error| error.start)
    }

    /// Returns the start of the first error.
    pub fn first(&self) -> usize {
        self.errors.first().map_or(0, |error| error.start)
    }

    /// Returns whether the node is in, next to or around an error.
    pub fn touches(&self, node: &Node<'_>, source: &str) -> bool {
        let range = node.byte_range();
        node.has_error()
            || self.neighbours.contains(&node.id())
            || self.is_inside(&range)
            || self.is_beside(&range, source)
    }

    fn is_inside(&self, range: &Range<usize>) -> bool {
        let after = self
            .outermost
            .partition_point(|error| error.start <= range.start);
        let before = after.checked_sub(1).map(|at| &self.outermost[at]);
        before.is_some_and(|error| range.end <= error.end && !error.is_empty())
    }

    /// Returns whether an error is next to the range, with only spaces and line ends in between.
    fn is_beside(&self, range: &Range<usize>, source: &str) -> bool {
        let end = range.end.min(source.len());
        let start = range.start.min(end);
        let behind = &source[end..];
        let reaches = end + (behind.len() - behind.trim_start().len());
        let next = self.errors.partition_point(|error| error.start < end);
        let begins = self
            .errors
            .get(next)
            .is_some_and(|error| error.start <= reaches);
        let from = source[..start].trim_end().len();
        let last = self.ends.partition_point(|error| *error < from);
        let ended = self.ends.get(last).is_some_and(|error| *error <= start);
        begins || ended
    }
}
