//! A parsed source as ast-grep sees it, with a stop: parsing and matching end soon after the call
//! has to.
//!
//! ast-grep's matcher works on any type that implements its traits. This implementation counts each
//! step from node to node and regularly checks whether the call has to end. From then on, nodes
//! have no children, so the matcher finishes at once. Its result is invalid in that case: check
//! [`Document::was_stopped`].
//!
//! The matcher recurses in two cases: as deep as the pattern and, if the pattern uses a name twice,
//! as deep as the source. Both depths are limited during parsing, and the stacks of a call's
//! threads are large enough for them.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::{ControlFlow, Range};

use ast_grep_core::source::{Edit, SgNode};
use ast_grep_core::{AstGrep, Doc, Position};
use tree_sitter::{Node, Tree, TreeCursor};

use super::grammar::Grammar;
use super::parser::{self, ParseFailure};
use super::steps::Steps;
use super::texts::Texts;

/// The deepest nesting of a source's nodes: more than generated code has, and less than fits on the
/// stack of a thread. Each level takes 454 bytes of stack in any language, and 1,236 in a build
/// without optimization: 12 MiB in total.
pub(crate) const MAX_DEPTH: usize = 10_000;

/// The deepest nesting of a pattern's nodes. Deeper ones are not written by hand.
pub(crate) const MAX_PATTERN_DEPTH: usize = 200;

/// A parsed source.
#[derive(Clone)]
pub(crate) struct Document {
    source: String,
    grammar: Grammar,
    tree: Tree,
    steps: Steps,
    texts: OnceCell<Texts>,
}

impl Document {
    /// Parses a source.
    pub fn parse(source: &str, grammar: Grammar) -> Result<Self, ParseFailure> {
        Self::parse_within(source, grammar, None, MAX_DEPTH)
    }

    /// Parses a pattern, alone or in its context.
    pub fn parse_pattern(source: &str, grammar: Grammar) -> Result<Self, ParseFailure> {
        Self::parse_within(source, grammar, None, MAX_PATTERN_DEPTH)
    }

    /// Parses an edited source. `old` is the tree of the previous one, updated with the edits.
    pub fn parse_again(source: &str, grammar: Grammar, old: &Tree) -> Result<Self, ParseFailure> {
        Self::parse_within(source, grammar, Some(old), MAX_DEPTH)
    }

    fn parse_within(
        source: &str,
        grammar: Grammar,
        old: Option<&Tree>,
        most: usize,
    ) -> Result<Self, ParseFailure> {
        let steps = Steps::new(grammar.stop());
        let tree = parser::tree(source, &grammar, old)?;
        let document = Self {
            source: source.to_owned(),
            grammar,
            tree,
            steps,
            texts: OnceCell::new(),
        };
        document.check_depth(most)?;
        Ok(document)
    }

    /// Returns the document as the root of an ast-grep tree.
    pub fn into_root(self) -> AstGrep<Self> {
        AstGrep::doc(self)
    }

    /// Returns whether the call had to end during a walk over the nodes.
    pub fn was_stopped(&self) -> bool {
        self.steps.was_stopped()
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Returns the strings and other multi-line texts.
    pub fn texts(&self) -> &Texts {
        self.texts.get_or_init(|| Texts::of(self))
    }

    /// Checks the depth without recursion. Small trees are not walked, because no tree is deeper
    /// than its number of nodes.
    fn check_depth(&self, most: usize) -> Result<(), ParseFailure> {
        let root = self.tree.root_node();
        if root.descendant_count() <= most {
            return Ok(());
        }
        let mut deepest = 0;
        visit(&root, &self.steps, |_, depth| {
            deepest = deepest.max(depth);
            if deepest > most {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        match deepest > most {
            true => Err(ParseFailure::TooDeep(most)),
            false if self.was_stopped() => Err(ParseFailure::Stopped),
            false => Ok(()),
        }
    }
}

/// Visits a node and its descendants in pre-order, with their depth below the node.
pub(crate) fn visit<'tree>(
    from: &Node<'tree>,
    steps: &Steps,
    mut visitor: impl FnMut(&TreeCursor<'tree>, usize) -> ControlFlow<()>,
) {
    let mut walk = Walk::new(from);
    while !steps.step() {
        let flow = visitor(&walk.cursor, walk.depth);
        if flow.is_break() || !walk.go_on() {
            return;
        }
    }
}

/// A position in the walk over a node and its descendants.
struct Walk<'tree> {
    cursor: TreeCursor<'tree>,
    depth: usize,
}

impl<'tree> Walk<'tree> {
    fn new(from: &Node<'tree>) -> Self {
        Self {
            cursor: from.walk(),
            depth: 0,
        }
    }

    /// Moves to the next node. Returns false at the end.
    fn go_on(&mut self) -> bool {
        if self.cursor.goto_first_child() {
            self.depth += 1;
            return true;
        }
        loop {
            if self.depth == 0 {
                return false;
            }
            if self.cursor.goto_next_sibling() {
                return true;
            }
            if !self.cursor.goto_parent() {
                return false;
            }
            self.depth -= 1;
        }
    }
}

impl Doc for Document {
    type Source = String;
    type Lang = Grammar;
    type Node<'r> = SyntaxNode<'r>;

    fn get_lang(&self) -> &Grammar {
        &self.grammar
    }

    fn get_source(&self) -> &String {
        &self.source
    }

    fn do_edit(&mut self, _: &Edit<String>) -> Result<(), String> {
        Err("it is only read".to_owned())
    }

    fn root_node(&self) -> SyntaxNode<'_> {
        SyntaxNode {
            node: self.tree.root_node(),
            document: self,
        }
    }

    fn get_node_text<'a>(&'a self, node: &SyntaxNode<'a>) -> Cow<'a, str> {
        let text = self.source.get(node.range());
        Cow::Borrowed(text.unwrap_or_default())
    }
}

/// A node of a document.
#[derive(Clone)]
pub(crate) struct SyntaxNode<'r> {
    node: Node<'r>,
    document: &'r Document,
}

impl<'r> SyntaxNode<'r> {
    pub fn inner(&self) -> Node<'r> {
        self.node
    }

    fn with(&self, node: Node<'r>) -> Self {
        let document = self.document;
        Self { node, document }
    }
}

impl<'r> SgNode<'r> for SyntaxNode<'r> {
    fn parent(&self) -> Option<Self> {
        self.node.parent().map(|node| self.with(node))
    }

    fn children(&self) -> impl ExactSizeIterator<Item = Self> {
        let mut cursor = self.node.walk();
        let some = !self.document.steps.step() && cursor.goto_first_child();
        Children {
            cursor,
            document: self.document,
            left: if some {
                self.node.child_count() as usize
            } else {
                0
            },
        }
    }

    fn dfs(&self) -> impl Iterator<Item = Self> {
        let mut walk = Some(Walk::new(&self.node));
        let document = self.document;
        std::iter::from_fn(move || {
            let at = walk.as_mut()?;
            let node = at.cursor.node();
            if document.steps.step() {
                return None;
            }
            if !at.go_on() {
                walk = None;
            }
            Some(SyntaxNode { node, document })
        })
    }

    fn child(&self, nth: usize) -> Option<Self> {
        let nth = u32::try_from(nth).ok()?;
        self.node.child(nth).map(|node| self.with(node))
    }

    fn kind(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.node.kind())
    }

    fn kind_id(&self) -> u16 {
        self.node.kind_id()
    }

    fn node_id(&self) -> usize {
        self.node.id()
    }

    /// Returns the node's range. The parser may add a line end that the source doesn't have.
    fn range(&self) -> Range<usize> {
        let end = self.document.source.len();
        self.node.start_byte().min(end)..self.node.end_byte().min(end)
    }

    fn start_pos(&self) -> Position {
        let at = self.node.start_position();
        Position::new(at.row, at.column, self.node.start_byte())
    }

    fn end_pos(&self) -> Position {
        let at = self.node.end_position();
        Position::new(at.row, at.column, self.node.end_byte())
    }

    fn is_named(&self) -> bool {
        self.node.is_named()
    }

    fn is_named_leaf(&self) -> bool {
        self.node.named_child_count() == 0
    }

    fn is_leaf(&self) -> bool {
        self.node.child_count() == 0
    }

    fn is_missing(&self) -> bool {
        self.node.is_missing()
    }

    fn is_error(&self) -> bool {
        self.node.is_error()
    }

    fn is_extra(&self) -> bool {
        self.node.is_extra()
    }

    fn field(&self, name: &str) -> Option<Self> {
        let node = self.node.child_by_field_name(name);
        node.map(|node| self.with(node))
    }

    fn field_children(&self, field: Option<u16>) -> impl Iterator<Item = Self> {
        let field = field.and_then(std::num::NonZero::new);
        let mut cursor = self.node.walk();
        let mut some = field.is_some() && cursor.goto_first_child();
        std::iter::from_fn(move || {
            while some {
                let found = (cursor.field_id() == field).then(|| self.with(cursor.node()));
                some = cursor.goto_next_sibling();
                if found.is_some() {
                    return found;
                }
            }
            None
        })
    }

    fn child_by_field_id(&self, field: u16) -> Option<Self> {
        let node = self.node.child_by_field_id(field);
        node.map(|node| self.with(node))
    }
}

/// The children of a node. Empty once the call has to end.
struct Children<'r> {
    cursor: TreeCursor<'r>,
    document: &'r Document,
    left: usize,
}

impl<'r> Iterator for Children<'r> {
    type Item = SyntaxNode<'r>;

    fn next(&mut self) -> Option<SyntaxNode<'r>> {
        if self.left == 0 || self.document.steps.step() {
            self.left = 0;
            return None;
        }
        let node = self.cursor.node();
        self.left -= 1;
        if self.left > 0 {
            self.cursor.goto_next_sibling();
        }
        let document = self.document;
        Some(SyntaxNode { node, document })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Children<'_> {}
