//! Code in a match that its pattern doesn't have, such as `async` or a comment. The replacement
//! drops it.

use std::collections::HashMap;
use std::ops::Range;

use ast_grep_core::NodeMatch;
use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;
use tree_sitter::Node;

use super::compare::is_comment;
use super::document::Document;
use super::filled::captured;
use super::rewrite::WORD_BYTES;

/// The leaves of a pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaves {
    /// The number of leaves of each kind.
    kinds: HashMap<u16, usize>,
    /// The number of occurrences of each metavariable in the pattern. All nodes that one of them
    /// matches have the same code, and only one of their positions is known later.
    variables: Vec<(MetaVariable, usize)>,
}

/// The code that would be lost with a match.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dropped {
    /// The start positions of comments.
    pub comments: Vec<usize>,
    /// The first word of the code.
    pub word: Option<String>,
}

impl Leaves {
    pub fn of(pattern: &PatternNode) -> Self {
        let mut leaves = Self::default();
        leaves.add(pattern);
        leaves
    }

    fn add(&mut self, node: &PatternNode) {
        match node {
            PatternNode::MetaVar { meta_var } => {
                let mut known = self.variables.iter_mut();
                match known.find(|(known, _)| known == meta_var) {
                    Some((_, count)) => *count += 1,
                    None => self.variables.push((meta_var.clone(), 1)),
                }
            }
            PatternNode::Terminal { kind_id, .. } => {
                *self.kinds.entry(*kind_id).or_default() += 1;
            }
            PatternNode::Internal { children, .. } => {
                for child in children {
                    self.add(child);
                }
            }
        }
    }

    /// Returns the code of a match in a range, except for these leaves and the captured nodes.
    pub fn dropped(&self, matched: &NodeMatch<'_, Document>, range: &Range<usize>) -> Dropped {
        let document = matched.get_doc();
        let root = matched.get_node().get_inner_node().inner();
        let mut known = Vec::new();
        let mut left = self.kinds.clone();
        for (variable, count) in &self.variables {
            let Some(range) = captured(matched, variable) else {
                continue;
            };
            if *count > 1 {
                leaves(document, root, &range, &[], |leaf| {
                    *left.entry(leaf.kind_id()).or_default() += count - 1;
                });
            }
            known.push(range);
        }
        let mut dropped = Dropped::default();
        leaves(document, root, range, &known, |leaf| {
            if is_comment(&leaf) {
                dropped.comments.push(leaf.start_byte());
            } else if let Some(count) = left.get_mut(&leaf.kind_id()).filter(|count| **count > 0) {
                *count -= 1;
            } else if dropped.word.is_none() {
                let text = document.source().get(leaf.byte_range());
                let text = text.unwrap_or_default().trim();
                let has_meaning = !matches!(text, "" | "," | ";" | "(" | ")" | "\\");
                dropped.word = has_meaning.then(|| shortened(text));
            }
        });
        dropped
    }
}

/// Visits the leaves and comments in a part of a node, except in some ranges.
fn leaves<'t>(
    document: &Document,
    node: Node<'t>,
    part: &Range<usize>,
    but: &[Range<usize>],
    mut visit: impl FnMut(Node<'t>),
) {
    let mut todo = vec![node];
    while let Some(node) = todo.pop() {
        let (start, end) = (node.start_byte(), node.end_byte());
        let is_in = |range: &Range<usize>| range.start <= start && end <= range.end;
        let is_outside = end <= part.start || part.end <= start;
        if is_outside || start == end || but.iter().any(is_in) || document.steps().step() {
            continue;
        }
        if node.child_count() == 0 || is_comment(&node) {
            visit(node);
        } else {
            let mut cursor = node.walk();
            let children: Vec<_> = node.children(&mut cursor).collect();
            todo.extend(children.into_iter().rev());
        }
    }
}

/// Gives each anonymous metavariable a name that patterns can't contain, so that the nodes that it
/// matches are recorded.
pub(super) fn name_all(pattern: &mut PatternNode) {
    fn name(node: &mut PatternNode, next: &mut usize) {
        match node {
            PatternNode::Terminal { .. } => {}
            PatternNode::Internal { children, .. } => {
                for child in children {
                    name(child, next);
                }
            }
            PatternNode::MetaVar { meta_var } => {
                let named = match meta_var {
                    MetaVariable::Dropped(is_named) => {
                        MetaVariable::Capture(next.to_string(), *is_named)
                    }
                    MetaVariable::Multiple => MetaVariable::MultiCapture(next.to_string()),
                    MetaVariable::Capture(..) | MetaVariable::MultiCapture(_) => return,
                };
                *next += 1;
                *meta_var = named;
            }
        }
    }
    name(pattern, &mut 0);
}

/// Returns as much of a text as a message needs.
pub(super) fn shortened(text: &str) -> String {
    // A character has at most 4 bytes.
    text.chars()
        .take_while(|c| *c != '\n')
        .take(WORD_BYTES / 4)
        .collect()
}
