//! Mutations of a valid value.

use serde_json::{Value, json};

/// Maximum depth of a mutation in a value.
const DEPTH: usize = 3;

/// Returns objects that differ from this one in a single place.
pub fn mutations(value: &Value) -> Vec<Value> {
    let mut values: Vec<Value> = at(value, DEPTH)
        .into_iter()
        .filter(Value::is_object)
        .collect();
    values.push(json!({}));
    values
}

fn at(value: &Value, depth: usize) -> Vec<Value> {
    let mut values = others(value);
    if depth == 0 {
        return values;
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let mut without = members.clone();
                without.remove(key);
                values.push(Value::Object(without));
                for mutated in at(member, depth - 1) {
                    let mut changed = members.clone();
                    changed.insert(key.clone(), mutated);
                    values.push(Value::Object(changed));
                }
            }
            let mut more = members.clone();
            more.insert("unexpected".to_owned(), json!(["?"]));
            values.push(Value::Object(more));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for mutated in at(item, depth - 1) {
                    let mut changed = items.clone();
                    changed[index] = mutated;
                    values.push(Value::Array(changed));
                }
            }
            let mut double = items.clone();
            double.extend(items.iter().cloned());
            values.push(Value::Array(double));
        }
        _ => {}
    }
    values
}

/// Returns replacements for a value: values of other types, and boundary values of its own.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => {
            let near = number.as_i64().map(|number| {
                [
                    json!(number.saturating_sub(1)),
                    json!(number.saturating_add(1)),
                ]
            });
            let far = [
                json!(i64::MIN),
                json!(u64::MAX),
                json!(1e300),
                json!(-0.5),
                json!("1"),
                Value::Null,
            ];
            near.into_iter().flatten().chain(far).collect()
        }
        Value::String(text) => vec![
            json!(""),
            json!(format!("{text}\0")),
            json!(format!("{text}\n{text}")),
            json!(text.repeat(2)),
            json!("\u{10ffff}\u{202e}é".repeat(2000)),
            json!("../".repeat(20)),
            json!(0),
            Value::Null,
        ],
        Value::Array(_) => vec![json!([]), json!({}), json!("[]"), Value::Null],
        Value::Bool(_) => vec![json!("true"), json!(1), Value::Null],
        Value::Null => vec![json!(0), json!(""), json!(false)],
        Value::Object(_) => vec![json!([]), json!("{}"), Value::Null],
    }
}
