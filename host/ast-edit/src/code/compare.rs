//! Comparing the structure of code in two sources.

use std::ops::Range;

use tree_sitter::Node;

use super::document::Document;
use super::places::is_at;

/// The range of an edit, in the source and in the result.
#[derive(Debug, Clone)]
pub(super) struct Replaced {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// The changes of the code around some edits.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The smallest nodes of the source that changed outside of the edits.
    pub nodes: Vec<Range<usize>>,
    /// Such nodes that have new syntax errors in the result. They are not in `nodes`.
    pub broken: Vec<Range<usize>>,
}

/// Compares everything outside of the edits, which must be in order.
///
/// Returns `None` if the call has to end.
pub(super) fn outside(old: &Document, new: &Document, edits: &[Replaced]) -> Option<Changes> {
    let mut changes = Changes::default();
    let mut todo = vec![(old.tree().root_node(), new.tree().root_node())];
    while let Some((before, after)) = todo.pop() {
        if old.steps().step() || new.steps().step() {
            return None;
        }
        // Reparsing shares the unchanged parts of a tree.
        if before.id() == after.id() {
            continue;
        }
        let known = todo.len();
        if !is_same_around((old, before), (new, after), edits, &mut todo) {
            todo.truncate(known);
            if after.has_error() && !before.has_error() {
                changes.broken.push(before.byte_range())
            } else {
                changes.nodes.push(before.byte_range())
            }
        }
    }
    Some(changes)
}

/// Compares two nodes and their numbers of children. The children remain to be compared.
fn is_same_around<'t>(
    (old, before): (&Document, Node<'t>),
    (new, after): (&Document, Node<'t>),
    edits: &[Replaced],
    todo: &mut Vec<(Node<'t>, Node<'t>)>,
) -> bool {
    if before.kind_id() != after.kind_id() {
        return false;
    }
    let (mut cursor, mut new_cursor) = (before.walk(), after.walk());
    let mut olds = before
        .children(&mut cursor)
        .filter(|node| has_code(old, node))
        .peekable();
    let mut news = after
        .children(&mut new_cursor)
        .filter(|node| has_code(new, node))
        .peekable();
    if olds.peek().is_none() && news.peek().is_none() {
        return is_same_leaf(before, (new, after), edits);
    }
    while let Some(node) = olds.next() {
        let Some(edit) = edit_of(old, &node, edits) else {
            match news.next() {
                Some(other) => todo.push((node, other)),
                None => return false,
            }
            continue;
        };
        while olds.next_if(|node| is_in(old, node, &edit.old)).is_some() {}
        while news.next_if(|node| is_in(new, node, &edit.new)).is_some() {}
    }
    news.next().is_none()
}

/// Returns the edit that replaces a node.
fn edit_of<'a>(
    document: &Document,
    node: &Node<'_>,
    edits: &'a [Replaced],
) -> Option<&'a Replaced> {
    let next = edits.partition_point(|edit| edit.old.start <= node.start_byte());
    let edit = &edits[next.checked_sub(1)?];
    is_in(document, node, &edit.old).then_some(edit)
}

/// Returns whether a node lies in a range, ignoring whitespace.
fn is_in(document: &Document, node: &Node<'_>, range: &Range<usize>) -> bool {
    range.start <= node.start_byte()
        && node.start_byte() < range.end
        && (node.end_byte() <= range.end || is_at(document.source(), range.end, node.end_byte()))
}

/// Returns whether two leaves have the same position relative to the edits.
fn is_same_leaf(before: Node<'_>, (new, after): (&Document, Node<'_>), edits: &[Replaced]) -> bool {
    let is_near = |one: usize, other: usize| is_at(new.source(), one.min(other), one.max(other));
    is_near(moved(edits, before.start_byte()), after.start_byte())
        && is_near(moved(edits, before.end_byte()), after.end_byte())
}

/// Returns the position in the result of a byte outside of the edits.
pub(super) fn moved(edits: &[Replaced], at: usize) -> usize {
    let before = edits.partition_point(|edit| edit.old.end <= at);
    match before.checked_sub(1) {
        None => at,
        Some(last) => edits[last].new.end + (at - edits[last].old.end),
    }
}

/// Returns whether two nodes have the same structure, ignoring the text of their leaves.
///
/// Returns `None` if the call has to end.
pub(super) fn is_same<'t>(
    (old, before): (&'t Document, Node<'t>),
    (new, after): (&'t Document, Node<'t>),
) -> Option<bool> {
    let mut todo = vec![(before, after)];
    while let Some((before, after)) = todo.pop() {
        if old.steps().step() || new.steps().step() {
            return None;
        }
        let (before, after) = (innermost(before), innermost(after));
        if before.child_count() == 0 && after.child_count() == 0 {
            continue;
        }
        let (olds, news) = (parts(old, &before), parts(new, &after));
        if before.kind_id() != after.kind_id() || olds.len() != news.len() {
            return Some(false);
        }
        todo.extend(olds.into_iter().zip(news));
    }
    Some(true)
}

/// Returns whether two sequences of nodes have the same structure.
///
/// Returns `None` if the call has to end.
pub(super) fn are_same<'t>(
    (old, befores): (&'t Document, &[Node<'t>]),
    (new, afters): (&'t Document, &[Node<'t>]),
) -> Option<bool> {
    let befores: Vec<Node<'t>> = befores
        .iter()
        .copied()
        .filter(|node| has_code(old, node))
        .collect();
    let afters: Vec<Node<'t>> = afters
        .iter()
        .copied()
        .filter(|node| has_code(new, node))
        .collect();
    match (&befores[..], &afters[..]) {
        // A list may be a node in one source but not in the other.
        ([one], [_, _, ..]) if innermost(*one).child_count() > 1 => {
            are_same((old, &parts(old, &innermost(*one))), (new, &afters))
        }
        ([_, _, ..], [one]) if innermost(*one).child_count() > 1 => {
            are_same((old, &befores), (new, &parts(new, &innermost(*one))))
        }
        _ if befores.len() != afters.len() => Some(false),
        _ => {
            for (before, after) in befores.into_iter().zip(afters) {
                if !is_same((old, before), (new, after))? {
                    return Some(false);
                }
            }
            Some(true)
        }
    }
}

/// Returns the descendant that has the same text and more than one child.
pub(super) fn innermost(mut node: Node<'_>) -> Node<'_> {
    while node.child_count() == 1
        && let Some(child) = node.child(0)
        && child.byte_range() == node.byte_range()
    {
        node = child;
    }
    node
}

fn parts<'t>(document: &Document, node: &Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let children = node.children(&mut cursor);
    children.filter(|child| has_code(document, child)).collect()
}

/// Returns whether a node is code. Comments belong to no particular node, and the ends of lines and
/// blocks belong to several.
pub(super) fn has_code(document: &Document, node: &Node<'_>) -> bool {
    !is_comment(node)
        && (node.child_count() > 0 || !is_at(document.source(), node.start_byte(), node.end_byte()))
}

pub(super) fn is_comment(node: &Node<'_>) -> bool {
    node.kind().contains("comment")
}
