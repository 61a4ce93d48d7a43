//! Values in JSON files, also with comments and trailing commas.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use crate::params::{Op, ValueOperation};
use crate::values::{Steps, index, no_key, pointer};

/// Makes the operations in a text.
///
/// # Errors
/// Returns a message for the caller.
pub(crate) fn edit(text: &str, operations: &[(Steps, &ValueOperation)]) -> Result<String, String> {
    let parsed = CstRootNode::parse(text, &ParseOptions::default());
    let root = parsed.map_err(|error| format!("The file is not valid JSON: {error}"))?;
    for (steps, operation) in operations {
        change(&root, steps, operation)?;
    }
    Ok(root.to_string())
}

fn change(root: &CstRootNode, steps: &Steps, operation: &ValueOperation) -> Result<(), String> {
    let op = operation.op;
    let value = match (&operation.value, op) {
        (_, Op::Remove) => CstInputValue::Null,
        (Some(value), _) => input(value),
        (None, _) => return Err(format!("`value` is missing for `{}`.", operation.path)),
    };
    let Some((last, parents)) = steps.split_last() else {
        if op == Op::Remove {
            return Err("The whole value can't be removed.".to_owned());
        }
        root.set_value(value);
        return Ok(());
    };
    let mut node = root.value().ok_or("The file has no value.")?;
    for depth in 0..parents.len() {
        node = child(&node, &steps[..=depth])?;
    }
    if let Some(object) = node.as_object() {
        in_object(&object, last, steps, op, value)
    } else if let Some(array) = node.as_array() {
        in_array(&array, steps, op, value)
    } else {
        Err(format!(
            "`{}` is neither an object nor an array.",
            pointer(parents)
        ))
    }
}

fn in_object(
    object: &CstObject,
    key: &str,
    steps: &Steps,
    op: Op,
    value: CstInputValue,
) -> Result<(), String> {
    // Which of them counts depends on the program that reads the file.
    if keys(object).filter(|it| it == key).count() > 1 {
        return Err(format!("`{}` is there more than once.", pointer(steps)));
    }
    match (object.get(key), op) {
        (Some(property), Op::Remove) => property.remove(),
        (Some(property), _) => property.set_value(value),
        (None, Op::Add) => {
            object.append(key, value);
        }
        (None, _) => return Err(no_key(steps, keys(object))),
    }
    Ok(())
}

fn in_array(array: &CstArray, steps: &Steps, op: Op, value: CstInputValue) -> Result<(), String> {
    let elements = array.elements();
    let at = index(steps, elements.len(), op)?;
    if op == Op::Add {
        array.insert(at, value);
        return Ok(());
    }
    let element = elements.into_iter().nth(at);
    let element = element.ok_or_else(|| format!("There is no `{}`.", pointer(steps)))?;
    if op != Op::Remove {
        replace(&element, value);
        return Ok(());
    }
    // The crate leaves the space after the comma.
    let space = || array.child_at_index(1).and_then(|it| it.as_whitespace());
    let had_space = space().is_some();
    element.remove();
    if at == 0
        && !had_space
        && let Some(space) = space()
    {
        space.remove();
    }
    Ok(())
}

/// Replaces a value and leaves what is around it.
fn replace(node: &CstNode, value: CstInputValue) {
    if let Some(node) = node.as_object() {
        node.replace_with(value);
    } else if let Some(node) = node.as_array() {
        node.replace_with(value);
    } else if let Some(node) = node.as_string_lit() {
        node.replace_with(value);
    } else if let Some(node) = node.as_number_lit() {
        node.replace_with(value);
    } else if let Some(node) = node.as_boolean_lit() {
        node.replace_with(value);
    } else if let Some(node) = node.as_null_keyword() {
        node.replace_with(value);
    }
}

/// Returns the value to which the last of the steps leads.
fn child(node: &CstNode, steps: &[String]) -> Result<CstNode, String> {
    let last = steps.last().map_or("", String::as_str);
    if let Some(object) = node.as_object() {
        let value = object.get(last).and_then(|it| it.value());
        return value.ok_or_else(|| no_key(steps, keys(&object)));
    }
    let Some(array) = node.as_array() else {
        return Err(format!("There is no `{}`.", pointer(steps)));
    };
    let mut elements = array.elements();
    let at = index(steps, elements.len(), Op::Replace)?;
    Ok(elements.swap_remove(at))
}

fn keys(object: &CstObject) -> impl Iterator<Item = String> {
    object
        .properties()
        .into_iter()
        .filter_map(|it| it.decoded_name())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => {
            let values = values
                .iter()
                .map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(values.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::Text;
    use crate::values::edit;

    fn edited(text: &str, operations: serde_json::Value) -> Result<String, String> {
        let operations: Vec<_> = serde_json::from_value(operations).unwrap();
        let mut text = Text::decode(text.into()).unwrap();
        edit(&mut text, "a.json", &operations).map(|_| text.encode())
    }

    const FILE: &str = "{\r\n  // the name\r\n  \"name\": \"a\", // kept\r\n  \"n\": [1, 2],\r\n  \"o\": { \"x/y\": 1.50 },\r\n}\r\n";

    #[test]
    fn a_value_changes_and_everything_else_stays() {
        let check = |operation, old: &str, new: &str| {
            let result = edited(FILE, serde_json::json!([operation]));
            assert_eq!(result.unwrap(), FILE.replacen(old, new, 1));
        };
        use serde_json::json;
        check(
            json!({ "op": "replace", "path": "/name", "value": "b" }),
            "\"a\"",
            "\"b\"",
        );
        check(
            json!({ "op": "add", "path": "/n/-", "value": 3 }),
            "[1, 2]",
            "[1, 2, 3]",
        );
        check(
            json!({ "op": "add", "path": "/n/0", "value": 0 }),
            "[1, 2]",
            "[0, 1, 2]",
        );
        check(
            json!({ "op": "replace", "path": "/n/1", "value": null }),
            "[1, 2]",
            "[1, null]",
        );
        check(json!({ "op": "remove", "path": "/n/0" }), "[1, 2]", "[2]");
        check(
            json!({ "op": "replace", "path": "/o/x~1y", "value": true }),
            "1.50",
            "true",
        );
        check(
            json!({ "op": "remove", "path": "/n" }),
            "  \"n\": [1, 2],\r\n",
            "",
        );
        let add = json!({ "op": "add", "path": "/new", "value": { "z": 1, "a": "$&" } });
        let new = "1.50 },\r\n  \"new\": {\r\n    \"z\": 1,\r\n    \"a\": \"$&\",\r\n  },\r\n";
        check(add, "1.50 },\r\n", new);
    }

    #[test]
    fn an_operation_without_a_place_is_refused_with_advice() {
        let check = |operation, expected: &str| {
            let refused = edited(FILE, serde_json::json!([operation])).unwrap_err();
            assert_eq!(refused, format!("`a.json`: {expected}"));
        };
        use serde_json::json;
        check(
            json!({ "op": "replace", "path": "/nam", "value": 1 }),
            "There is no `/nam`; the keys there are `name`, `n`, `o`.",
        );
        check(
            json!({ "op": "remove", "path": "/n/2" }),
            "`/n/2` is no place in the array, which has 2 values.",
        );
        check(
            json!({ "op": "add", "path": "/name/x", "value": 1 }),
            "`/name` is neither an object nor an array.",
        );
        check(
            json!({ "op": "add", "path": "/p/q", "value": 1 }),
            "There is no `/p`; the keys there are `name`, `n`, `o`.",
        );
        let twice = edited(
            "{\"a\": 1, \"a\": 2}",
            json!([{ "op": "remove", "path": "/a" }]),
        );
        assert_eq!(
            twice.unwrap_err(),
            "`a.json`: `/a` is there more than once."
        );
        let dots = edited(FILE, json!([{ "op": "remove", "path": "o.x" }])).unwrap_err();
        assert_eq!(
            dots,
            "The pointer `o.x` doesn't begin with a slash; write `/o/x`."
        );
        assert!(
            edited("{", json!([]))
                .unwrap_err()
                .contains("not valid JSON")
        );
    }
}
