//! Code that a grammar accepts although the language doesn't, or in which it has another meaning.

use tree_sitter::Node;

use super::compare::is_comment;
use super::language::Language;
use super::places::Place;

/// Returns whether a replacement is invalid in its place. `before` is the place in the source.
pub(super) fn is_wrong(
    language: Language,
    (before, old_source): (&Place<'_>, &str),
    (after, source): (&Place<'_>, &str),
) -> bool {
    let mut code = after.nodes.iter().filter(|node| !is_comment(node));
    let (Some(node), Some(old)) = (code.next(), before.nodes.first()) else {
        return false;
    };
    let (kind, parent) = (node.kind(), after.parent.kind());
    match language.name() {
        _ if language.is_script() => {
            let is_module = matches!(kind, "import_statement" | "export_statement");
            let is_declaration = is_module
                || matches!(
                    kind,
                    "lexical_declaration" | "class_declaration" | "function_declaration"
                );
            let is_single = parent.ends_with("_statement") && parent != "export_statement"
                || matches!(parent, "else_clause");
            let is_cut_off = matches!(parent, "return_statement" | "throw_statement")
                && source
                    .get(after.parent.start_byte()..node.start_byte())
                    .is_some_and(|between| between.contains('\n'));
            (is_declaration && is_single && old.kind() != kind && parent != "labeled_statement")
                || (is_module && parent != "program")
                || is_cut_off
        }
        // A redirection or `&` would only apply to the last part.
        "bash" => {
            let is_list = matches!(kind, "list" | "pipeline" | "redirected_statement")
                || after.nodes.len() > 1;
            let is_around = matches!(
                parent,
                "redirected_statement" | "pipeline" | "list" | "negated_command"
            );
            let rest = source.get(after.nodes.last().map_or(0, |node| node.end_byte())..);
            let is_background = rest.is_some_and(|rest| {
                let rest = rest.trim_start_matches(' ');
                rest.starts_with('&') && !rest.starts_with("&&")
            });
            is_list && old.kind() == "command" && (is_around || is_background)
        }
        // Before Python 3.12, an f-string ended at the first quote like its own.
        "python" => quote_around(node, source).is_some_and(|quote| {
            let has_quote = |source: &str, node: &Node<'_>| {
                let text = source.get(node.byte_range());
                text.is_some_and(|text| text.contains(quote))
            };
            has_quote(source, node) && !has_quote(old_source, old)
        }),
        _ => false,
    }
}

/// Returns the quote of the Python f-string around an expression.
fn quote_around<'s>(node: &Node<'_>, source: &'s str) -> Option<&'s str> {
    let mut above = std::iter::successors(node.parent(), Node::parent);
    let interpolation = above.find(|node| node.kind() == "interpolation")?;
    let start = interpolation.parent()?.child(0)?;
    let start = source.get(start.byte_range())?;
    Some(start.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()))
}

/// Returns whether a node's place must not be left empty.
pub(super) fn must_not_be_empty(language: Language, before: &Place<'_>, source: &str) -> bool {
    let (Some(first), Some(last)) = (before.nodes.first(), before.nodes.last()) else {
        return false;
    };
    let left = source[..first.start_byte()].trim_end();
    let right = source
        .get(last.end_byte()..)
        .unwrap_or_default()
        .trim_start();
    let is_item = right.starts_with(',') && left.ends_with(['(', '[', '{', ',']);
    let is_suite =
        language.name() == "python" && (first.kind() == "block" || right.starts_with(';'));
    is_item || is_suite
}
