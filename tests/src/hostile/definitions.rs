//! Plugins whose schemas would be large, or endless, where they are compiled.

use serde_json::{Map, Value, json};

use super::Ends::{Error, Result};
use super::{Attack, Row};
use crate::wat;

pub fn rows() -> Vec<Row> {
    let load = |name, does, schema: fn() -> String, ends| {
        let make = move || wat::defining(&[("t", &schema())]);
        Row::new(name, does, Attack::Load(Box::new(make)), ends)
    };
    vec![
        load(
            "a-schema-that-doubles-when-written-out",
            "has 40 definitions that each refer twice to the next",
            || chain(40, |next| json!({"properties": {"a": next, "b": next}})),
            Error("no-tools", "200000 nodes"),
        ),
        load(
            "a-schema-that-doubles-in-one-place",
            "has 13 definitions that each apply the next twice to the same value",
            || chain(13, |next| json!({"allOf": [next, next]})),
            Error("no-tools", "apply to one place"),
        ),
        load(
            "a-long-chain-of-references",
            "has 3,000 definitions that each refer to the next",
            || chain(3000, |next| json!({"properties": {"a": next}})),
            Error("no-tools", "1000 levels deep"),
        ),
        load(
            "a-reference-to-itself",
            "has a schema that is a reference to itself",
            || json!({"type": "object", "$ref": "#"}).to_string(),
            Error("no-tools", "refers back to itself"),
        ),
        load(
            "a-reference-to-the-network",
            "has a schema that refers to a server",
            || json!({"type": "object", "$ref": "http://127.0.0.1:1/schema"}).to_string(),
            Error("no-tools", "leads nowhere"),
        ),
        load(
            "a-reference-to-a-file",
            "has a schema that refers to a file",
            || json!({"type": "object", "$ref": "file:///etc/passwd"}).to_string(),
            Error("no-tools", "leads nowhere"),
        ),
        load(
            "a-pattern-that-is-large-when-written-out",
            "has a pattern with three nested repetitions",
            || {
                json!({"type": "object", "properties": {"a": {"pattern": "((\\w{99}){99}){99}"}}})
                    .to_string()
            },
            Error("no-tools", "positions with their repetitions expanded"),
        ),
        load(
            "a-thousand-patterns",
            "has 1,000 patterns",
            || {
                let by_pattern = (0..1000).map(|n| (format!("^a{n}$"), json!({})));
                json!({"type": "object", "patternProperties": by_pattern.collect::<Map<_, _>>()})
                    .to_string()
            },
            Error("no-tools", "1000 patterns; the limit is 256"),
        ),
        load(
            "a-schema-as-deep-as-a-stack",
            "has a schema of 20,000 levels",
            || {
                let not = r#"{"not":"#.repeat(20_000);
                format!(
                    r#"{{"type":"object","not":{not}{{}}{}}}"#,
                    "}".repeat(20_000)
                )
            },
            Error("no-tools", "not JSON"),
        ),
        load(
            "five-thousand-subschemas",
            "applies 5,000 subschemas to one value",
            || {
                let one = json!({"properties": {"a": {"minimum": 1}}});
                json!({"type": "object", "allOf": vec![one; 5000]}).to_string()
            },
            Result("loaded 1"),
        ),
    ]
}

/// Definitions from `l0` on, each of which is made of the next.
fn chain(levels: usize, link: impl Fn(Value) -> Value) -> String {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions.insert(format!("l{level}"), link(next));
    }
    definitions.insert(format!("l{levels}"), json!({"type": "object"}));
    json!({"type": "object", "$ref": "#/$defs/l0", "$defs": definitions}).to_string()
}
