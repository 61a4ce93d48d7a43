//! Where a source has syntax errors, and what lies too near to them to be trusted.
//!
//! The parser goes on after an error: what it makes of the code around may be something else than
//! what its author meant. So nothing is replaced that is in, beside or around an error; what is
//! farther away is parsed as always.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

use tree_sitter::Node;

use super::document::{Document, visit};

/// The errors of one source.
#[derive(Debug)]
pub(crate) struct SyntaxErrors {
    /// Of each error, by their starts. What is missing is nothing long.
    errors: Vec<Range<usize>>,
    /// The errors' ends, in order.
    ends: Vec<usize>,
    /// Those that lie in no other.
    outermost: Vec<Range<usize>>,
    /// The next nodes with a name on both sides of each error.
    neighbours: HashSet<usize>,
}

impl SyntaxErrors {
    /// None where there is no error.
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
        // By depth, what came last there: the last node with a name, and whether an error came
        // after it.
        let mut before: Vec<(Option<usize>, bool)> = Vec::new();
        visit(&root, document.steps(), |cursor, depth| {
            let node = cursor.node();
            // What was deeper belongs to other parents.
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

    /// How many errors there are.
    pub fn count(&self) -> usize {
        self.errors.len()
    }

    /// Where they begin.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        self.errors.iter().map(|error| error.start)
    }

    /// Where the first one begins.
    pub fn first(&self) -> usize {
        self.errors.first().map_or(0, |error| error.start)
    }

    /// Whether the node is in, beside or around an error.
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

    /// With nothing but spaces and ends of lines in between.
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
