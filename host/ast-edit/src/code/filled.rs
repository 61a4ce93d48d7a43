//! A replacement under construction, from a template and captured code.

use std::ops::Range;

use ast_grep_core::NodeMatch;
use ast_grep_core::meta_var::MetaVariable;
use tree_sitter::Node;

use super::compare::is_comment;
use super::document::Document;
use super::lines::LineEnds;
use super::rewrite::{MemoryBudget, RewriteError};

/// The number of bytes to search back for the start of a line. A source may be a single line.
const LOOK_BACK: usize = 4096;

/// The number of bytes that a captured node may take in addition to its text.
const IN_PARENTHESES: usize = 2;

/// Captured code in a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inserted {
    /// The range in the text of the replacement.
    pub at: Range<usize>,
    /// The range in the source.
    pub from: Range<usize>,
    /// True if it is one node.
    pub is_single: bool,
}

/// The replacement so far.
pub(super) struct Filled<'a> {
    document: &'a Document,
    ends: &'a LineEnds,
    room: &'a MemoryBudget,
    /// The indentation of the match's line.
    place: &'a str,
    text: String,
    inserted: Vec<Inserted>,
    comma: Comma,
    /// The indentation of a line that ends with an unterminated line comment.
    open_comment: Option<String>,
}

/// The possible reason for an extra comma in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comma {
    Unneeded,
    /// The captured list ends with a comma.
    Captured,
    /// A list begins, and nothing was captured.
    NothingBefore,
}

impl<'a> Filled<'a> {
    pub fn new(
        matched: &'a NodeMatch<'_, Document>,
        ends: &'a LineEnds,
        room: &'a MemoryBudget,
    ) -> Self {
        let document = matched.get_doc();
        Self {
            document,
            ends,
            room,
            place: indent_at(document.source(), matched.range().start),
            text: String::new(),
            inserted: Vec::new(),
            comma: Comma::Unneeded,
            open_comment: None,
        }
    }

    /// Adds text of the template. Omits a comma at its start if there is one already.
    pub fn add_text(&mut self, text: &str) -> Result<(), RewriteError> {
        let text = match (self.comma, text.trim_start().strip_prefix(',')) {
            (Comma::Captured, Some(rest)) => rest,
            (Comma::NothingBefore, Some(rest)) => rest.trim_start(),
            _ => text,
        };
        if text.is_empty() {
            return Ok(());
        }
        self.room.take(most_bytes(text, self.place))?;
        self.comma = Comma::Unneeded;
        let text = self.end_comment(text);
        for (number, line) in self.ends.lines(text).enumerate() {
            if number > 0 {
                self.text.push_str(self.ends.as_str());
                self.text.push_str(self.place);
            }
            self.text.push_str(line);
        }
        Ok(())
    }

    /// Adds the code that a metavariable matched. `indent` is the indentation of its line in the
    /// template.
    pub fn add_captured(
        &mut self,
        matched: &NodeMatch<'_, Document>,
        variable: &MetaVariable,
        indent: &str,
    ) -> Result<(), RewriteError> {
        let nodes: Vec<Node<'_>> = nodes(matched, variable);
        let Some(range) = range_of(&nodes) else {
            let is_start = self.text.trim_end().ends_with(['(', '[', '{']);
            if is_start && matches!(variable, MetaVariable::MultiCapture(_)) {
                self.comma = Comma::NothingBefore;
            }
            return Ok(());
        };
        self.end_comment("");
        let source = self.document.source();
        let end = source.len();
        let range = range.start.min(end)..range.end.min(end);
        let indent = match self.own_line_of(range.start) {
            None => format!("{}{indent}", self.place),
            Some(own) => {
                self.text.truncate(self.text.trim_end_matches(' ').len());
                self.text.push_str(self.ends.as_str());
                self.text.push_str(own);
                own.to_owned()
            }
        };
        let most = most_bytes(&source[range.clone()], &indent);
        self.room
            .take(most.saturating_add(IN_PARENTHESES + size_of::<Inserted>()))?;
        let start = self.text.len();
        self.insert(range.clone(), &indent);
        let text_of = |node: &Node<'_>| source.get(node.byte_range()).unwrap_or_default();
        let is_multiple = matches!(variable, MetaVariable::MultiCapture(_));
        let last_code = nodes.iter().rev().find(|node| !is_comment(node));
        self.comma = if is_multiple && last_code.is_some_and(|node| text_of(node) == ",") {
            Comma::Captured
        } else {
            Comma::Unneeded
        };
        let last = nodes.last().filter(|node| is_comment(node)).map(text_of);
        self.open_comment = last.is_some_and(is_open).then_some(indent);
        self.inserted.push(Inserted {
            at: start..self.text.len(),
            from: range,
            is_single: !is_multiple,
        });
        Ok(())
    }

    /// Returns the indentation of captured code that must start a line, as it does in the source:
    /// code after a colon, in languages with significant indentation.
    fn own_line_of(&self, start: usize) -> Option<&'a str> {
        let source = self.document.source();
        let has_blocks = matches!(self.document.grammar().language().name(), "python" | "yaml");
        let own = indent_at(source, start);
        let is_first = source[..start].ends_with(own)
            && matches!(source[..start - own.len()].chars().last(), Some('\n'));
        let is_behind = self.text.trim_end_matches(' ').ends_with(':');
        (has_blocks && is_first && is_behind && own.len() > self.place.len()).then_some(own)
    }

    /// Returns the replacement. `rest` is the source that follows it.
    pub fn finish(mut self, rest: &str) -> (String, Vec<Inserted>) {
        let rest = rest.trim_start_matches([' ', '\t', '\r']);
        if !rest.is_empty() && !rest.starts_with('\n') {
            self.end_comment("");
        }
        (self.text, self.inserted)
    }

    /// Ends a line comment, so that it doesn't swallow the text after it. Returns that text without
    /// leading whitespace.
    fn end_comment<'b>(&mut self, text: &'b str) -> &'b str {
        let rest = text.trim_start_matches([' ', '\t', '\r']);
        match self.open_comment.take() {
            Some(indent) if !rest.starts_with('\n') => {
                self.text.push_str(self.ends.as_str());
                self.text.push_str(&indent);
                rest
            }
            _ => text,
        }
    }

    /// Adds a piece of source, reindented. Lines that begin inside a string stay unchanged.
    fn insert(&mut self, range: Range<usize>, indent: &str) {
        let source = self.document.source();
        let before = indent_at(source, range.start);
        let mut at = range.start;
        for (number, line) in source[range].split('\n').enumerate() {
            if number > 0 {
                self.text.push('\n');
            }
            if number == 0 || self.document.texts().has(at) {
                self.text.push_str(line)
            } else {
                move_line(&mut self.text, line, before, indent)
            }
            at += line.len() + 1;
        }
    }
}

/// Returns the most bytes that a text takes with this indentation.
fn most_bytes(text: &str, indent: &str) -> usize {
    let ends = text.bytes().filter(|byte| *byte == b'\n').count();
    text.len().saturating_add(ends.saturating_mul(indent.len()))
}

/// Returns the nodes that a metavariable matched.
fn nodes<'t>(matched: &NodeMatch<'t, Document>, variable: &MetaVariable) -> Vec<Node<'t>> {
    let environment = matched.get_env();
    match variable {
        MetaVariable::Capture(name, _) => {
            let node = environment.get_match(name);
            node.map(|node| node.get_inner_node().inner())
                .into_iter()
                .collect()
        }
        MetaVariable::MultiCapture(name) => {
            let nodes = environment.get_multiple_matches(name);
            nodes
                .iter()
                .map(|node| node.get_inner_node().inner())
                .collect()
        }
        MetaVariable::Dropped(_) | MetaVariable::Multiple => Vec::new(),
    }
}

/// Returns the part of the source that a metavariable matched, or `None` if it matched nothing.
pub(super) fn captured(
    matched: &NodeMatch<'_, Document>,
    variable: &MetaVariable,
) -> Option<Range<usize>> {
    let end = matched.get_doc().source().len();
    let range = range_of(&nodes(matched, variable))?;
    Some(range.start.min(end)..range.end.min(end))
}

fn range_of(nodes: &[Node<'_>]) -> Option<Range<usize>> {
    Some(nodes.first()?.start_byte()..nodes.last()?.end_byte())
}

/// Returns whether a comment ends with its line, and doesn't include the line end.
fn is_open(comment: &str) -> bool {
    let is_line = ["//", "#", "--", ";", "%"]
        .iter()
        .any(|sign| comment.starts_with(sign));
    is_line && !comment.starts_with("--[[") && !comment.ends_with('\n')
}

/// Reindents a line by the same amount as the first line. A line with less indentation moves as far
/// as it can.
fn move_line(filled: &mut String, line: &str, from: &str, to: &str) {
    if let Some(rest) = line.strip_prefix(from) {
        filled.push_str(to);
        filled.push_str(rest);
        return;
    }
    // The width of a tab is unknown.
    if !is_spaces(from) || !is_spaces(to) {
        filled.push_str(line);
        return;
    }
    let spaces = line.len() - line.trim_start_matches(' ').len();
    let less = from.len().saturating_sub(to.len()).min(spaces);
    let more = to.len().saturating_sub(from.len());
    filled.extend(std::iter::repeat_n(' ', more));
    filled.push_str(&line[less..]);
}

fn is_spaces(indent: &str) -> bool {
    indent.bytes().all(|byte| byte == b' ')
}

/// Returns the spaces and tabs at the start of a position's line. Returns none if the line is very
/// long.
pub(super) fn indent_at(text: &str, at: usize) -> &str {
    let from = at.saturating_sub(LOOK_BACK);
    let before = &text.as_bytes()[from..at];
    let start = match before.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => from + end + 1,
        None if from == 0 => 0,
        None => return "",
    };
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
