//! The replacement of a match.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ast_grep_core::NodeMatch;
use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;

use super::document::Document;
use super::filled::{Filled, Inserted, indent_at};
use super::grammar::{Piece, escapes};
use super::language::Language;
use super::lines::LineEnds;
use super::rewrite::{MemoryBudget, RewriteError};

/// The `out` of an op, for one language.
pub(crate) struct Template(Vec<Part>);

enum Part {
    /// Literal text.
    Text(String),
    Variable {
        variable: MetaVariable,
        /// The spaces and tabs at the start of the variable's line in the template.
        indent: String,
    },
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// A sentence, if it uses variables that the pattern doesn't bind.
    pub fn read(out: &str, language: Language, variables: &Variables<'_>) -> Result<Self, String> {
        let has_own = language.has_variables_with_dollars()
            && escapes(out).any(|piece| matches!(piece, Piece::Own(_)));
        let text = if has_own {
            for piece in escapes(out) {
                if let Piece::Text(text) = piece {
                    check_template(text, variables)?;
                }
            }
            Cow::Owned(with_other_sign(out))
        } else {
            check_template(out, variables)?;
            Cow::Borrowed(out)
        };
        let sign = if has_own { other_sign(out) } else { '$' };
        Ok(Self(parts(&text, sign)))
    }

    /// Returns the replacement of a match. Its lines are indented like the first line of the match.
    /// `end` is the end of the part that is replaced.
    ///
    /// # Errors
    /// If it needs more memory than the budget has.
    pub fn fill(
        &self,
        matched: &NodeMatch<'_, Document>,
        end: usize,
        ends: &LineEnds,
        room: &MemoryBudget,
    ) -> Result<(String, Vec<Inserted>), RewriteError> {
        let mut filled = Filled::new(matched, ends, room);
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.add_text(text)?,
                Part::Variable { variable, indent } => {
                    filled.add_captured(matched, variable, indent)?;
                }
            }
        }
        Ok(filled.finish(&matched.get_doc().source()[end..]))
    }
}

fn parts(text: &str, sign: char) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, signs, name) in uses_in(text, sign) {
        parts.push(Part::Text(text[from..at].to_owned()));
        parts.push(Part::Variable {
            variable: match signs {
                3 => MetaVariable::MultiCapture(name.to_owned()),
                _ => MetaVariable::Capture(name.to_owned(), true),
            },
            indent: indent_at(text, at).to_owned(),
        });
        from = at + signs * sign.len_utf8() + name.len();
    }
    parts.push(Part::Text(text[from..].to_owned()));
    parts
}

/// Returns a sign that the text doesn't contain, to use instead of `$`, so that `$NAME` in it is
/// not a metavariable.
fn other_sign(text: &str) -> char {
    let mut private = '\u{e000}'..='\u{f8ff}';
    private.find(|sign| !text.contains(*sign)).unwrap_or('$')
}

/// Returns the text with that sign for metavariables, and without the backslash of the language's
/// own variables.
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

/// The metavariables that a pattern binds.
#[derive(Default)]
pub(crate) struct Variables<'a> {
    single: BTreeSet<Cow<'a, str>>,
    multiple: BTreeSet<Cow<'a, str>>,
}

impl<'a> Variables<'a> {
    /// Returns the names of metavariables for one node.
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
                MetaVariable::Capture(name, _) if is_written(name) => {
                    self.single.insert(name.as_str().into());
                }
                MetaVariable::MultiCapture(name) if is_written(name) => {
                    self.multiple.insert(name.as_str().into());
                }
                _ => {}
            },
        }
    }
}

/// Returns whether a name comes from the pattern itself: see [`super::dropped::name_all`].
fn is_written(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Checks that a template only uses variables that its pattern binds, with the same number of
/// dollar signs.
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
        return Err(if other.contains(name) {
            format!("it uses `{used}`, and `pat` has `{there}{name}`; write it the same way")
        } else {
            format!("it uses `{used}`, which `pat` doesn't have")
        });
    }
    Ok(())
}

/// Returns the metavariables of a template, each with its number of dollar signs, by the rules of
/// ast-grep's templates.
pub(crate) fn used_in(template: &str) -> impl Iterator<Item = (usize, &str)> {
    uses_in(template, '$').map(|(_, signs, name)| (signs, name))
}

/// Returns the same with their positions, for any sign.
pub(super) fn uses_in(template: &str, sign: char) -> impl Iterator<Item = (usize, usize, &str)> {
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
            // Only the first of these signs certainly starts no metavariable.
            from = at + sign.len_utf8();
        }
    })
}

#[cfg(test)]
mod tests {
    use ast_grep_core::language::Language as Patterns;
    use ast_grep_core::matcher::{Pattern, PatternBuilder, PatternError};
    use ast_grep_core::replacer::TemplateFix;
    use proptest::prelude::*;

    use super::*;

    /// A language for templates only, which need nothing but the sign.
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

    proptest! {
        /// Otherwise the check and the replacement would disagree.
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
