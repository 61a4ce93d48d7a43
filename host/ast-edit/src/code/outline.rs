//! What is known of ops in one language once they were read, without a parser: enough to pass over
//! the files in which nothing can match.

use std::borrow::Cow;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use super::language::Language;

/// The ops, as they were read in one language.
pub(crate) struct Outline {
    language: Language,
    ops: Vec<OpOutline>,
    /// Why the others can't be done, by their index.
    pub refused: Vec<(usize, Refusal)>,
    /// The words without one of which there is no match.
    words: Vec<Finder<'static>>,
}

/// One op that can be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpOutline {
    /// Counted from 0, in the params.
    pub index: usize,
    /// For each thing that its pattern may mean, the longest word, without which there is no match.
    pub words: Vec<String>,
    /// For each of these, the kind of the nodes that it matches.
    pub kinds: Vec<u16>,
    /// The names that stand for one node.
    pub metavariables: Vec<String>,
}

/// Why an op can't be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// The member of the op that is to blame, such as `pat`.
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

    /// Whether none of the ops can be done.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Whether an op can be done.
    pub fn has(&self, index: usize) -> bool {
        self.ops.iter().any(|op| op.index == index)
    }

    /// Why an op can't be done.
    pub fn refusal(&self, index: usize) -> Option<&Refusal> {
        let mut refused = self.refused.iter();
        refused.find_map(|(refused, refusal)| (*refused == index).then_some(refusal))
    }

    /// What the language calls the nodes that an op matches.
    pub fn kinds(&self, index: usize) -> Vec<String> {
        let op = self.ops.iter().find(|op| op.index == index);
        let kinds = op.into_iter().flat_map(|op| &op.kinds);
        kinds.map(|kind| self.language.kind_name(*kind)).collect()
    }

    /// Whether it is worth while to parse the source: not parsing is much quicker.
    pub fn may_match(&self, source: &[u8]) -> bool {
        self.words.iter().any(|word| word.find(source).is_some())
    }

    /// Ops with a metavariable that has the name of a variable in the source, where the language
    /// writes both alike.
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

/// Whether `$NAME` is in a source.
fn has_variable(source: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    source.match_indices('$').any(|(at, _)| {
        let rest = source[at + 1..].strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(is_name))
    })
}
