//! The positions of parts of a source in its tree, found in one walk.

use std::cmp::Reverse;
use std::ops::Range;

use tree_sitter::Node;

use super::document::Document;

/// The nodes that make up a part of a source.
#[derive(Debug, Clone)]
pub(super) struct Place<'t> {
    /// The smallest node that is larger than the part.
    pub parent: Node<'t>,
    /// The parent's children in the part. Empty if the part lies inside a leaf.
    pub nodes: Vec<Node<'t>>,
    /// True if the nodes begin and end exactly with the part.
    pub is_exact: bool,
}

/// Returns the place of each part, in the order of the parts. Parts must not be empty or have
/// surrounding whitespace.
///
/// Returns `None` if the call has to end.
pub(super) fn places<'t>(document: &'t Document, parts: &[Range<usize>]) -> Option<Vec<Place<'t>>> {
    let source = document.source();
    let root = document.tree().root_node();
    let nowhere = Place {
        parent: root,
        nodes: Vec::new(),
        is_exact: false,
    };
    let mut found = vec![nowhere; parts.len()];
    let mut order: Vec<usize> = (0..parts.len()).collect();
    // A part that contains another one comes first.
    order.sort_by_key(|part| (parts[*part].start, Reverse(parts[*part].end)));
    let mut todo = vec![(root, order)];
    while let Some((node, wanted)) = todo.pop() {
        let mut wanted = wanted.into_iter().peekable();
        // Parts that begin in one child and end in another.
        let mut open: Vec<usize> = Vec::new();
        let mut cursor = node.walk();
        let mut has_child = cursor.goto_first_child();
        while has_child {
            if document.steps().step() {
                return None;
            }
            let child = cursor.node();
            let mut inside = Vec::new();
            while let Some(part) = wanted.next_if(|part| parts[*part].start < child.end_byte()) {
                let range = &parts[part];
                found[part].parent = node;
                if is_at(source, child.start_byte(), range.start)
                    && is_at(source, range.end, child.end_byte())
                {
                    found[part].nodes.push(child);
                } else if child.start_byte() <= range.start && range.end <= child.end_byte() {
                    inside.push(part);
                } else {
                    open.push(part);
                }
            }
            for part in &open {
                if child.start_byte() < parts[*part].end {
                    found[*part].nodes.push(child);
                }
            }
            open.retain(|part| child.end_byte() < parts[*part].end);
            if !inside.is_empty() {
                todo.push((child, inside));
            }
            has_child = cursor.goto_next_sibling();
        }
        for part in wanted {
            found[part].parent = node;
        }
    }
    for (place, range) in found.iter_mut().zip(parts) {
        let ends = place.nodes.first().zip(place.nodes.last());
        place.is_exact = ends.is_some_and(|(first, last)| {
            is_at(source, first.start_byte(), range.start)
                && is_at(source, range.end, last.end_byte())
        });
    }
    Some(found)
}

/// Returns whether there is only whitespace between two bytes, given in this order.
pub(super) fn is_at(source: &str, first: usize, second: usize) -> bool {
    first <= second
        && source
            .get(first..second.min(source.len()))
            .is_some_and(|between| between.trim().is_empty())
}

/// Returns a range without surrounding whitespace.
pub(super) fn trimmed(source: &str, range: &Range<usize>) -> Range<usize> {
    let text = source.get(range.clone()).unwrap_or_default();
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}
