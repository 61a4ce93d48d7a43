//! Strings and other multi-line texts. Reindenting their lines would change their contents.

use std::ops::{ControlFlow, Range};

use tree_sitter::Node;

use super::document::{Document, visit};

/// The texts of one source, in order.
#[derive(Debug, Clone)]
pub(crate) struct Texts(Vec<Range<usize>>);

impl Texts {
    /// Finds the texts. Comments don't count, because they may be reindented.
    pub fn of(document: &Document) -> Self {
        let mut found = Vec::new();
        let mut inside = None;
        visit(
            &document.tree().root_node(),
            document.steps(),
            |cursor, depth| {
                if inside.is_some_and(|outer| depth > outer) {
                    return ControlFlow::Continue(());
                }
                let node = cursor.node();
                let has_lines = node.start_position().row < node.end_position().row;
                let is_text = has_lines && !node.is_extra() && is_text(&node);
                inside = (is_text || node.is_extra()).then_some(depth);
                if is_text {
                    found.push(node.byte_range());
                }
                ControlFlow::Continue(())
            },
        );
        Self(found)
    }

    /// Returns whether a line that starts at this byte starts inside a text.
    pub fn has(&self, at: usize) -> bool {
        let before = self.0.partition_point(|text| text.start < at);
        before > 0 && self.0[before - 1].end > at
    }
}

/// Returns whether a node is text, or has text between its children.
pub(super) fn is_text(node: &Node<'_>) -> bool {
    let kind = node.kind();
    let has_text = ["string", "heredoc", "template_literal", "regex"];
    match node.child_count() {
        // Indentation has no meaning in `jsx_text`, and is relative in `block_scalar`.
        0 => !matches!(kind, "jsx_text" | "block_scalar"),
        _ => has_text.iter().any(|word| kind.contains(word)),
    }
}
