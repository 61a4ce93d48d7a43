//! What was found beside what the case says.

use std::collections::HashMap;

use airlock_host::Error;
use airlock_host::pending::ActionId;
use serde_json::{Map, Value, json};

use crate::case::{Fails, Gives, Kind, Text};

/// What a call or a resolution gave.
pub struct Outcome {
    pub content: Value,
    pub details: Option<Value>,
    pub pushed: Vec<String>,
}

/// Ids of actions, by their labels.
pub type Ids = HashMap<String, ActionId>;

pub fn gives(expected: &Gives, found: &Outcome, ids: &Ids) -> Result<(), String> {
    if let Some(content) = &expected.content {
        same("content", content, &found.content)?;
    }
    if let Some(details) = &expected.details {
        let details = with_ids(details, ids)?;
        // None are shown as null, which details that are there never are.
        same("details", &details, &json!(found.details))?;
    }
    if let Some(pushed) = &expected.pushed {
        same("pushed", &json!(pushed), &json!(found.pushed))?;
    }
    Ok(())
}

pub fn fails(expected: &Fails, found: &Error, ids: &Ids, language: &str) -> Result<(), String> {
    let text = found.to_string();
    let expected_text = match &expected.text {
        Text::Begins { begins } if text.starts_with(begins) => text.clone(),
        Text::Begins { begins } => format!("{begins}…"),
        Text::Is(all) => all.clone(),
        Text::In { languages } => match languages.get(language) {
            Some(words) if is_with_a_place(&text, words) => text.clone(),
            words => words.cloned().unwrap_or_default(),
        },
        Text::Of { of, is } => is.replace("$id", id(of, ids)?),
    };
    same("the error's text", &json!(expected_text), &json!(text))?;
    let kind = found.kind();
    match &expected.kind {
        None => Ok(()),
        Some(Kind::OneOf(kinds)) if kinds.iter().any(|it| it == kind) => Ok(()),
        Some(Kind::OneOf(kinds)) => same("the error's kind", &json!(kinds), &json!(kind)),
        Some(Kind::Is(expected)) => same("the error's kind", &json!(expected), &json!(kind)),
    }
}

/// Behind the words, an SDK may say where the error comes from: `words (tool.py:12)`.
fn is_with_a_place(text: &str, words: &str) -> bool {
    let place = text.strip_prefix(words);
    let place = place.and_then(|rest| rest.strip_prefix(" (")?.strip_suffix(')'));
    place.is_some_and(|place| place.contains(':') && !place.contains(' '))
}

/// The id of the action of that label.
pub fn id<'a>(label: &str, ids: &'a Ids) -> Result<&'a str, String> {
    let id = ids.get(label).map(ActionId::as_str);
    id.ok_or_else(|| format!("nothing labelled {label} was pushed"))
}

/// Only the fields that are expected are looked at.
pub fn stack(expected: &[Map<String, Value>], found: &[Value]) -> Result<(), String> {
    let fields = |(expected, found): (&Map<String, Value>, &Value)| -> Value {
        let keys = expected.keys();
        let found = keys.map(|key| (key.clone(), found.get(key).cloned().unwrap_or_default()));
        Value::Object(found.collect())
    };
    let labels =
        |stack: &[Value]| -> Value { stack.iter().map(|it| it["label"].clone()).collect() };
    let expected_labels: Value = expected.iter().map(|it| it["label"].clone()).collect();
    same("pending", &expected_labels, &labels(found))?;
    let found: Value = expected.iter().zip(found).map(fields).collect();
    same("pending", &json!(expected), &found)
}

pub fn same(what: &str, expected: &Value, found: &Value) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!(
            "{what}\n  expected {}\n  found    {}",
            shortened(expected),
            shortened(found)
        ))
    }
}

/// Puts the id of an action in the place of each `{"$id": label}`.
fn with_ids(value: &Value, ids: &Ids) -> Result<Value, String> {
    if let Some(label) = value.get("$id").and_then(Value::as_str) {
        return id(label, ids).map(Value::from);
    }
    Ok(match value {
        Value::Array(values) => values
            .iter()
            .map(|value| with_ids(value, ids))
            .collect::<Result<_, _>>()?,
        Value::Object(object) => {
            let fields = object.iter();
            let fields = fields.map(|(key, value)| Ok((key.clone(), with_ids(value, ids)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

/// A megabyte of text says no more than its beginning and its length.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > 400 => {
            let begin: String = text.chars().take(100).collect();
            Value::from(format!("{begin}… ({} bytes)", text.len()))
        }
        Value::Array(values) => values.iter().map(shortened).collect(),
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| (key.clone(), shortened(value)))
            .collect(),
        other => other.clone(),
    }
}
