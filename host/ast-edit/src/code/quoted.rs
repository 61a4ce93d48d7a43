//! JavaScript metavariables that stand for whole strings, whatever their quotes.

use ast_grep_core::matcher::{Pattern, PatternNode};
use ast_grep_core::meta_var::MetaVariable;

use super::grammar::Grammar;
use super::pattern::{read_alone, read_at};
use super::template::uses_in;

/// Returns the pattern with metavariables that match whole strings, in places where the language
/// only allows a string: the module of an import, and an attribute in JSX. In JSON, they match any
/// value.
pub(super) fn with_strings(text: &str, grammar: &Grammar) -> Option<Pattern> {
    let is_script = grammar.language().is_script();
    let is_json = grammar.language().name() == "json";
    let is_tag = text.trim_start().starts_with('<');
    let mut quoted = String::new();
    let mut names = Vec::new();
    let mut from = 0;
    for (at, dollars, name) in uses_in(text, '$').filter(|_| is_script || is_json) {
        let before = text[..at].trim_end();
        let is_module = before.ends_with("from") || before.ends_with("import");
        let is_value = is_json && before.ends_with([':', '[', ',']);
        if dollars != 1 || !(is_value || is_module || (is_tag && text[..at].ends_with('='))) {
            continue;
        }
        let end = at + dollars + name.len();
        quoted.push_str(&format!("{}\"{}\"", &text[from..at], &text[at..end]));
        names.push(name);
        from = end;
    }
    quoted.push_str(&text[from..]);
    if names.is_empty() {
        return None;
    }
    let mut pattern = if is_json {
        read_at("{\n", quoted.trim(), "\n}\n", grammar)
            .or_else(|| read_alone(&quoted, grammar).ok())?
    } else {
        read_alone(&quoted, grammar).ok()?
    };
    unquote(&mut pattern.node, &names);
    Some(pattern)
}

/// Makes each of some metavariables between quotes stand for the string including its quotes.
fn unquote(node: &mut PatternNode, names: &[&str]) {
    let PatternNode::Internal { children, .. } = node else {
        return;
    };
    if let [_, PatternNode::MetaVar { meta_var }, _] = &children[..]
        && matches!(meta_var, MetaVariable::Capture(name, _) if names.contains(&name.as_str()))
    {
        *node = PatternNode::MetaVar {
            meta_var: meta_var.clone(),
        };
        return;
    }
    for child in children {
        unquote(child, names);
    }
}
