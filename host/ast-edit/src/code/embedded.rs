//! Code of other languages in HTML: scripts and styles, also in components of Vue and Svelte.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use airlock_host::native::Stop;
use tree_sitter::Node;

use super::document::{Document, visit};
use super::grammar::Grammar;
use super::language::Language;
use super::lines::Lines;
use super::parser::ParseFailure;
use super::pattern::Ops;
use super::rewrite::{MemoryBudget, Occurrences, Reason, Rewrite, RewriteError, find};

/// Returns the languages that can be embedded in a language.
pub(super) fn languages(outer: Language) -> &'static [&'static str] {
    match outer.name() {
        "html" => &["javascript", "typescript", "css"],
        _ => &[],
    }
}

/// Adds the matches in code of embedded languages.
///
/// # Errors
/// Those of [`find`].
pub(super) fn add(
    found: &mut Rewrite,
    source: &str,
    ops: &Ops,
    (room, checks_contents): (&MemoryBudget, bool),
    stop: &Arc<Stop>,
) -> Result<(), RewriteError> {
    let document = Document::parse(source, Grammar::new(ops.language(), stop))
        .map_err(RewriteError::ParseFailure)?;
    let regions = regions(&document);
    if document.was_stopped() {
        return Err(RewriteError::ParseFailure(ParseFailure::Stopped));
    }
    let mut lines = Lines::of(source);
    for (language, range) in regions {
        let Some(inner) = ops
            .embedded
            .iter()
            .find(|inner| inner.language() == language)
        else {
            continue;
        };
        let code = &source[range.clone()];
        let mut more = find(code, inner, room, checks_contents, stop)?;
        let is_replaced = |edit: &Range<usize>| edit.start < range.end && range.start < edit.end;
        if found.edits.iter().any(|edit| is_replaced(&edit.range)) {
            more.nested += more.edits.len();
            more.edits.clear();
        }
        leave_ends(&mut more, code);
        found.merge(more, range.start, lines.at(range.start) - 1);
    }
    found
        .edits
        .sort_by_key(|edit| (edit.range.start, edit.range.end));
    Ok(())
}

/// Returns the parts of a source that are written in other languages, in order.
fn regions(document: &Document) -> Vec<(Language, Range<usize>)> {
    let mut found = Vec::new();
    let root = document.tree().root_node();
    visit(&root, document.steps(), |cursor, _| {
        let node = cursor.node();
        let is_script = node.kind() == "script_element";
        if is_script || node.kind() == "style_element" {
            let language = language_of(&node, document.source(), is_script);
            let mut children = node.walk();
            let text = node
                .children(&mut children)
                .find(|child| child.kind() == "raw_text");
            found.extend(language.zip(text.map(|text| text.byte_range())));
        }
        ControlFlow::Continue(())
    });
    found
}

/// Returns the language of a script or style element, by its attributes.
fn language_of(element: &Node<'_>, source: &str, is_script: bool) -> Option<Language> {
    let named = |name: &str| attribute(&element.child(0)?, source, name);
    let language = match (is_script, named("lang"), named("type")) {
        (_, Some(language), _) => language,
        (true, None, None | Some("" | "module" | "text/javascript" | "application/javascript")) => {
            "javascript"
        }
        (false, None, None | Some("text/css")) => "css",
        _ => return None,
    };
    Language::named(language)
}

/// Returns the value of a tag's attribute, without its quotes.
fn attribute<'s>(tag: &Node<'_>, source: &'s str, name: &str) -> Option<&'s str> {
    let text = |node: Node<'_>| source.get(node.byte_range());
    let mut cursor = tag.walk();
    let mut attributes = tag.children(&mut cursor);
    let attribute = attributes.find(|node| node.child(0).and_then(text) == Some(name))?;
    let value = text(attribute.child(2)?)?;
    Some(value.trim_matches(['"', '\'']))
}

/// Rejects edits that would write an end tag, because that would end the element's code.
fn leave_ends(found: &mut Rewrite, code: &str) {
    let has_end = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.contains("</script") || text.contains("</style")
    };
    let mut left = Vec::new();
    found.edits.retain(|edit| {
        let is_left = has_end(&edit.text);
        left.extend(is_left.then_some(edit.range.start));
        !is_left
    });
    if !left.is_empty() {
        let left = Occurrences::at(code, left);
        found.left.entry(Reason::Meaning).or_default().add(left, 0);
    }
}
