//! Strategies for texts: some that a tool knows, and some awkward ones.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;
use serde_json::{Map, Value};

use super::vocabulary::Vocabulary;

/// Texts that many tools understand as a glob, a pattern or a part of a name.
const COMMON: &[&str] = &["*", "*.txt", ".", "a", "e", "t", "x", "one"];

/// Texts that programs often fail on.
const AWKWARD: &[&str] = &[
    "",
    " ",
    ".",
    "..",
    "/",
    "../outside",
    "/workspace",
    "a/b/c",
    "[",
    "(",
    "\\",
    "%",
    "{}",
    "$1",
    "-1",
    "0",
    "null",
    "\0",
    "two\nlines",
    "é",
    "日本語",
    "👩‍👩‍👧",
    "\u{202e}",
    "a\u{301}",
];

/// The likelihood that a text names files of the workspace, or matches their names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Names {
    /// A likelihood like that of any other text.
    #[default]
    Unlikely,
    /// A likelihood of more than a half.
    Likely,
    /// A certainty, if the workspace has files.
    Only,
}

/// Returns a strategy for a string schema.
pub fn of(schema: &Map<String, Value>, known: &Vocabulary, names: Names) -> BoxedStrategy<String> {
    let length = |key: &str| Some(schema.get(key)?.as_u64()?.min(100_000) as usize);
    let (least, most) = (length("minLength").unwrap_or(0), length("maxLength"));
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let format = schema.get("format").and_then(Value::as_str);
    let plain = match (pattern.and_then(of_pattern), format.and_then(example_of)) {
        (Some(strategy), _) => strategy,
        (None, Some(example)) => Just(example.to_owned()).boxed(),
        (None, None) => match names {
            Names::Only if !known.paths.is_empty() => name_of_files(known),
            Names::Likely if !known.paths.is_empty() => likely_name(known),
            _ => any_text(&known.words),
        },
    };
    plain
        .prop_map(move |text| of_length(text, least, most))
        .boxed()
}

/// Prefers names in the workspace, because a tool does little with others. Some names are awkward
/// texts, which are most useful as names.
fn likely_name(known: &Vocabulary) -> BoxedStrategy<String> {
    prop_oneof![5 => name_of_files(known), 2 => awkward(), 3 => any_text(&known.words)].boxed()
}

fn name_of_files(known: &Vocabulary) -> BoxedStrategy<String> {
    let (paths, globs) = (select(known.paths.clone()), select(known.globs.clone()));
    prop_oneof![3 => paths, 2 => globs].boxed()
}

fn any_text(words: &[String]) -> BoxedStrategy<String> {
    let common: Vec<String> = COMMON.iter().map(|&text| text.to_owned()).collect();
    let mut known = words.to_vec();
    known.extend(common.iter().cloned());
    prop_oneof![
        4 => select(known),
        3 => select(common),
        2 => awkward(),
        2 => "[a-z]{1,8}",
        1 => "\\PC{0,40}",
    ]
    .boxed()
}

fn awkward() -> impl Strategy<Value = String> {
    select(AWKWARD).prop_map(str::to_owned)
}

/// Returns `None` if no text can be generated for the pattern. The generator does not support
/// anchors, which most patterns have: it generates whole texts.
fn of_pattern(pattern: &str) -> Option<BoxedStrategy<String>> {
    let whole = pattern.strip_prefix('^').unwrap_or(pattern);
    let whole = whole.strip_suffix('$').unwrap_or(whole);
    string_regex(whole).ok().map(Strategy::boxed)
}

fn example_of(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2026-11-22T09:15:00Z",
        "date" => "2026-11-22",
        "time" => "09:15:00Z",
        "duration" => "P1DT12H",
        "email" => "ann@example.org",
        "hostname" => "example.org",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "uri-reference" | "iri" => "https://example.org/a?b=c",
        "uuid" => "01a2005d-d50a-7498-954a-3c20d939438b",
        "regex" => "^a+$",
        "json-pointer" => "/a/0",
        _ => return None,
    })
}

/// Adjusts the length of a text. Lengths count characters, as in JSON Schema.
fn of_length(mut text: String, least: usize, most: Option<usize>) -> String {
    let count = text.chars().count();
    text.extend(std::iter::repeat_n('a', least.saturating_sub(count)));
    match most {
        Some(most) if most < count => text.chars().take(most).collect(),
        _ => text,
    }
}
