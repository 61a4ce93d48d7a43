//! JSON inside of TOML: as a table, or as a string for values that TOML can't express.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value};

/// Any value. A string is parsed as JSON, because TOML has no null.
#[derive(Debug, Clone, PartialEq)]
pub struct Json(pub Value);

/// An object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object(pub Map<String, Value>);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(text) => serde_json::from_str(&text).map(Json).map_err(|error| {
                D::Error::custom(format!(
                    "a text here is read as JSON, and this is not valid: {error}"
                ))
            }),
            other => from_toml(other).map(Json).map_err(D::Error::custom),
        }
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Json::deserialize(deserializer)?.0 {
            Value::Object(members) => Ok(Self(members)),
            other => Err(D::Error::custom(format!(
                "expected a table, or a JSON object as a text; this is {other}"
            ))),
        }
    }
}

fn from_toml(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) if number.is_finite() => number.into(),
        toml::Value::Float(number) => return Err(format!("JSON has no number {number}")),
        toml::Value::Boolean(value) => value.into(),
        toml::Value::Datetime(time) => {
            return Err(format!(
                "JSON has no dates; put {time} between quotation marks"
            ));
        }
        toml::Value::Array(items) => {
            let items = items.into_iter().map(from_toml);
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        toml::Value::Table(members) => {
            let members = members
                .into_iter()
                .map(|(key, value)| Ok((key, from_toml(value)?)));
            Value::Object(members.collect::<Result<_, String>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::json;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Document {
        value: Json,
    }

    #[test]
    fn tables_and_texts_are_json() {
        let check = |text: &str, expected: Value| {
            let document = Document::deserialize(toml::Deserializer::parse(text).unwrap());
            assert_eq!(document.unwrap().value.0, expected, "{text}");
        };
        check(
            "value = { a = 1, b = [true, 0.5, \"null\"] }",
            json!({"a": 1, "b": [true, 0.5, "null"]}),
        );
        check("value = '{\"a\": null}'", json!({"a": null}));
        check("value = 'null'", Value::Null);
        check("value = '\"text\"'", json!("text"));
    }

    #[test]
    fn what_json_has_no_word_for_is_refused() {
        let check = |text: &str, expected: &str| {
            let error = toml::from_str::<Document>(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("value = [inf]", "JSON has no number inf");
        check(
            "value = [2026-11-22]",
            "put 2026-11-22 between quotation marks",
        );
        check("value = 'text'", "a text here is read as JSON");
    }
}
