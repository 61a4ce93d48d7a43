//! What a match is replaced by.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ast_grep_core::NodeMatch;
use ast_grep_core::language::Language as Patterns;
use ast_grep_core::matcher::{Pattern, PatternBuilder, PatternError, PatternNode};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::replacer::{Replacer as _, TemplateFix};

use super::document::Document;
use super::grammar::{Piece, escapes};
use super::language::Language;

/// How far back ast-grep looks for the start of a line.
const INDENT_LOOK_BACK: usize = 512;

/// The `out` of an op, for one language.
pub(crate) struct Template {
    fix: TemplateFix,
    /// Bytes and ends of lines that are its own.
    own: Size,
    /// For each name: how often it is used, and by how many spaces together those places are
    /// indented.
    uses: BTreeMap<(usize, String), (usize, usize)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Size {
    bytes: usize,
    lines: usize,
}

impl Size {
    fn of(text: &str) -> Self {
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        Self {
            bytes: text.len(),
            lines,
        }
    }
}

impl Template {
    /// # Errors
    /// A sentence, where it uses what the pattern doesn't bind.
    pub fn read(out: &str, language: Language, variables: &Variables<'_>) -> Result<Self, String> {
        let has_own = language.has_variables_with_dollars()
            && escapes(out).any(|piece| matches!(piece, Piece::Own(_)));
        let text = match has_own {
            false => {
                check_template(out, variables)?;
                Cow::Borrowed(out)
            }
            true => {
                for piece in escapes(out) {
                    if let Piece::Text(text) = piece {
                        check_template(text, variables)?;
                    }
                }
                Cow::Owned(with_other_sign(out))
            }
        };
        let sign = if has_own { other_sign(out) } else { '$' };
        let Ok(fix) = TemplateFix::try_new(&text, &Signed(sign));
        let mut uses: BTreeMap<(usize, String), (usize, usize)> = BTreeMap::new();
        for (at, signs, name) in uses_in(&text, sign) {
            let (count, indent) = uses.entry((signs, name.to_owned())).or_default();
            *count += 1;
            *indent += indent_at(&text.as_bytes()[..at]);
        }
        Ok(Self {
            fix,
            own: Size::of(&text),
            uses,
        })
    }

    /// How many bytes the replacement has at most.
    pub fn size(&self, matched: &NodeMatch<'_, Document>) -> usize {
        let source = matched.get_doc().source();
        let mut bytes = self.own.bytes;
        let mut lines = self.own.lines;
        for ((signs, name), (count, indent)) in &self.uses {
            let variable = match signs {
                3 => MetaVariable::MultiCapture(name.clone()),
                _ => MetaVariable::Capture(name.clone(), true),
            };
            let Some(text) = matched.get_env().get_var_bytes(&variable) else {
                continue;
            };
            let ends = text.iter().filter(|byte| **byte == b'\n').count();
            bytes = bytes.saturating_add(text.len().saturating_mul(*count));
            bytes = bytes.saturating_add(ends.saturating_mul(*indent));
            lines = lines.saturating_add(ends.saturating_mul(*count));
        }
        let indent = indent_at(&source.as_bytes()[..matched.range().start]);
        bytes.saturating_add(lines.saturating_mul(indent + 1))
    }

    pub fn fill(&self, matched: &NodeMatch<'_, Document>) -> String {
        // It is made of whole nodes and of a template, which both are text.
        String::from_utf8_lossy(&self.fix.generate_replacement(matched)).into_owned()
    }

    pub fn replaced_range(
        &self,
        matched: &NodeMatch<'_, Document>,
        pattern: &Pattern,
    ) -> std::ops::Range<usize> {
        self.fix.get_replaced_range(matched, pattern)
    }
}

/// The spaces before the first word of the line that a text ends in, as ast-grep counts them.
fn indent_at(text: &[u8]) -> usize {
    let text = &text[text.len().saturating_sub(INDENT_LOOK_BACK)..];
    let line = text
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    line.iter().take_while(|byte| **byte == b' ').count()
}

/// A sign in place of `$` that the text doesn't have, so that `$NAME` in it is no metavariable.
fn other_sign(text: &str) -> char {
    let mut private = '\u{e000}'..='\u{f8ff}';
    private.find(|sign| !text.contains(*sign)).unwrap_or('$')
}

/// Metavariables with that sign, and the language's own variables without their backslash.
fn with_other_sign(text: &str) -> String {
    let sign = other_sign(text);
    let mut signed = String::with_capacity(text.len());
    for piece in escapes(text) {
        match piece {
            Piece::Own(name) => {
                signed.push('$');
                signed.push_str(name);
            }
            Piece::Text(text) => {
                let mut from = 0;
                for (at, signs, name) in uses_in(text, '$') {
                    signed.push_str(&text[from..at]);
                    signed.extend(std::iter::repeat_n(sign, signs));
                    signed.push_str(name);
                    from = at + signs + name.len();
                }
                signed.push_str(&text[from..]);
            }
        }
    }
    signed
}

/// A language for templates alone: of all that a language says, they ask only for the sign.
#[derive(Clone)]
struct Signed(char);

impl Patterns for Signed {
    fn meta_var_char(&self) -> char {
        self.0
    }

    fn kind_to_id(&self, _: &str) -> u16 {
        0
    }

    fn field_to_id(&self, _: &str) -> Option<u16> {
        None
    }

    fn build_pattern(&self, _: &PatternBuilder) -> Result<Pattern, PatternError> {
        Err(PatternError::Parse("there is only a template".to_owned()))
    }
}

/// The metavariables that a pattern binds.
#[derive(Default)]
pub(crate) struct Variables<'a> {
    single: BTreeSet<Cow<'a, str>>,
    multiple: BTreeSet<Cow<'a, str>>,
}

impl<'a> Variables<'a> {
    /// Those that stand for one node.
    pub fn single(&self) -> impl Iterator<Item = &str> {
        self.single.iter().map(|name| name.as_ref())
    }

    pub fn collect(&mut self, node: &'a PatternNode) {
        match node {
            PatternNode::Terminal { .. } => {}
            PatternNode::Internal { children, .. } => {
                for child in children {
                    self.collect(child);
                }
            }
            PatternNode::MetaVar { meta_var } => match meta_var {
                MetaVariable::Capture(name, _) => {
                    self.single.insert(name.as_str().into());
                }
                MetaVariable::MultiCapture(name) => {
                    self.multiple.insert(name.as_str().into());
                }
                MetaVariable::Dropped(_) | MetaVariable::Multiple => {}
            },
        }
    }
}

/// A template may use what its pattern binds, in the way in which it is bound.
fn check_template(template: &str, variables: &Variables<'_>) -> Result<(), String> {
    for (dollars, name) in used_in(template) {
        let (here, other) = match dollars {
            3 => (&variables.multiple, &variables.single),
            _ => (&variables.single, &variables.multiple),
        };
        if here.contains(name) {
            continue;
        }
        let used = format!("{}{name}", "$".repeat(dollars));
        let there = if dollars == 3 { "$" } else { "$$$" };
        return Err(match other.contains(name) {
            true => {
                format!("it uses `{used}`, and `pat` has `{there}{name}`; write it the same way")
            }
            false => format!("it uses `{used}`, which `pat` doesn't have"),
        });
    }
    Ok(())
}

/// The metavariables of a template, each with the number of its dollar signs, by the rules of
/// [`TemplateFix`].
pub(crate) fn used_in(template: &str) -> impl Iterator<Item = (usize, &str)> {
    uses_in(template, '$').map(|(_, signs, name)| (signs, name))
}

/// The same with their places, and for another sign.
fn uses_in(template: &str, sign: char) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + template[from..].find(sign)?;
            let rest = &template[at..];
            let signs = rest.chars().take(3).take_while(|c| *c == sign).count();
            let name = &rest[signs * sign.len_utf8()..];
            let is_name = |c: char| matches!(c, 'A'..='Z' | '_' | '0'..='9');
            let length = name.find(|c| !is_name(c)).unwrap_or(name.len());
            if length > 0 && name.starts_with(|c| matches!(c, 'A'..='Z' | '_')) {
                from = at + signs * sign.len_utf8() + length;
                return Some((at, signs, &name[..length]));
            }
            // Only the first of these signs is certain to begin none.
            from = at + sign.len_utf8();
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Else what is checked is not what is replaced.
        #[test]
        fn the_variables_of_a_template_are_those_that_the_library_finds(template in "[$A-C_1a ]{0,12}") {
            let Ok(fix) = TemplateFix::try_new(&template, &Signed('$'));
            let theirs: BTreeSet<&str> = fix.used_vars().into_iter().collect();
            let ours: BTreeSet<&str> = used_in(&template).map(|(_, name)| name).collect();
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn an_escaped_template_has_the_variables_that_are_not_escaped(template in "[\\\\$A-C_1a ]{0,12}") {
            let signed = with_other_sign(&template);
            let Ok(fix) = TemplateFix::try_new(&signed, &Signed(other_sign(&template)));
            let theirs: BTreeSet<&str> = fix.used_vars().into_iter().collect();
            let ours: BTreeSet<&str> = escapes(&template)
                .filter_map(|piece| match piece {
                    Piece::Text(text) => Some(used_in(text).map(|(_, name)| name).collect::<Vec<_>>()),
                    Piece::Own(_) => None,
                })
                .flatten()
                .collect();
            prop_assert_eq!(ours, theirs);
        }
    }
}
