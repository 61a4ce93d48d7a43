//! Parses patterns in a language, as ast-grep does, but with a stop, and with an escape if `$`
//! belongs to the language.

use std::borrow::Cow;
use std::sync::Arc;

use ast_grep_core::language::Language as Patterns;
use ast_grep_core::matcher::{Pattern, PatternBuilder, PatternError};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_language::SupportLang;

use super::document::Document;
use super::language::Language;
use super::template::{used_in, uses_in};
use airlock_host::native::Stop;

/// A language during the parsing of one pattern or the search of one source.
#[derive(Clone)]
pub(crate) struct Grammar {
    language: Language,
    /// The language of ast-grep's that reads metavariables in the same way.
    metavariables: SupportLang,
    /// The language's own variables in a pattern, which are not metavariables: the text after their
    /// dollar sign.
    own: Arc<[String]>,
    stop: Arc<Stop>,
}

impl Grammar {
    pub fn new(language: Language, stop: &Arc<Stop>) -> Self {
        Self {
            language,
            metavariables: language.metavariables(),
            own: Arc::default(),
            stop: Arc::clone(stop),
        }
    }

    /// Returns the grammar for one pattern, in which `\$NAME` is the language's own variable.
    ///
    /// # Errors
    /// A sentence, if the same name is also a metavariable.
    pub fn for_pattern(language: Language, text: &str, stop: &Arc<Stop>) -> Result<Self, String> {
        let mut grammar = Self::new(language, stop);
        if !language.has_variables_with_dollars() {
            return Ok(grammar);
        }
        let own: Vec<String> = escapes(text)
            .filter_map(|piece| match piece {
                Piece::Own(name) => Some(name.to_owned()),
                Piece::Text(_) => None,
            })
            .collect();
        for name in &own {
            let used = escapes(text).any(|piece| match piece {
                Piece::Own(_) => false,
                Piece::Text(text) => used_in(text).any(|(_, used)| used == name),
            });
            if used {
                return Err(format!(
                    "it has `\\${name}`, which is {0}'s own variable, and the metavariable `${name}`; rename the metavariable",
                    language.name()
                ));
            }
        }
        grammar.own = own.into();
        Ok(grammar)
    }

    pub fn language(&self) -> Language {
        self.language
    }

    pub fn stop(&self) -> &Arc<Stop> {
        &self.stop
    }

    pub fn parser_language(&self) -> tree_sitter::Language {
        self.language.parser()
    }
}

impl Patterns for Grammar {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        if self.language.has_quoted_metavariables() {
            return Cow::Owned(quoted(query, self.expando_char()));
        }
        if self.own.is_empty() {
            return self.metavariables.pre_process_pattern(query);
        }
        let pieces = escapes(query).map(|piece| match piece {
            Piece::Text(text) => self.metavariables.pre_process_pattern(text),
            Piece::Own(name) => Cow::Owned(format!("${name}")),
        });
        Cow::Owned(pieces.collect())
    }

    fn meta_var_char(&self) -> char {
        self.metavariables.meta_var_char()
    }

    fn expando_char(&self) -> char {
        self.metavariables.expando_char()
    }

    fn extract_meta_var(&self, source: &str) -> Option<MetaVariable> {
        let source = if self.language.has_quoted_metavariables() {
            let inner = source.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            inner?
        } else {
            source
        };
        let is_own = source
            .strip_prefix('$')
            .is_some_and(|name| self.own.iter().any(|own| own == name));
        if is_own {
            None
        } else {
            self.metavariables.extract_meta_var(source)
        }
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.language.parser().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        let field = self.language.parser().field_id_for_name(field);
        field.map(std::num::NonZero::get)
    }

    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|source| {
            Document::parse_pattern(source, self.clone()).map_err(|why| why.to_string())
        })
    }
}

/// A part of a pattern or template in a language whose own variables start with a dollar sign.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    /// The text after `\$`: a name that would be a metavariable without the backslash.
    Own(&'a str),
}

/// Splits a text at `\$NAME`.
pub(crate) fn escapes(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut own = None;
    std::iter::from_fn(move || {
        if let Some(name) = own.take() {
            return Some(Piece::Own(name));
        }
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(at) = rest[from..].find("\\$").map(|at| at + from) {
            let name = &rest[at + 2..];
            let is_name = |c: char| matches!(c, 'A'..='Z' | '_' | '0'..='9');
            let length = name.find(|c| !is_name(c)).unwrap_or(name.len());
            if !name.starts_with(|c| matches!(c, 'A'..='Z' | '_')) {
                from = at + 2;
                continue;
            }
            let before = &rest[..at];
            rest = &name[length..];
            return Some(if before.is_empty() {
                Piece::Own(&name[..length])
            } else {
                own = Some(&name[..length]);
                Piece::Text(before)
            });
        }
        Some(Piece::Text(std::mem::take(&mut rest)))
    })
}

/// Writes the metavariables of a pattern as strings, for a language without bare names. Those
/// inside of strings stay as they are.
fn quoted(query: &str, expando: char) -> String {
    let mut text = String::with_capacity(query.len());
    let mut quote = None;
    let mut from = 0;
    for (at, signs, name) in uses_in(query, '$') {
        let before = &query[from..at];
        let end = at + signs + name.len();
        quote = before.chars().fold(quote, quote_after);
        text.push_str(before);
        if quote.is_some() {
            text.push_str(&query[at..end]);
        } else {
            text.push('"');
            text.extend(std::iter::repeat_n(expando, signs));
            text.push_str(name);
            text.push('"');
        }
        from = end;
    }
    text.push_str(&query[from..]);
    text
}

/// Returns the quote of the string that is open after a character.
fn quote_after(open: Option<char>, next: char) -> Option<char> {
    match open {
        Some(quote) if quote == next => None,
        None if matches!(next, '"' | '\'') => Some(next),
        open => open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metavariable_is_a_string_where_a_language_has_no_bare_names() {
        assert_eq!(quoted("a = $V", 'µ'), "a = \"µV\"");
        assert_eq!(quoted("[$$$A, 1]", 'µ'), "[\"µµµA\", 1]");
        assert_eq!(quoted("a = \"$V\" # $5", 'µ'), "a = \"$V\" # $5");
    }

    #[test]
    fn a_dollar_sign_behind_a_backslash_is_the_languages_own() {
        use Piece::{Own, Text};
        let check = |text, pieces: &[Piece<'_>]| {
            assert_eq!(escapes(text).collect::<Vec<_>>(), pieces, "{text}");
        };
        check("", &[]);
        check("echo $A", &[Text("echo $A")]);
        check("\\$HOME", &[Own("HOME")]);
        check(
            "a \\$B\\$C d",
            &[Text("a "), Own("B"), Own("C"), Text(" d")],
        );
        check("costs \\$5", &[Text("costs \\$5")]);
    }
}
