//! The facts about ops in one language that are known without a parser. They suffice to skip the
//! files in which nothing can match.

use std::borrow::Cow;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use super::language::Language;

/// The ops, as parsed in one language.
pub(crate) struct Outline {
    language: Language,
    ops: Vec<OpOutline>,
    /// The refusals of the other ops, by index.
    pub refused: Vec<(usize, Refusal)>,
    /// The words of which a source must contain at least one to match.
    words: Vec<Finder<'static>>,
}

/// An op that can be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpOutline {
    /// The index in the params, from 0.
    pub index: usize,
    /// The longest word of each possible reading of the pattern, without which that reading can't
    /// match.
    pub words: Vec<String>,
    /// The kind of the nodes that each reading matches.
    pub kinds: Vec<u16>,
    /// The names of metavariables for one node.
    pub metavariables: Vec<String>,
}

/// The reason why an op can't be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// The member of the op that is at fault, such as `pat`.
    pub field: Cow<'static, str>,
    pub message: String,
}

impl Refusal {
    pub fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self {
            field: Cow::Borrowed(field),
            message: message.into(),
        }
    }
}

impl Outline {
    pub fn new(language: Language, ops: Vec<OpOutline>, refused: Vec<(usize, Refusal)>) -> Self {
        let words = ops.iter().flat_map(|op| &op.words);
        let words = words.map(|word| Finder::new(word.as_bytes()).into_owned());
        Self {
            language,
            words: words.collect(),
            ops,
            refused,
        }
    }

    pub fn into_parts(self) -> (Vec<OpOutline>, Vec<(usize, Refusal)>) {
        (self.ops, self.refused)
    }

    /// Returns whether no op can be run.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Returns whether an op can be run.
    pub fn has(&self, index: usize) -> bool {
        self.ops.iter().any(|op| op.index == index)
    }

    /// Returns the reason why an op can't be run.
    pub fn refusal(&self, index: usize) -> Option<&Refusal> {
        let mut refused = self.refused.iter();
        refused.find_map(|(refused, refusal)| (*refused == index).then_some(refusal))
    }

    /// Returns the language's names for the nodes that an op matches.
    pub fn kinds(&self, index: usize) -> Vec<String> {
        let op = self.ops.iter().find(|op| op.index == index);
        let kinds = op.into_iter().flat_map(|op| &op.kinds);
        kinds.map(|kind| self.language.kind_name(*kind)).collect()
    }

    /// Returns whether a source is worth parsing. This check is much faster than parsing.
    pub fn may_match(&self, source: &[u8]) -> bool {
        self.words.iter().any(|word| word.find(source).is_some())
    }

    /// Returns ops with a metavariable that has the name of a variable in the source, in languages
    /// that write both alike.
    pub fn variables_of_its_own<'a>(
        &'a self,
        source: &'a str,
    ) -> impl Iterator<Item = (usize, &'a str)> {
        let ops = self.ops.iter().flat_map(|op| {
            let names = op.metavariables.iter();
            names.map(|name| (op.index, name.as_str()))
        });
        ops.filter(|(_, name)| {
            self.language.has_variables_with_dollars() && has_variable(source, name)
        })
    }
}

/// Returns whether `$NAME` occurs in a source.
fn has_variable(source: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    source.match_indices('$').any(|(at, _)| {
        let rest = source[at + 1..].strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(is_name))
    })
}
