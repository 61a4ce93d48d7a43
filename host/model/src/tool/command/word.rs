//! Words of a command line, with params in them.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Room, TooLong};

/// The bytes that an argument counts for, in addition to its text.
const ARGUMENT_BYTES: usize = size_of::<String>();

/// A part of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Part {
    /// A word. It is left out if one of its params is missing.
    Word(Word),
    /// Words that belong together, such as an option and its value. They are left out if a param in
    /// them is missing.
    Group(Vec<Word>),
}

/// A text with params in it, such as `--glob={pattern}`. `{{` and `}}` are braces.
///
/// In arguments, a param that is missing, null, false or an empty array leaves out the argument.
/// True adds nothing to it. If an array is the word's only param, each item makes an argument.
/// Values other than texts are written as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Word(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Param(String),
}

impl Part {
    /// Returns the words.
    pub fn words(&self) -> &[Word] {
        match self {
            Part::Word(word) => std::slice::from_ref(word),
            Part::Group(words) => words,
        }
    }

    /// Adds the arguments, with the values of params.
    pub(super) fn fill<'a>(
        &self,
        value: &impl Fn(&str) -> Option<&'a Value>,
        room: &mut Room,
        args: &mut Vec<String>,
    ) -> Result<(), TooLong> {
        let before = args.len();
        for word in self.words() {
            if !word.fill(value, room, args)? {
                args.truncate(before);
                break;
            }
        }
        Ok(())
    }
}

impl Word {
    /// Returns the names of the params in it.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Param(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// Adds the word's arguments. Returns false if a param is missing.
    fn fill<'a>(
        &self,
        value: &impl Fn(&str) -> Option<&'a Value>,
        room: &mut Room,
        args: &mut Vec<String>,
    ) -> Result<bool, TooLong> {
        let params = self.params().map(|name| value(name).filter(counts));
        let Some(params) = params.collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        if let [Value::Array(items)] = params.as_slice() {
            for item in items {
                room.take(ARGUMENT_BYTES)?;
                args.push(self.with(&|_| in_argument(item), room)?);
            }
            return Ok(true);
        }
        room.take(ARGUMENT_BYTES)?;
        let in_argument = |name: &str| value(name).map(in_argument).unwrap_or_default();
        let word = self.with(&in_argument, room)?;
        // A flag by itself is no argument.
        if !word.is_empty() || !params.contains(&&Value::Bool(true)) {
            args.push(word);
        }
        Ok(true)
    }

    /// Returns one text, in which a missing param is empty.
    pub(super) fn text<'a>(
        &self,
        value: &impl Fn(&str) -> Option<&'a Value>,
        room: &mut Room,
    ) -> Result<String, TooLong> {
        let given = |name: &str| value(name).filter(|value| !value.is_null());
        self.with(&|name| given(name).map(text).unwrap_or_default(), room)
    }

    fn with(&self, value: &dyn Fn(&str) -> String, room: &mut Room) -> Result<String, TooLong> {
        let mut whole = String::new();
        for piece in &self.0 {
            let part = match piece {
                Piece::Text(text) => Cow::Borrowed(text.as_str()),
                Piece::Param(name) => Cow::Owned(value(name)),
            };
            room.take(part.len())?;
            whole.push_str(&part);
        }
        Ok(whole)
    }
}

/// Returns whether a value counts as given.
fn counts(value: &&Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// Returns the text in an argument, which is empty for a flag.
fn in_argument(value: &Value) -> String {
    match value {
        Value::Bool(true) => String::new(),
        value => text(value),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// By hand, because a derived one says nothing about a wrong word.
impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartVisitor;

        impl<'de> Visitor<'de> for PartVisitor {
            type Value = Part;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or an array of texts that belong together")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Part, E> {
                let word = Word::try_from(text.to_owned());
                word.map(Part::Word).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, words: A) -> Result<Part, A::Error> {
                let words = SeqAccessDeserializer::new(words);
                Vec::deserialize(words).map(Part::Group)
            }
        }

        deserializer.deserialize_any(PartVisitor)
    }
}

impl TryFrom<String> for Word {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..at + 1];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(format!(
                    "{text:?} has a `}}` without `{{`: `}}}}` is a brace"
                ));
            }
            let (name, after) = rest
                .split_once('}')
                .ok_or_else(|| format!("{text:?} has a `{{` without `}}`: `{{{{` is a brace"))?;
            check_name(name)?;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Param(name.to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self(pieces))
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(is_part) {
        return Err(format!("{name:?} is no name of a param: `{{{{` is a brace"));
    }
    Ok(())
}

impl From<Word> for String {
    fn from(word: Word) -> Self {
        word.to_string()
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => {
                    f.write_str(&text.replace('{', "{{").replace('}', "}}"))?;
                }
                Piece::Param(name) => write!(f, "{{{name}}}")?,
            }
        }
        Ok(())
    }
}
