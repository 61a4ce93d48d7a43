//! Parentheses around expressions that need them, even if the grammar accepts the code without.
//!
//! Grammars are made to read valid code, and accept some code that the language doesn't: `a && b =
//! 1` in JavaScript, or `1 as u8.pow(2)` in Rust. So an expression that binds less tightly than the
//! node around it gets parentheses, however the parser reads it.

use tree_sitter::Node;

use super::language::Language;

/// The binding strength of an expression's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sequence,
    Assignment,
    Conditional,
    Cast,
    Binary,
    Unary,
    Postfix,
}

/// The binding of node kinds, by parts of the names that grammars give them, checked in this order.
const KINDS: [(&str, Binding); 34] = [
    ("sequence_expression", Binding::Sequence),
    ("comma_expression", Binding::Sequence),
    ("named_expression", Binding::Assignment),
    ("assignment", Binding::Assignment),
    ("arrow_function", Binding::Assignment),
    ("lambda", Binding::Assignment),
    ("closure_expression", Binding::Assignment),
    ("yield", Binding::Assignment),
    ("ternary_expression", Binding::Conditional),
    ("conditional", Binding::Conditional),
    ("type_cast_expression", Binding::Cast),
    ("as_expression", Binding::Cast),
    ("satisfies_expression", Binding::Cast),
    ("binary", Binding::Binary),
    ("boolean_operator", Binding::Binary),
    ("comparison_operator", Binding::Binary),
    ("not_operator", Binding::Binary),
    ("instanceof_expression", Binding::Binary),
    ("range_expression", Binding::Binary),
    ("interpolation", Binding::Binary),
    ("unary", Binding::Unary),
    ("cast_expression", Binding::Unary),
    ("pointer_expression", Binding::Unary),
    ("reference_expression", Binding::Unary),
    ("await", Binding::Unary),
    ("update_expression", Binding::Unary),
    ("type_assertion", Binding::Unary),
    ("call", Binding::Postfix),
    ("member", Binding::Postfix),
    ("field_expression", Binding::Postfix),
    ("attribute", Binding::Postfix),
    ("subscript", Binding::Postfix),
    ("non_null_expression", Binding::Postfix),
    ("try_expression", Binding::Postfix),
];

fn binding(node: &Node<'_>) -> Option<Binding> {
    let kind = node.kind();
    let mut known = KINDS.iter();
    let found = known.find(|(name, _)| kind.contains(name));
    found.map(|(_, binding)| *binding)
}

/// Returns whether a node needs parentheses in its place.
pub(super) fn needs_parentheses(
    language: Language,
    (parent, node): (&Node<'_>, &Node<'_>),
    source: &str,
) -> bool {
    let text = |node: &Node<'_>| source.get(node.byte_range()).unwrap_or_default();
    let is_script = language.is_script();
    let is_first = parent.start_byte() == node.start_byte();
    let is_last = parent.end_byte() == node.end_byte();
    if is_script {
        let is_body = parent.kind() == "arrow_function" && is_last;
        let is_statement = parent.kind() == "expression_statement" && is_first;
        let begins = text(node);
        if (is_body && node.kind() != "statement_block" && begins.starts_with('{'))
            || (is_statement && (begins.starts_with('{') || begins.starts_with("function")))
        {
            return true;
        }
    }
    if node.kind() == "named_expression" {
        return !parent.kind().contains("parenthesized");
    }
    match language.name() {
        "rust" if is_first && ends_statement(node) && !is_chained(parent) => {
            return begins_statement(parent);
        }
        "ruby" if is_worded(node, source) => return needs_one_value(parent),
        _ => {}
    }
    let Some((outer, mut inner)) = binding(parent).zip(binding(node)) else {
        return false;
    };
    if inner == Binding::Postfix && is_script && is_optional_chain(node) {
        inner = Binding::Unary;
    }
    // Arguments, bodies and right sides are separate from the code around them.
    let is_bound = match outer {
        Binding::Sequence | Binding::Assignment => false,
        Binding::Postfix => is_first,
        _ => true,
    };
    let operator = |node: &Node<'_>| {
        let mut cursor = node.walk();
        let mut tokens = node.children(&mut cursor).filter(|child| !child.is_named());
        tokens
            .next()
            .map(|token| text(&token).to_owned())
            .unwrap_or_default()
    };
    let is_misread = match (outer, inner) {
        // `(T)-1` is a subtraction in C#, and `-a ** b` an error in JavaScript.
        (Binding::Unary, Binding::Unary) => parent.kind() == "cast_expression",
        (Binding::Binary, Binding::Unary) => is_script && is_first && operator(parent) == "**",
        (Binding::Binary, Binding::Binary) => {
            let (outer, inner) = (operator(parent), operator(node));
            let compares =
                |operator: &str| matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=");
            let is_mixed = (outer == "??") != (inner == "??")
                && [&outer, &inner]
                    .iter()
                    .any(|it| matches!(it.as_str(), "&&" | "||"));
            (is_script && is_mixed)
                || (language.name() == "rust" && compares(&outer) && compares(&inner))
        }
        (Binding::Conditional, Binding::Conditional) => !is_last,
        _ => false,
    };
    is_bound && (inner < outer || is_misread)
}

/// Returns whether Rust ends a statement after this expression. The code after it then begins the
/// next statement, as in `match a { … } - 1`.
fn ends_statement(node: &Node<'_>) -> bool {
    matches!(
        node.kind(),
        "block"
            | "const_block"
            | "for_expression"
            | "if_expression"
            | "loop_expression"
            | "match_expression"
            | "unsafe_block"
            | "while_expression"
    )
}

/// Returns whether a Rust statement ends with this expression, though `rest` of the line should go
/// on with it.
pub(super) fn ends_early(
    language: Language,
    (parent, node): (&Node<'_>, &Node<'_>),
    rest: &str,
) -> bool {
    const OPERATORS: [char; 13] = [
        '-', '+', '*', '/', '%', '&', '|', '^', '<', '>', '=', '(', '[',
    ];
    let rest = rest.trim_start_matches(' ');
    let expression = match node.kind() {
        "expression_statement" => node.named_child(0),
        _ => Some(*node),
    };
    language.name() == "rust"
        && expression.is_some_and(|it| ends_statement(&it))
        && matches!(parent.kind(), "expression_statement" | "block")
        && (rest.starts_with(OPERATORS) || rest.starts_with("as ") || rest.starts_with("!="))
}

/// Returns whether a Rust expression continues after such an expression even in a statement.
fn is_chained(node: &Node<'_>) -> bool {
    matches!(
        node.kind(),
        "field_expression" | "try_expression" | "await_expression"
    ) || node.kind().ends_with("statement")
}

/// Returns whether a Rust expression is the first in a statement, or at the end of a block.
fn begins_statement(node: &Node<'_>) -> bool {
    let mut at = *node;
    while let Some(parent) = at.parent() {
        match parent.kind() {
            "block" => return at.kind().ends_with("expression"),
            "expression_statement" => return true,
            _ if parent.start_byte() != node.start_byte() => return false,
            _ => at = parent,
        }
    }
    false
}

/// Returns whether a Ruby expression is one of `and`, `or` and `not`.
fn is_worded(node: &Node<'_>, source: &str) -> bool {
    let mut cursor = node.walk();
    let mut tokens = node.children(&mut cursor);
    matches!(node.kind(), "binary" | "unary")
        && tokens.any(|token| {
            !token.is_named()
                && matches!(source.get(token.byte_range()), Some("and" | "or" | "not"))
        })
}

/// Returns whether a Ruby node takes no `a or b` without parentheses.
fn needs_one_value(parent: &Node<'_>) -> bool {
    matches!(
        parent.kind(),
        "argument_list" | "array" | "element_reference" | "pair"
    )
}

/// Returns whether a `?.` in the node would also skip code that is appended to it.
fn is_optional_chain(node: &Node<'_>) -> bool {
    let mut at = Some(*node);
    while let Some(node) = at {
        if !matches!(
            node.kind(),
            "member_expression" | "call_expression" | "subscript_expression"
        ) {
            return false;
        }
        let mut cursor = node.walk();
        if node
            .children(&mut cursor)
            .any(|child| child.kind() == "optional_chain")
        {
            return true;
        }
        at = node.child(0);
    }
    false
}
