//! Values in TOML files.

use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, Datetime, DocumentMut, InlineTable, Item, TableLike, Value};

use crate::params::{Op, ValueOperation};
use crate::values::{Steps, index, no_key, pointer};

/// Makes the operations in a text.
///
/// # Errors
/// Returns a message for the caller.
pub(crate) fn edit(text: &str, operations: &[(Steps, &ValueOperation)]) -> Result<String, String> {
    let parsed = text.parse::<DocumentMut>();
    let mut document = parsed.map_err(|error| format!("The file is not valid TOML: {error}"))?;
    for (steps, operation) in operations {
        let Some((last, parents)) = steps.split_last() else {
            return Err("The whole file can't be changed by value: use `write_file`.".to_owned());
        };
        let mut parent = document.as_item_mut();
        for depth in 0..parents.len() {
            parent = child(parent, &steps[..=depth])?;
        }
        let new = || match &operation.value {
            Some(json) => value(json),
            None => Err(format!("`value` is missing for `{}`.", operation.path)),
        };
        match parent {
            Item::ArrayOfTables(tables) => in_tables(tables, steps, operation.op, new)?,
            Item::Value(Value::Array(array)) => in_array(array, steps, operation.op, new)?,
            parent => match parent.as_table_like_mut() {
                Some(table) => in_table(table, last, steps, operation.op, new)?,
                None => {
                    return Err(format!(
                        "`{}` is neither a table nor an array.",
                        pointer(parents)
                    ));
                }
            },
        }
    }
    Ok(document.to_string())
}

/// Returns the item to which the last of the steps leads.
fn child<'a>(item: &'a mut Item, steps: &[String]) -> Result<&'a mut Item, String> {
    let last = steps.last().map_or("", String::as_str);
    let len = match item {
        Item::ArrayOfTables(tables) => Some(tables.len()),
        Item::Value(Value::Array(array)) => Some(array.len()),
        _ => None,
    };
    if let Some(len) = len {
        let at = index(steps, len, Op::Replace)?;
        return item
            .get_mut(at)
            .ok_or_else(|| format!("There is no `{}`.", pointer(steps)));
    }
    let Some(table) = item.as_table_like() else {
        return Err(format!("There is no `{}`.", pointer(steps)));
    };
    if !table.contains_key(last) {
        return Err(no_key(steps, table.iter().map(|(key, _)| key.to_owned())));
    }
    item.get_mut(last)
        .ok_or_else(|| format!("There is no `{}`.", pointer(steps)))
}

fn in_table(
    table: &mut dyn TableLike,
    key: &str,
    steps: &Steps,
    op: Op,
    new: impl Fn() -> Result<Value, String>,
) -> Result<(), String> {
    if !table.contains_key(key) && op != Op::Add {
        return Err(no_key(steps, table.iter().map(|(key, _)| key.to_owned())));
    }
    if op == Op::Remove {
        table.remove(key);
        return Ok(());
    }
    let new = new()?;
    match table.get_mut(key) {
        Some(old) => replace(old, new),
        // At the top of a file, an object becomes a table with a header.
        None => {
            table.insert(
                key,
                match new {
                    Value::InlineTable(new) if steps.len() == 1 => Item::Table(new.into_table()),
                    new => Item::Value(new),
                },
            );
        }
    }
    Ok(())
}

/// Replaces an item and leaves what is around it.
fn replace(old: &mut Item, new: Value) {
    match (old, new) {
        (Item::Table(old), Value::InlineTable(new)) if !old.is_dotted() => {
            old.clear();
            old.set_implicit(false);
            old.extend(new);
        }
        (Item::Value(old), mut new) => {
            // A time stays one if its new text is one.
            let time = new.as_str().and_then(|text| text.parse::<Datetime>().ok());
            if let Some(time) = time.filter(|_| old.is_datetime()) {
                new = time.into();
            }
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        (old, new) => *old = Item::Value(new),
    }
}

fn in_array(
    array: &mut Array,
    steps: &Steps,
    op: Op,
    new: impl Fn() -> Result<Value, String>,
) -> Result<(), String> {
    let at = index(steps, array.len(), op)?;
    if op == Op::Remove {
        array.remove(at);
        return Ok(());
    }
    let new = new()?;
    if op == Op::Replace {
        array.replace(at, new);
        return Ok(());
    }
    // In an array with a line for each value, the new one gets a line too.
    let prefix = array
        .get(0)
        .and_then(|first| first.decor().prefix()?.as_str());
    let line = prefix.and_then(|prefix| prefix.rfind('\n').map(|at| prefix[at..].to_owned()));
    match line {
        Some(prefix) => array.insert_formatted(at, new.decorated(prefix, "")),
        None => array.insert(at, new),
    }
    Ok(())
}

fn in_tables(
    tables: &mut ArrayOfTables,
    steps: &Steps,
    op: Op,
    new: impl Fn() -> Result<Value, String>,
) -> Result<(), String> {
    let at = index(steps, tables.len(), op)?;
    if op == Op::Remove {
        tables.remove(at);
        return Ok(());
    }
    let Value::InlineTable(table) = new()? else {
        return Err("Only tables can be in this array.".to_owned());
    };
    if op == Op::Replace {
        if let Some(old) = tables.get_mut(at) {
            old.clear();
            old.extend(table);
        }
    } else if at == tables.len() {
        tables.push(table.into_table());
    } else {
        return Err(format!(
            "A table is only added at the end: `{}/-`.",
            pointer(&steps[..steps.len() - 1])
        ));
    }
    Ok(())
}

fn value(json: &Json) -> Result<Value, String> {
    Ok(match json {
        Json::Null => return Err("TOML has no `null`: remove the key instead.".to_owned()),
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) if number.is_f64() => float.into(),
            _ => return Err(format!("TOML has no integer as large as {number}.")),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(values) => {
            let values: Result<Array, String> = values.iter().map(value).collect();
            values?.into()
        }
        Json::Object(values) => {
            let mut table = InlineTable::new();
            for (key, json) in values {
                table.insert(key, value(json)?);
            }
            table.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::text::Text;
    use crate::values::edit;

    fn edited(text: &str, operations: serde_json::Value) -> Result<String, String> {
        let operations: Vec<_> = serde_json::from_value(operations).unwrap();
        let mut text = Text::decode(text.into()).unwrap();
        edit(&mut text, "a.toml", &operations).map(|_| text.encode())
    }

    const FILE: &str = r#"# The package.
[package]
name = "a" # kept
when = 1979-05-27

[dependencies]
serde = { version = "1", features = ["derive"] }

[features]
list = [
    "a", # one
    "b",
]

[[bin]]
name = "x"
"#;

    #[test]
    fn a_value_changes_and_everything_else_stays() {
        let check = |operation, old: &str, new: &str| {
            let result = edited(FILE, serde_json::json!([operation]));
            assert_eq!(result.unwrap(), FILE.replacen(old, new, 1));
        };
        use serde_json::json;
        check(
            json!({ "op": "replace", "path": "/package/name", "value": "b" }),
            "\"a\" #",
            "\"b\" #",
        );
        check(
            json!({ "op": "replace", "path": "/package/when", "value": "2026-01-01" }),
            "1979-05-27",
            "2026-01-01",
        );
        check(
            json!({ "op": "add", "path": "/package/edition", "value": "2024" }),
            "27\n",
            "27\nedition = \"2024\"\n",
        );
        check(
            json!({ "op": "replace", "path": "/dependencies/serde/version", "value": "2" }),
            "\"1\"",
            "\"2\"",
        );
        check(
            json!({ "op": "add", "path": "/dependencies/toml", "value": { "version": "1", "optional": true } }),
            "] }\n",
            "] }\ntoml = { version = \"1\", optional = true }\n",
        );
        check(
            json!({ "op": "add", "path": "/features/list/-", "value": "c" }),
            "\"b\",\n",
            "\"b\",\n    \"c\",\n",
        );
        check(
            json!({ "op": "remove", "path": "/package/when" }),
            "when = 1979-05-27\n",
            "",
        );
        check(
            json!({ "op": "replace", "path": "/bin/0/name", "value": "y" }),
            "\"x\"",
            "\"y\"",
        );
        check(
            json!({ "op": "add", "path": "/bin/-", "value": { "name": "z" } }),
            "\"x\"\n",
            "\"x\"\n\n[[bin]]\nname = \"z\"\n",
        );
        check(
            json!({ "op": "add", "path": "/lints", "value": { "workspace": true } }),
            "\"x\"\n",
            "\"x\"\n\n[lints]\nworkspace = true\n",
        );
        check(
            json!({ "op": "replace", "path": "/features", "value": { "a": [] } }),
            "list = [\n    \"a\", # one\n    \"b\",\n]",
            "a = []",
        );
    }

    #[test]
    fn an_operation_without_a_place_is_refused_with_advice() {
        let check = |operation, expected: &str| {
            let refused = edited(FILE, serde_json::json!([operation])).unwrap_err();
            assert_eq!(refused, format!("`a.toml`: {expected}"));
        };
        use serde_json::json;
        check(
            json!({ "op": "replace", "path": "/package/version", "value": 1 }),
            "There is no `/package/version`; the keys there are `name`, `when`.",
        );
        check(
            json!({ "op": "add", "path": "/package/x", "value": null }),
            "TOML has no `null`: remove the key instead.",
        );
        check(
            json!({ "op": "add", "path": "/package/x", "value": u64::MAX }),
            "TOML has no integer as large as 18446744073709551615.",
        );
        check(
            json!({ "op": "add", "path": "/package/name/x", "value": 1 }),
            "`/package/name` is neither a table nor an array.",
        );
        check(
            json!({ "op": "remove", "path": "" }),
            "The whole file can't be changed by value: use `write_file`.",
        );
    }
}
