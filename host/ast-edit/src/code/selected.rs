//! Patterns that are a part of other code: the meaning of `context` and `selector`.

use std::collections::BTreeSet;
use std::ops::Range;

use ast_grep_core::Node;
use ast_grep_core::language::Language as _;
use ast_grep_core::matcher::{Pattern, PatternNode};

use super::Op;
use super::document::Document;
use super::grammar::Grammar;
use super::outline::Refusal;
use super::parser::ParseFailure;
use super::pattern::{ERROR_INSIDE, EVERYTHING, Reading, has_error};

/// The most node kinds that a message names.
const KINDS_NAMED: usize = 12;

/// A pattern, and the code around it.
pub(crate) struct PatternContext<'a> {
    pub before: &'a str,
    pub text: &'a str,
    pub after: &'a str,
}

impl<'a> PatternContext<'a> {
    /// Returns the pattern of an op in its context, if it has one.
    fn of(op: &'a Op) -> Result<Self, Refusal> {
        let text = op.pat.trim();
        let Some(context) = &op.context else {
            return Ok(Self {
                before: "",
                text: &op.pat,
                after: "",
            });
        };
        let refuse = |message: &str| Refusal::new("context", message.to_owned());
        let (before, after) = context
            .split_once(text)
            .ok_or_else(|| refuse("it doesn't contain `pat` exactly as written"))?;
        if after.contains(text) && !text.is_empty() {
            Err(refuse("it contains `pat` more than once"))
        } else {
            Ok(Self {
                before,
                text,
                after,
            })
        }
    }

    /// Parses the code. Also returns the range of the pattern.
    pub fn parse(&self, grammar: &Grammar) -> Result<(Document, Range<usize>), ParseFailure> {
        let [before, text, after] =
            [self.before, self.text, self.after].map(|part| grammar.pre_process_pattern(part));
        let before = format!("{}{before}", grammar.language().opening());
        let range = before.len()..before.len() + text.len();
        let document = Document::parse_pattern(&format!("{before}{text}{after}"), grammar.clone())?;
        Ok((document, range))
    }
}

/// Returns the node that `selector` and `context` select, as in an ast-grep rule.
pub(crate) fn read_selected(op: &Op, grammar: &Grammar) -> Result<Reading, Refusal> {
    let language = grammar.language();
    let place = PatternContext::of(op)?;
    let refuse = |field: &'static str, message: String| Refusal::new(field, message);
    let whole = if op.context.is_some() {
        "context"
    } else {
        "pat"
    };
    let (document, range) = place.parse(grammar).map_err(|why| {
        refuse(
            whole,
            format!("it can't be read as {}: {why}", language.name()),
        )
    })?;
    let root = document.into_root();
    let root = root.root();
    let near = |node: &Node<'_, Document>| {
        let node = node.range();
        let is_inside = range.start <= node.start && node.end <= range.end;
        is_inside || (node.start <= range.start && range.end <= node.end)
    };
    let kinds = || {
        let mut seen = BTreeSet::new();
        let nodes = root.dfs().filter(|node| node.is_named() && near(node));
        let names: Vec<String> = nodes
            .map(|node| node.kind().into_owned())
            .filter(|kind| seen.insert(kind.clone()))
            .take(KINDS_NAMED)
            .map(|kind| format!("`{kind}`"))
            .collect();
        names.join(", ")
    };
    let name = language.name();
    let node = match &op.selector {
        Some(selector) => {
            let kind = grammar.kind_to_id(selector);
            if kind == 0 {
                let message = format!(
                    "{name} has no `{selector}`; in `{whole}` there are: {}",
                    kinds()
                );
                return Err(refuse("selector", message));
            }
            let mut nodes = root
                .dfs()
                .filter(|node| node.kind_id() == kind && near(node));
            nodes.next().ok_or_else(|| {
                let message = format!(
                    "there is no `{selector}` in `{whole}`; there are: {}",
                    kinds()
                );
                refuse("selector", message)
            })?
        }
        None => {
            // Some nodes include the line end.
            let is_it = |node: &Node<'_, Document>| {
                let (node, text) = (node.range(), node.text());
                node.start == range.start && node.start + text.trim_end().len() == range.end
            };
            root.dfs().filter(is_it).last().ok_or_else(|| {
                let message = format!(
                    "`pat` is not a single piece of code there as {name}; name one with `selector`: {}",
                    kinds()
                );
                refuse("context", message)
            })?
        }
    };
    let kind = node.kind_id();
    let pattern = Pattern::from(node);
    if has_error(&pattern.node) {
        return Err(refuse(
            whole,
            format!("it can't be read as {name}: {ERROR_INSIDE}"),
        ));
    }
    if matches!(pattern.node, PatternNode::MetaVar { .. }) && op.selector.is_none() {
        return Err(refuse("pat", EVERYTHING.to_owned()));
    }
    Ok(Reading::of_kind(pattern, kind))
}
