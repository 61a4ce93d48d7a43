//! Parsing a word as a param's value, by the types in its schema.

use serde_json::{Number, Value};

use super::Reader;
use crate::input;

/// The way to parse a param from a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// The word itself.
    Text,
    /// The word itself, which must be one of these.
    Choice(Vec<String>),
    Number,
    Boolean,
    /// A list, with one item per word.
    List(Box<Typed>),
    /// JSON, `@FILE` or `-`, as for the params as a whole.
    Json,
    /// JSON if valid, or else text.
    Any,
}

/// The problem with a word, as a clause that follows it.
pub type Wrong = String;

impl Typed {
    /// Parses a word. For a list, returns one item.
    ///
    /// # Errors
    /// If the word doesn't fit the type. The tool's schema decides whether it accepts the value.
    pub fn read(&self, word: &str) -> Result<Value, Wrong> {
        match self {
            Typed::Text | Typed::Choice(_) => Ok(word.into()),
            Typed::Number => match word.parse::<Number>() {
                Ok(number) => Ok(Value::Number(number)),
                Err(_) => Err("is not a number".to_owned()),
            },
            Typed::Boolean => match word {
                "true" | "yes" => Ok(true.into()),
                "false" | "no" => Ok(false.into()),
                _ => Err("is neither `true` nor `false`".to_owned()),
            },
            Typed::List(item) => item.read(word),
            Typed::Json => {
                let read = input::json("values", word);
                read.map_err(|failure| format!("can't be read: {}", failure.message()))
            }
            Typed::Any => Ok(serde_json::from_str(word).unwrap_or_else(|_| word.into())),
        }
    }

    /// Returns the placeholder for the value in help texts.
    pub fn value_name(&self) -> &'static str {
        match self {
            Typed::Text => "TEXT",
            Typed::Choice(_) => "CHOICE",
            Typed::Number => "NUMBER",
            Typed::Boolean => "BOOL",
            Typed::List(item) => item.value_name(),
            Typed::Json => "JSON",
            Typed::Any => "VALUE",
        }
    }
}

/// The types that a schema allows, as far as it says.
#[derive(Default)]
struct Types<'a> {
    text: bool,
    number: bool,
    boolean: bool,
    /// A list, with the schema of its items.
    list: Option<Option<&'a Value>>,
    object: bool,
    /// Any other type.
    any: bool,
    /// The texts that the schema lists.
    choices: Vec<String>,
}

impl<'a> Reader<'a> {
    /// Returns how to parse a param of this schema from a word.
    pub(super) fn typed(&self, schema: &'a Value, depth: usize) -> Typed {
        let mut types = Types::default();
        self.types(schema, depth, &mut types);
        if let (Some(items), false) = (types.list, types.object || types.any) {
            return Typed::List(Box::new(match items {
                Some(items) if depth > 0 => self.typed(items, depth - 1),
                _ => Typed::Any,
            }));
        }
        match types {
            Types { any: true, .. } => Typed::Any,
            Types {
                object: true, text, ..
            } if text => Typed::Any,
            Types { object: true, .. } => Typed::Json,
            Types {
                text: true,
                number: false,
                boolean: false,
                choices,
                ..
            } => {
                if choices.is_empty() {
                    Typed::Text
                } else {
                    Typed::Choice(choices)
                }
            }
            Types {
                text: false,
                number: true,
                boolean: false,
                ..
            } => Typed::Number,
            Types {
                text: false,
                number: false,
                boolean: true,
                ..
            } => Typed::Boolean,
            _ => Typed::Any,
        }
    }

    fn types(&self, schema: &'a Value, depth: usize, types: &mut Types<'a>) {
        let schema = self.follow(schema);
        if let Some(value) = schema.get("const") {
            return types.take_value(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values.iter().for_each(|value| types.take_value(value));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                match depth {
                    0 => types.any = true,
                    _ => choices
                        .iter()
                        .for_each(|it| self.types(it, depth - 1, types)),
                }
                return;
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => types.take_name(name, schema),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                names.for_each(|name| types.take_name(name, schema));
            }
            _ => types.any = true,
        }
    }
}

impl<'a> Types<'a> {
    fn take_name(&mut self, name: &str, schema: &'a Value) {
        match name {
            "string" => self.text = true,
            "integer" | "number" => self.number = true,
            "boolean" => self.boolean = true,
            "array" => self.list = Some(schema.get("items")),
            "object" => self.object = true,
            // To pass null, leave the param out.
            "null" => {}
            _ => self.any = true,
        }
    }

    fn take_value(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                self.text = true;
                self.choices.push(text.clone());
            }
            Value::Number(_) => self.number = true,
            Value::Bool(_) => self.boolean = true,
            Value::Null => {}
            Value::Array(_) | Value::Object(_) => self.any = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_param_is_read_by_the_types_that_its_schema_takes() {
        let check = |schema: Value, expected: Typed| {
            let reader = Reader { root: &schema };
            assert_eq!(reader.typed(&schema, 4), expected, "{schema}");
        };
        let list = |item| Typed::List(Box::new(item));
        check(json!({"type": "string"}), Typed::Text);
        check(json!({"type": ["string", "null"]}), Typed::Text);
        check(json!({"type": "integer"}), Typed::Number);
        check(json!({"type": "boolean"}), Typed::Boolean);
        check(json!({"type": "object"}), Typed::Json);
        check(json!({"type": ["string", "integer"]}), Typed::Any);
        check(json!({}), Typed::Any);
        check(json!(true), Typed::Any);
        check(
            json!({"enum": ["a", "b"]}),
            Typed::Choice(vec!["a".into(), "b".into()]),
        );
        check(json!({"enum": ["a", 2]}), Typed::Any);
        check(json!({"const": 2}), Typed::Number);
        check(json!({"type": "array"}), list(Typed::Any));
        check(
            json!({"type": "array", "items": {"type": "string"}}),
            list(Typed::Text),
        );
        check(
            json!({"type": "array", "items": {"type": "object"}}),
            list(Typed::Json),
        );
        check(
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
            list(Typed::Text),
        );
        check(
            json!({"oneOf": [{"type": "number"}, {"type": "null"}]}),
            Typed::Number,
        );
        check(json!({"$ref": "#"}), Typed::Any);
        check(json!({"anyOf": [{"$ref": "#"}]}), Typed::Any);
    }

    #[test]
    fn a_word_is_a_value_of_its_type_or_named_as_none() {
        let check = |typed: Typed, word: &str, expected: Option<Value>| {
            assert_eq!(typed.read(word).ok(), expected, "{typed:?} {word:?}");
        };
        check(Typed::Text, "12", Some(json!("12")));
        check(Typed::Number, "12", Some(json!(12)));
        check(Typed::Number, "-1.5", Some(json!(-1.5)));
        check(Typed::Number, "twelve", None);
        check(Typed::Number, "\"12\"", None);
        check(Typed::Boolean, "true", Some(json!(true)));
        check(Typed::Boolean, "1", None);
        check(Typed::Json, "{\"a\": 1}", Some(json!({"a": 1})));
        check(Typed::Json, "{oops", None);
        check(Typed::Any, "[1]", Some(json!([1])));
        check(Typed::Any, "main", Some(json!("main")));
        check(Typed::List(Box::new(Typed::Number)), "3", Some(json!(3)));
    }
}
