//! Params that are given individually, assembled into the object that the tool gets.

use airlock_host::tool::Params;
use serde_json::{Map, Value};

use super::typed::{Typed, Wrong};
use super::{Param, ParamPath, Part};

/// The values of one param.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    pub place: ParamPath,
    /// The values. Only a list has more than one.
    pub values: Vec<Value>,
    pub is_list: bool,
}

impl Given {
    /// Parses the words that were given for a param.
    ///
    /// # Errors
    /// If a word doesn't fit the param's type. The error includes the word.
    pub fn read<'a>(
        param: &Param,
        words: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, (&'a str, Wrong)> {
        let mut values = Vec::new();
        for word in words {
            let value = param.typed.read(word).map_err(|wrong| (word, wrong))?;
            match (&param.typed, value) {
                // A list of objects may be given as a whole.
                (Typed::List(item), Value::Array(all)) if !matches!(**item, Typed::List(_)) => {
                    values.extend(all);
                }
                (_, value) => values.push(value),
            }
        }
        Ok(Self {
            place: param.place.clone(),
            values,
            is_list: matches!(param.typed, Typed::List(_)),
        })
    }
}

/// Inserts values into the params, in order, replacing existing ones. In a list of objects, a
/// member that the last object already has starts the next object.
///
/// # Errors
/// If a value belongs inside something that is not an object or list.
pub fn put(params: &mut Value, given: &[Given]) -> Result<(), Wrong> {
    // The lists that were started here, and not by the params.
    let mut begun = Vec::new();
    for given in given {
        let parts = given.place.parts();
        let items = parts.iter().position(|part| *part == Part::Items);
        let list = match (items, given.is_list) {
            (Some(index), _) => Some(&parts[..index]),
            (None, true) => Some(parts),
            (None, false) => None,
        };
        if let Some(list) = list
            && !begun.contains(&list)
        {
            put_at(params, list, &given.place, Value::Array(Vec::new()), false)?;
            begun.push(list);
        }
        if given.is_list {
            let values = given.values.clone();
            put_at(params, parts, &given.place, Value::Array(values), true)?;
        } else {
            if let Some(value) = given.values.last() {
                put_at(params, parts, &given.place, value.clone(), false)?;
            }
        }
    }
    Ok(())
}

/// Inserts values into the params of a call, which keep their original text if there are no values.
///
/// # Errors
/// Those of [`put`].
pub fn put_into(params: &mut Params<'static>, given: &[Given]) -> Result<(), Wrong> {
    if given.is_empty() {
        return Ok(());
    }
    let mut value = params.value().clone();
    put(&mut value, given)?;
    *params = Params::from_value(value);
    Ok(())
}

/// Descends to the value's place, creating missing parts on the way.
fn put_at(
    at: &mut Value,
    parts: &[Part],
    place: &ParamPath,
    value: Value,
    appends: bool,
) -> Result<(), Wrong> {
    match parts {
        [] => {
            match (at, value) {
                (Value::Array(all), Value::Array(more)) if appends => all.extend(more),
                (at, value) => *at = value,
            }
            Ok(())
        }
        [Part::Name(name), rest @ ..] => match at {
            Value::Null => {
                *at = Value::Object(Map::new());
                put_at(at, parts, place, value, appends)
            }
            Value::Object(object) => {
                let next = object.entry(name).or_insert(Value::Null);
                put_at(next, rest, place, value, appends)
            }
            _ => Err(format!("can't be put into what is no object: {place}")),
        },
        [Part::Items, rest @ ..] => match at {
            Value::Null => {
                *at = Value::Array(Vec::new());
                put_at(at, parts, place, value, appends)
            }
            Value::Array(all) => match all.last_mut() {
                Some(last) if !has(last, rest) => put_at(last, rest, place, value, appends),
                _ => {
                    let mut item = Value::Null;
                    put_at(&mut item, rest, place, value, appends)?;
                    all.push(item);
                    Ok(())
                }
            },
            _ => Err(format!("can't be put into what is no list: {place}")),
        },
    }
}

/// Returns whether there is a value at the end of these parts.
fn has(at: &Value, parts: &[Part]) -> bool {
    match parts {
        [] => true,
        [Part::Name(name), rest @ ..] => at.get(name).is_some_and(|next| has(next, rest)),
        [Part::Items, rest @ ..] => {
            let last = at.as_array().and_then(|all| all.last());
            last.is_some_and(|last| has(last, rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::params;

    #[test]
    fn what_is_given_one_by_one_becomes_the_object() {
        let schema = json!({"type": "object", "properties": {
            "files": {"type": "array", "items": {"type": "string"}},
            "count": {"type": "integer"},
            "where": {"type": "object", "properties": {"path": {"type": "string"}}},
            "ops": {"type": "array", "items": {"type": "object", "properties": {
                "pat": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
            }}},
        }});
        let all = params::of(&schema);
        let check = |base: Value, given: &[(&str, &[&str])], expected: Result<Value, &str>| {
            let given: Vec<Given> = given
                .iter()
                .map(|(name, words)| {
                    let param = all.iter().find(|it| it.place.to_string() == *name);
                    Given::read(param.unwrap(), words.iter().copied()).unwrap()
                })
                .collect();
            let mut params = base;
            let done = put(&mut params, &given).map(|()| params);
            match (done, expected) {
                (Ok(params), Ok(expected)) => assert_eq!(params, expected),
                (Err(wrong), Err(expected)) => assert!(wrong.contains(expected), "{wrong}"),
                (done, expected) => panic!("{done:?} is not {expected:?}"),
            }
        };
        check(json!({}), &[("count", &["3"])], Ok(json!({"count": 3})));
        check(
            json!({}),
            &[("files", &["a", "b"]), ("files", &["c"])],
            Ok(json!({"files": ["a", "b", "c"]})),
        );
        check(
            json!({"files": ["x"], "count": 1}),
            &[("files", &["a"]), ("count", &["2"])],
            Ok(json!({"files": ["a"], "count": 2})),
        );
        check(
            json!({"where": {"deep": true}}),
            &[("where.path", &["src"])],
            Ok(json!({"where": {"deep": true, "path": "src"}})),
        );
        check(
            json!({"ops": [{"pat": "old"}]}),
            &[
                ("ops[].pat", &["a"]),
                ("ops[].tags", &["x", "y"]),
                ("ops[].pat", &["b"]),
                ("ops[].tags", &["z"]),
            ],
            Ok(json!({"ops": [{"pat": "a", "tags": ["x", "y"]}, {"pat": "b", "tags": ["z"]}]})),
        );
        check(
            json!({}),
            &[(
                "ops",
                &[r#"{"pat": "a"}"#, r#"[{"pat": "b"}, {"pat": "c"}]"#],
            )],
            Ok(json!({"ops": [{"pat": "a"}, {"pat": "b"}, {"pat": "c"}]})),
        );
        check(
            json!({"where": 1}),
            &[("where.path", &["a"])],
            Err("where.path"),
        );
        check(json!([]), &[("count", &["3"])], Err("count"));
    }
}
