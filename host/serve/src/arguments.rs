//! Arguments of calls, as clients and models send them.
//!
//! | sent | by | read as |
//! | --- | --- | --- |
//! | `2.0` for an integer | clients whose numbers are floats | `2` |
//! | `"[\"*.txt\"]"` for an array, `"{}"` for an object | Claude Code | the value in the text |
//! | `"2"` for a number, `"true"` for a boolean | smaller models | `2`, `true` |
//! | `null` for an optional param that can't be null | clients that send every param | left out |
//! | `""` for an optional param that can't be empty | models that fill forms | left out |
//!
//! A value is changed only if the schema of its param rules it out, and only into the one value
//! that it can stand for. The host then validates the result against the schema as usual.

use airlock_host::json::Json;
use airlock_host::tool::RESOLVE;
use serde_json::{Map, Value};

/// The most references and alternatives that are followed from a param to its types.
const FOLLOWED: usize = 8;

/// The largest integer that a 64-bit float can't confuse with its neighbour.
const EXACT: f64 = 9_007_199_254_740_991.0;

/// Returns the arguments of a call of this tool, converted to fit the schema of its params.
pub fn fitted(tool: &str, schema: &Json, mut arguments: Map<String, Value>) -> Map<String, Value> {
    let is_settled = arguments.values().all(|it| it.is_boolean() || it.is_u64());
    if is_settled {
        return arguments;
    }
    if tool == RESOLVE {
        // No action has an empty id. The caller means the topmost action, as without an id.
        let is_blank = |id: &Value| id.as_str().is_some_and(|it| it.trim().is_empty());
        if arguments.get("id").is_some_and(is_blank) {
            arguments.remove("id");
        }
    }
    let schema = schema.value();
    let root = Root(&schema);
    root.fit_object(&schema, &mut arguments, 0);
    arguments
}

/// The whole schema, used to look up references.
struct Root<'a>(&'a Value);

/// The kinds of value that a param can have.
#[derive(Default)]
struct Kinds<'a> {
    names: Vec<&'a str>,
    /// True if one of the schemas has no type, so that the value may be anything.
    is_open: bool,
    shortest_text: u64,
    /// The schemas that describe the contents of arrays and objects.
    schemas: Vec<&'a Value>,
}

impl Kinds<'_> {
    fn may_be(&self, name: &str) -> bool {
        self.is_open || self.names.contains(&name)
    }
}

impl<'a> Root<'a> {
    /// Converts an object to fit its schema. Recurses as deep as the arguments are nested, which
    /// the transport limits.
    fn fit_object(&self, schema: &'a Value, object: &mut Map<String, Value>, depth: usize) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return;
        };
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|it| it.iter().any(|required| required == name));
        object.retain(|name, value| {
            let Some(schema) = properties.get(name) else {
                return true;
            };
            let kinds = self.kinds(schema);
            if !is_required(name) && stands_for_nothing(value, &kinds) {
                return false;
            }
            self.fit(&kinds, value, depth);
            true
        });
    }

    fn fit(&self, kinds: &Kinds<'a>, value: &mut Value, depth: usize) {
        if depth > airlock_host::json::MAX_JSON_DEPTH {
            return;
        }
        if let Some(meant) = coerced(value, kinds) {
            *value = meant;
        }
        // With several alternatives, it is unclear which one the members belong to.
        let [schema] = *kinds.schemas else {
            return;
        };
        match value {
            Value::Object(object) => self.fit_object(schema, object, depth + 1),
            Value::Array(items) => {
                let Some(of_items) = schema.get("items").filter(|it| it.is_object()) else {
                    return;
                };
                let kinds = self.kinds(of_items);
                for item in items {
                    self.fit(&kinds, item, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn kinds(&self, schema: &'a Value) -> Kinds<'a> {
        let mut kinds = Kinds::default();
        self.add_kinds(schema, &mut kinds, FOLLOWED);
        kinds
    }

    fn add_kinds(&self, schema: &'a Value, kinds: &mut Kinds<'a>, left: usize) {
        let followed = match schema.get("$ref").and_then(Value::as_str) {
            Some(to) => to.strip_prefix('#').and_then(|it| self.0.pointer(it)),
            None => None,
        };
        if let (Some(found), true) = (followed, left > 0) {
            return self.add_kinds(found, kinds, left - 1);
        }
        let alternatives = ["anyOf", "oneOf"]
            .iter()
            .find_map(|it| schema.get(it)?.as_array());
        match (schema.get("type"), alternatives) {
            (Some(Value::String(name)), _) => kinds.names.push(name),
            (Some(Value::Array(names)), _) => {
                kinds.names.extend(names.iter().filter_map(Value::as_str));
            }
            (None, Some(alternatives)) if left > 0 => {
                for one in alternatives {
                    self.add_kinds(one, kinds, left - 1);
                }
                return;
            }
            _ => kinds.is_open = true,
        }
        let shortest = schema.get("minLength").and_then(Value::as_u64);
        kinds.shortest_text = kinds.shortest_text.max(shortest.unwrap_or_default());
        if schema.get("type").is_some_and(|it| it != "null") {
            kinds.schemas.push(schema);
        }
    }
}

/// Returns whether a value only says that the client has no value for an optional param.
fn stands_for_nothing(value: &Value, kinds: &Kinds<'_>) -> bool {
    match value {
        Value::Null => !kinds.may_be("null"),
        Value::String(text) if text.is_empty() => {
            !kinds.may_be("string") || (!kinds.is_open && kinds.shortest_text > 0)
        }
        _ => false,
    }
}

/// Returns the value that is meant by one that the schema rules out.
fn coerced(value: &Value, kinds: &Kinds<'_>) -> Option<Value> {
    match value {
        Value::Number(number) if !kinds.may_be("number") && kinds.may_be("integer") => {
            whole(number.as_f64().filter(|_| number.is_f64())?)
        }
        Value::String(text) if !kinds.may_be("string") => {
            let (_, read) = Json::read(text).ok()?;
            let kind = match &read {
                Value::Array(_) => "array",
                Value::Object(_) => "object",
                Value::Bool(_) => "boolean",
                Value::Number(number) if kinds.may_be("integer") && !kinds.may_be("number") => {
                    return if number.is_f64() {
                        whole(number.as_f64()?)
                    } else {
                        Some(read)
                    };
                }
                Value::Number(_) => "number",
                Value::Null => "null",
                Value::String(_) => return None,
            };
            kinds.may_be(kind).then_some(read)
        }
        _ => None,
    }
}

fn whole(number: f64) -> Option<Value> {
    let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is whole, and small enough"
    )]
    is_whole.then(|| Value::from(number as i64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks a param by its schema, the value that is sent and the value that is read (`None` if
    /// left out).
    #[track_caller]
    fn check(schema: Value, required: bool, sent: Value, expected: Option<Value>) {
        let required = if required { json!(["p"]) } else { json!([]) };
        let whole = json!({
            "type": "object",
            "properties": {"p": schema},
            "required": required,
            "$defs": {"limit": {"type": "integer"}, "ever": {"$ref": "#/$defs/ever"}}
        });
        let Value::Object(arguments) = json!({"p": sent}) else {
            unreachable!()
        };
        let fitted = fitted("tool", &Json::of(&whole).unwrap(), arguments);
        assert_eq!(fitted.get("p"), expected.as_ref(), "{schema} {sent}");
        if let (Some(Value::Number(got)), Some(Value::Number(expected))) =
            (fitted.get("p"), &expected)
        {
            assert_eq!(got.is_f64(), expected.is_f64());
        }
    }

    #[test]
    fn a_float_for_an_integer_is_one_if_it_is_whole() {
        let integer = || json!({"type": "integer"});
        for (schema, sent, expected) in [
            (integer(), json!(2.0), json!(2)),
            (integer(), json!(-0.0), json!(0)),
            (integer(), json!(2.5), json!(2.5)),
            (integer(), json!(1e300), json!(1e300)),
            (json!({"type": ["integer", "null"]}), json!(2.0), json!(2)),
            (json!({"$ref": "#/$defs/limit"}), json!(2.0), json!(2)),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                json!(2.0),
                json!(2),
            ),
            (json!({"type": "number"}), json!(2.0), json!(2.0)),
            (
                json!({"type": ["integer", "number"]}),
                json!(2.0),
                json!(2.0),
            ),
            (json!({}), json!(2.0), json!(2.0)),
        ] {
            check(schema, true, sent, Some(expected));
        }
    }

    #[test]
    fn json_text_is_the_value_that_it_is_unless_text_may_be_meant() {
        let texts = || json!({"type": "array", "items": {"type": "string"}});
        for (schema, sent, expected) in [
            (texts(), json!("[\"*.txt\"]"), json!(["*.txt"])),
            (texts(), json!("*.txt"), json!("*.txt")),
            (texts(), json!("{\"a\": 1}"), json!("{\"a\": 1}")),
            (
                json!({"type": "object"}),
                json!("{\"a\": 1}"),
                json!({"a": 1}),
            ),
            // Two parsers could read different values.
            (
                json!({"type": "object"}),
                json!("{\"a\":1,\"a\":2}"),
                json!("{\"a\":1,\"a\":2}"),
            ),
            (json!({"type": "integer"}), json!("2"), json!(2)),
            (json!({"type": "integer"}), json!("2.0"), json!(2)),
            (json!({"type": "number"}), json!("2.5"), json!(2.5)),
            (json!({"type": "boolean"}), json!("true"), json!(true)),
            (json!({"type": "boolean"}), json!("yes"), json!("yes")),
            (json!({"type": "string"}), json!("[1]"), json!("[1]")),
            (
                json!({"type": ["string", "array"]}),
                json!("[1]"),
                json!("[1]"),
            ),
            (json!({"enum": ["[1]"]}), json!("[1]"), json!("[1]")),
            (json!({"$ref": "#/$defs/ever"}), json!("[1]"), json!("[1]")),
        ] {
            check(schema, true, sent, Some(expected));
        }
    }

    #[test]
    fn null_is_left_out_where_a_param_is_optional_and_null_is_nothing_of_its() {
        let text = || json!({"type": "string"});
        check(text(), false, Value::Null, None);
        check(json!({"type": "array"}), false, Value::Null, None);
        check(text(), true, Value::Null, Some(Value::Null));
        check(
            json!({"type": ["string", "null"]}),
            false,
            Value::Null,
            Some(Value::Null),
        );
        check(json!({}), false, Value::Null, Some(Value::Null));
    }

    #[test]
    fn an_empty_text_is_left_out_where_it_can_be_no_value() {
        check(json!({"type": "integer"}), false, json!(""), None);
        check(json!({"type": "object"}), false, json!(""), None);
        check(
            json!({"type": "string", "minLength": 1}),
            false,
            json!(""),
            None,
        );
        check(json!({"type": "string"}), false, json!(""), Some(json!("")));
        check(json!({"type": "integer"}), true, json!(""), Some(json!("")));
    }

    #[test]
    fn what_arrays_and_objects_hold_is_fitted_too() {
        let schema = json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "to": {"type": "string"}}
            }
        });
        let sent = json!("[{\"n\": 2.0, \"to\": null}]");
        check(schema, true, sent, Some(json!([{"n": 2}])));
        let either = json!({"anyOf": [{"type": "array"}, {"type": "object"}]});
        check(either, true, json!("[2.0]"), Some(json!([2.0])));
    }

    #[test]
    fn a_blank_id_of_resolve_means_the_topmost_action() {
        let schema = airlock_host::tool::resolve_tool().parameters;
        let sent = |id: Value| match json!({"action": "apply", "reason": "", "extra": "", "id": id})
        {
            Value::Object(sent) => sent,
            _ => unreachable!(),
        };
        for id in [json!(""), json!(" "), Value::Null] {
            let fitted = fitted(RESOLVE, &schema, sent(id));
            assert_eq!(
                Value::Object(fitted),
                json!({"action": "apply", "reason": ""})
            );
        }
        let named = fitted(RESOLVE, &schema, sent(json!("a")));
        assert_eq!(named["id"], "a");
    }
}
