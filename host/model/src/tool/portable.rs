//! Schemas in the subset of JSON Schema that MCP clients and model providers accept.
//!
//! | refused | by | sent instead |
//! | --- | --- | --- |
//! | `$schema` | Ajv: it has no such meta-schema | nothing |
//! | `format: "uint32"` and other unknown formats | strict Ajv | the bounds that it implies |
//! | an object without `properties` | Gemini, OpenAI | `properties: {}` |
//! | `oneOf`, `anyOf` or `allOf` at the top | Claude, OpenAI | the properties of all branches |
//! | `true` as a schema | Gemini | `{}` |
//!
//! The host still checks params by the schema that the plugin gave.

use serde_json::{Map, Value, json};

use crate::json::Json;

/// A schema as it is sent to clients.
#[derive(Debug, Clone, PartialEq)]
pub struct Portable {
    /// The schema: an object.
    pub schema: Map<String, Value>,
    /// The rules that it can't express, a clause for each, for the tool's author. Empty
    /// if the schema says all that the original did.
    pub lost: Vec<String>,
}

/// The formats that `ajv-formats` knows, and so the MCP clients that are built on it.
const FORMATS: [&str; 22] = [
    "date",
    "time",
    "date-time",
    "iso-time",
    "iso-date-time",
    "duration",
    "uri",
    "uri-reference",
    "uri-template",
    "url",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "regex",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "byte",
    "int32",
    "float",
    "double",
];

/// The formats of numbers, as generators of schemas name Rust's, Go's and C's types, with the
/// bounds that they stand for.
const NUMBERS: [(&str, Option<i64>, Option<i64>); 11] = [
    ("int8", Some(i8::MIN as i64), Some(i8::MAX as i64)),
    ("int16", Some(i16::MIN as i64), Some(i16::MAX as i64)),
    ("int64", None, None),
    ("int128", None, None),
    ("int", None, None),
    ("uint8", Some(0), Some(u8::MAX as i64)),
    ("uint16", Some(0), Some(u16::MAX as i64)),
    ("uint32", Some(0), Some(u32::MAX as i64)),
    ("uint64", Some(0), None),
    ("uint128", Some(0), None),
    ("uint", Some(0), None),
];

/// Keywords that hold a schema (`ONE`), a list of schemas (`LISTS`), or schemas by name (`NAMED`).
const ONE: [&str; 11] = [
    "items",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// Returns the schema of a tool's params as clients and models accept it.
pub fn params(schema: &Json) -> Portable {
    let mut lost = Vec::new();
    let mut schema = root(schema, &mut lost);
    flatten(&mut schema, &mut lost);
    schema.entry("type").or_insert_with(|| "object".into());
    complete(&mut schema);
    lost.dedup();
    Portable { schema, lost }
}

fn root(schema: &Json, lost: &mut Vec<String>) -> Map<String, Value> {
    match schema.value() {
        Value::Object(mut schema) => {
            walk(&mut schema, lost);
            schema
        }
        _ => Map::new(),
    }
}

/// Rewrites a schema and all schemas in it, recursively. [`Json`] bounds the depth.
fn walk(schema: &mut Map<String, Value>, lost: &mut Vec<String>) {
    schema.remove("$schema");
    rewrite_format(schema, lost);
    for key in ONE {
        match schema.get_mut(key) {
            Some(Value::Object(inner)) => walk(inner, lost),
            // `true` is common for `additional...` and `unevaluated...`, and stays.
            Some(Value::Bool(true))
                if !key.starts_with("additional") && !key.starts_with("uneval") =>
            {
                schema.insert(key.to_owned(), json!({}));
            }
            _ => {}
        }
    }
    for key in LISTS {
        let list = schema.get_mut(key).and_then(Value::as_array_mut);
        list.into_iter().flatten().for_each(|it| rewrite(it, lost));
    }
    for key in NAMED {
        let named = schema.get_mut(key).and_then(Value::as_object_mut);
        let schemas = named.into_iter().flat_map(Map::values_mut);
        schemas.for_each(|it| rewrite(it, lost));
    }
    complete(schema);
}

fn rewrite(schema: &mut Value, lost: &mut Vec<String>) {
    match schema {
        Value::Object(schema) => walk(schema, lost),
        Value::Bool(true) => *schema = json!({}),
        _ => {}
    }
}

/// Gives an object its `properties`.
fn complete(schema: &mut Map<String, Value>) {
    let is_object = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|it| it == "object"),
        _ => false,
    };
    if is_object {
        schema.entry("properties").or_insert_with(|| json!({}));
    }
}

fn rewrite_format(schema: &mut Map<String, Value>, lost: &mut Vec<String>) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else {
        return;
    };
    if FORMATS.contains(&format) {
        return;
    }
    match NUMBERS.iter().find(|(name, ..)| *name == format) {
        Some((_, least, most)) => {
            for (key, bound) in [("minimum", least), ("maximum", most)] {
                if let Some(bound) = bound {
                    schema.entry(key).or_insert_with(|| (*bound).into());
                }
            }
        }
        None => {
            let format: String = format.chars().take(40).collect();
            lost.push(format!("the format {format:?}, which clients don't know"));
        }
    }
    schema.remove("format");
}

/// Replaces alternatives at the top with the properties of all of them.
fn flatten(schema: &mut Map<String, Value>, lost: &mut Vec<String>) {
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.remove(key) else {
            continue;
        };
        let branches: Vec<_> = branches.iter().map(|it| resolved(schema, it)).collect();
        let is_all = key == "allOf";
        if !is_all || branches.iter().any(|it| !is_plain(it)) {
            lost.push(format!(
                "`{key}` at the top of the params: clients get the properties of all its branches"
            ));
        }
        let required = required_by(&branches, is_all);
        for branch in branches {
            merge(schema, branch, is_all);
        }
        if !required.is_empty() {
            let list = schema.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(list) = list {
                let new: Vec<_> = required
                    .into_iter()
                    .filter(|it| !list.contains(it))
                    .collect();
                list.extend(new);
            }
        }
    }
    for key in ["not", "enum"] {
        if schema.remove(key).is_some() {
            lost.push(format!("`{key}` at the top of the params"));
        }
    }
}

/// Returns true if merging the properties of this branch of `allOf` loses nothing.
fn is_plain(branch: &Map<String, Value>) -> bool {
    let merged = ["type", "properties", "required", "title", "description"];
    branch.keys().all(|key| merged.contains(&key.as_str()))
}

/// Returns the branch, or the definition that it refers to.
fn resolved(root: &Map<String, Value>, branch: &Value) -> Map<String, Value> {
    let refers = branch.get("$ref").and_then(Value::as_str);
    let found = refers.and_then(|it| {
        let (place, name) = it.strip_prefix("#/")?.split_once('/')?;
        root.get(place)?.get(name)
    });
    let found = found.unwrap_or(branch);
    found.as_object().cloned().unwrap_or_default()
}

/// Returns the properties that every call must have: those that any branch of `allOf` requires, or
/// those that all branches of `anyOf` or `oneOf` require.
fn required_by(branches: &[Map<String, Value>], is_all: bool) -> Vec<Value> {
    let required = |it: &Map<String, Value>| -> Vec<Value> {
        it.get("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let mut each = branches.iter().map(required);
    let first = each.next().unwrap_or_default();
    each.fold(first, |mut kept, next| {
        if is_all {
            kept.extend(next)
        } else {
            kept.retain(|it| next.contains(it))
        }
        kept
    })
}

/// Adds the properties of a branch. If several branches have a property, it may be any of theirs;
/// for `allOf`, the first one stays.
fn merge(schema: &mut Map<String, Value>, branch: Map<String, Value>, is_all: bool) {
    let Some(Value::Object(properties)) = branch
        .into_iter()
        .find_map(|(key, value)| (key == "properties").then_some(value))
    else {
        return;
    };
    let merged = schema.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(merged) = merged else {
        return;
    };
    for (name, new) in properties {
        match merged.get_mut(&name) {
            None => {
                merged.insert(name, new);
            }
            Some(old) if *old == new || is_all => {}
            Some(old) => *old = either(old.take(), new),
        }
    }
}

fn either(old: Value, new: Value) -> Value {
    if let (Some(mut values), Some(more)) = (values(&old), values(&new)) {
        let more: Vec<_> = more.into_iter().filter(|it| !values.contains(it)).collect();
        values.extend(more);
        let mut either = json!({"enum": values});
        if let Some(kind) = old.get("type").filter(|it| new.get("type") == Some(it)) {
            either["type"] = kind.clone();
        } else if values.iter().all(Value::is_string) {
            either["type"] = "string".into();
        }
        return either;
    }
    match old {
        Value::Object(mut old) if old.len() == 1 && old.contains_key("anyOf") => {
            if let Some(Value::Array(any)) = old.get_mut("anyOf")
                && !any.contains(&new)
            {
                any.push(new);
            }
            Value::Object(old)
        }
        old => json!({"anyOf": [old, new]}),
    }
}

/// Returns the values of a property that lists them with `const` or `enum`.
fn values(schema: &Value) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: &Value) -> Json {
        Json::of(value).unwrap()
    }

    #[track_caller]
    fn check(schema: Value, expected: Value, lost: usize) {
        let portable = params(&json(&schema));
        assert_eq!(Value::Object(portable.schema), expected);
        assert_eq!(portable.lost.len(), lost, "{:?}", portable.lost);
    }

    #[test]
    fn formats_of_numbers_become_bounds_and_unknown_ones_are_left_out() {
        check(
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "start": {"type": "integer", "format": "uint32", "minimum": 1},
                    "small": {"type": ["integer", "null"], "format": "int8"},
                    "when": {"type": "string", "format": "date-time"},
                    "color": {"type": "string", "format": "color"},
                    "list": {"type": "array", "items": {"type": "integer", "format": "uint"}}
                }
            }),
            json!({
                "type": "object",
                "properties": {
                    "start": {"type": "integer", "minimum": 1, "maximum": u32::MAX},
                    "small": {"type": ["integer", "null"], "minimum": -128, "maximum": 127},
                    "when": {"type": "string", "format": "date-time"},
                    "color": {"type": "string"},
                    "list": {"type": "array", "items": {"type": "integer", "minimum": 0}}
                }
            }),
            1,
        );
    }

    #[test]
    fn a_param_that_is_named_like_a_keyword_stays() {
        let schema = json!({
            "type": "object",
            "properties": {
                "format": {"type": "string", "default": {"format": "uint32", "$schema": "a"}},
                "$schema": {"type": "string"},
                "oneOf": {"type": "string", "enum": ["format", "uint32"]}
            }
        });
        check(schema.clone(), schema, 0);
    }

    #[test]
    fn every_object_has_properties_and_true_is_an_empty_schema() {
        check(
            json!({
                "type": "object",
                "properties": {"extra": {"type": "object"}, "any": true},
                "$defs": {"open": {"type": ["object", "null"], "additionalProperties": true}}
            }),
            json!({
                "type": "object",
                "properties": {"extra": {"type": "object", "properties": {}}, "any": {}},
                "$defs": {
                    "open": {"type": ["object", "null"], "additionalProperties": true, "properties": {}}
                }
            }),
            0,
        );
        check(
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}}),
            0,
        );
    }

    #[test]
    fn alternatives_at_the_top_become_the_properties_of_all() {
        check(
            json!({
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
                "oneOf": [
                    {
                        "properties": {"kind": {"const": "add"}, "text": {"type": "string"}},
                        "required": ["kind", "text"]
                    },
                    {"$ref": "#/$defs/remove"}
                ],
                "$defs": {
                    "remove": {
                        "properties": {"kind": {"const": "remove"}, "text": {"type": "integer"}},
                        "required": ["kind"]
                    }
                }
            }),
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "kind": {"enum": ["add", "remove"], "type": "string"},
                    "text": {"anyOf": [{"type": "string"}, {"type": "integer"}]}
                },
                "required": ["path", "kind"],
                "$defs": {
                    "remove": {
                        "properties": {"kind": {"const": "remove"}, "text": {"type": "integer"}},
                        "required": ["kind"]
                    }
                }
            }),
            1,
        );
        // Of `allOf`, which only adds, nothing is lost.
        check(
            json!({
                "type": "object",
                "allOf": [
                    {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "string"}}, "required": ["b"]}
                ]
            }),
            json!({
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "required": ["a", "b"]
            }),
            0,
        );
    }

    #[test]
    fn odd_schemas_are_survived() {
        for odd in [
            json!({"type": "object", "oneOf": 3, "properties": [], "required": "a"}),
            json!({"type": "object", "oneOf": [true, {"$ref": "#/$defs/a"}], "properties": 1}),
            json!({"type": "object", "anyOf": [{"properties": {"a": 1}, "required": ["a"]}], "required": 3}),
            json!(true),
        ] {
            let portable = params(&json(&odd));
            assert!(portable.schema.contains_key("properties"), "{portable:?}");
        }
    }
}
