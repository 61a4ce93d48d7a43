//! Plugins whose schemas make much work of their params, beyond what the guest itself may take.

use serde_json::{Map, Value, json};

use super::Ends::Error;
use super::{Attack, Ends, Row};
use crate::wat;

/// What a tool says of its params.
type Schema = fn() -> Value;

/// What it is called with.
type Params = fn() -> Value;

/// Which places don't fit is listed only where that is cheap.
const MISFIT: Ends = Error("invalid-params", "don't fit its schema");

pub fn rows() -> Vec<Row> {
    let mut rows = recursive();
    rows.extend(wide());
    rows.extend(super::definitions::rows());
    rows
}

fn row(name: &'static str, does: &'static str, schema: Schema, params: Params, ends: Ends) -> Row {
    let make = move || wat::defining(&[("t", &schema().to_string())]);
    Row::new(name, does, Attack::Tool(Box::new(make), params, 1), ends)
}

/// Schemas that lead back to themselves, where each level of the params may double the work.
fn recursive() -> Vec<Row> {
    let any_of: Schema = || doubling(|branch| json!({"anyOf": [branch, branch]}));
    vec![
        row(
            "any-of-18-deep",
            "has a schema that refers twice to itself, and params of 18 levels",
            any_of,
            || nested(18),
            MISFIT,
        ),
        row(
            "any-of-26-deep",
            "has such a schema, and params of 26 levels",
            any_of,
            || nested(26),
            MISFIT,
        ),
        row(
            "any-of-100-deep",
            "has such a schema, and params of 100 levels",
            any_of,
            || nested(100),
            MISFIT,
        ),
        again(row(
            "any-of-again-and-again",
            "is called with such params ten times",
            any_of,
            || nested(100),
            MISFIT,
        )),
        row(
            "one-of-100-deep",
            "has a schema with a `oneOf` of two references to itself, and params of 100 levels",
            || doubling(|branch| json!({"oneOf": [branch, branch]})),
            || nested(100),
            MISFIT,
        ),
        row(
            "all-of-not-100-deep",
            "has a schema that negates itself twice, and params of 100 levels",
            || doubling(|branch| json!({"allOf": [{"not": branch}, {"not": branch}]})),
            || nested(100),
            Error("trap", "`unreachable` instruction"),
        ),
        row(
            "if-then-else-100-deep",
            "has a schema that uses itself twice as a condition, and params of 100 levels",
            || doubling(|branch| json!({"if": branch, "then": branch, "else": branch})),
            || nested(100),
            MISFIT,
        ),
        row(
            "dependent-schemas-100-deep",
            "has a schema that depends on itself twice, and params of 100 levels",
            || {
                doubling(
                    |branch| json!({"dependentSchemas": {"a": branch}, "anyOf": [branch, branch]}),
                )
            },
            || nested(100),
            MISFIT,
        ),
        row(
            "unevaluated-properties-100-deep",
            "has a schema with unevaluated properties at each level, and params of 100 levels",
            || {
                doubling(
                    |branch| json!({"anyOf": [branch, branch], "unevaluatedProperties": false}),
                )
            },
            || nested(100),
            MISFIT,
        ),
        row(
            "unevaluated-items-100-deep",
            "has the same with arrays",
            || {
                let branch = json!({"prefixItems": [{"$ref": "#/$defs/n"}], "minItems": 2});
                let either = json!({"anyOf": [branch, branch], "unevaluatedItems": false});
                json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": either}})
            },
            || json!({"a": (0..100).fold(json!([]), |inner, _| json!([inner]))}),
            MISFIT,
        ),
        row(
            "additional-properties-100-deep",
            "has a schema with itself twice as additional properties, and params of 100 levels",
            || {
                let branch =
                    json!({"additionalProperties": {"$ref": "#/$defs/n"}, "required": ["z"]});
                json!({"type": "object", "$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [branch, branch]}}})
            },
            || nested(100),
            MISFIT,
        ),
        row(
            "pattern-properties-100-deep",
            "has a schema with itself for each of its property patterns, and params of 100 levels",
            || {
                let by_pattern = |n: usize| (format!("a{{0,{n}}}"), json!({"$ref": "#/$defs/n"}));
                let patterns: Map<String, Value> = (0..20).map(by_pattern).collect();
                let branch = json!({"patternProperties": patterns, "required": ["z"]});
                json!({"type": "object", "$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [branch, branch]}}})
            },
            || nested(100),
            MISFIT,
        ),
        row(
            "a-dynamic-reference-100-deep",
            "has a schema that refers to itself dynamically, and params of 100 levels",
            || {
                let branch = json!({"properties": {"a": {"$dynamicRef": "#n"}}, "required": ["z"]});
                let either = json!({"$dynamicAnchor": "n", "anyOf": [branch, branch]});
                json!({"type": "object", "$ref": "#/$defs/n", "$defs": {"n": either}})
            },
            || nested(100),
            MISFIT,
        ),
        row(
            "params-as-deep-as-a-stack",
            "has a schema that refers to itself, and params of 127 levels",
            || json!({"type": "object", "additionalProperties": {"$ref": "#"}, "required": ["z"]}),
            || nested(126),
            MISFIT,
        ),
    ]
}

/// Schemas with much to do for each part of large params.
fn wide() -> Vec<Row> {
    let on_a = |name, does, keywords: Schema, params: Params, ends| {
        let schema = move || json!({"type": "object", "properties": {"a": keywords()}}).to_string();
        let make = move || wat::defining(&[("t", &schema())]);
        Row::new(name, does, Attack::Tool(Box::new(make), params, 1), ends)
    };
    let numbers: Params = || json!({"a": (0..200_000).collect::<Vec<u32>>()});
    let names: Params = || {
        let members = (0..100_000).map(|n| (format!("n{n}"), json!(n)));
        json!({"a": members.collect::<Map<_, _>>()})
    };
    vec![
        on_a(
            "two-hundred-thousand-violations",
            "has params with 200,000 violations",
            || json!({"items": {"type": "string"}}),
            numbers,
            MISFIT,
        ),
        on_a(
            "unique-numbers",
            "requires 200,000 numbers to be unique",
            || json!({"uniqueItems": true, "maxItems": 1}),
            numbers,
            MISFIT,
        ),
        on_a(
            "unique-arrays",
            "requires 20,000 arrays, all nested around the same values, to be unique",
            || json!({"uniqueItems": true, "maxItems": 1}),
            || {
                let bracketed = (0_u32..20_000).map(|number| {
                    (0..15).fold(json!([]), |inner, bit| match number >> bit & 1 {
                        0 => json!([inner]),
                        _ => json!([inner, []]),
                    })
                });
                json!({"a": bracketed.collect::<Vec<_>>()})
            },
            MISFIT,
        ),
        on_a(
            "a-huge-enum",
            "compares 2,000 arrays with an enum of 150 that differ only in their last element",
            || {
                let alike = (0..150).map(|number| alike(json!(number)));
                json!({"items": {"enum": alike.collect::<Vec<_>>()}})
            },
            || json!({"a": vec![alike(json!(-1)); 2000]}),
            MISFIT,
        ),
        on_a(
            "contains-in-contains",
            "searches each of 3,000 arrays for 200 missing numbers",
            || {
                let looks = (0..200)
                    .map(|number| json!({"contains": {"contains": {"const": -1 - number}}}));
                json!({"anyOf": looks.collect::<Vec<_>>()})
            },
            || {
                let row: Vec<u32> = (0..1000).collect();
                json!({"a": vec![row; 3000]})
            },
            Error(
                "limit",
                "checking the params takes more than 50000000 steps",
            ),
        ),
        on_a(
            "division-of-huge-numbers",
            "divides 100,000 huge numbers by a tiny one",
            || json!({"items": {"multipleOf": 1.1e-300, "maximum": 1}}),
            || json!({"a": vec![json!(1.7e308); 100_000]}),
            MISFIT,
        ),
        on_a(
            "a-pattern-on-a-long-text",
            "searches a text of 2 MB for a pattern with nested repetitions",
            || json!({"pattern": "(a?){300}a{300}(b|[^c]{2,90})+$", "maxLength": 1}),
            || json!({"a": "a".repeat(2_000_000)}),
            MISFIT,
        ),
        on_a(
            "many-patterns-on-many-names",
            "matches 200 patterns with each of 100,000 names",
            || {
                let by_pattern = |n: usize| {
                    let pattern = format!("^(n|x)*[^y]{{1,{}}}{n}$", n % 40 + 1);
                    (pattern, json!({"type": "null"}))
                };
                json!({"patternProperties": (0..200).map(by_pattern).collect::<Map<_, _>>()})
            },
            names,
            MISFIT,
        ),
        on_a(
            "a-pattern-for-many-names",
            "matches a pattern with each of 100,000 names",
            || json!({"propertyNames": {"pattern": "^(n[0-9]*){1,50}x"}}),
            names,
            MISFIT,
        ),
        on_a(
            "unevaluated-properties-of-many",
            "has 300 subschemas and 100,000 properties that may be unevaluated",
            || json!({"anyOf": branches(), "unevaluatedProperties": {"type": "string"}}),
            names,
            MISFIT,
        ),
        on_a(
            "unevaluated-items-of-many",
            "has 200,000 items that may be unevaluated",
            || {
                json!({"prefixItems": [{}], "contains": {"minimum": 5},
                    "unevaluatedItems": {"anyOf": [{"type": "string"}, {"maximum": 7}]}, "maxItems": 1})
            },
            numbers,
            MISFIT,
        ),
    ]
}

/// At each level twice the same reference.
fn doubling(either: impl Fn(&Value) -> Value) -> Value {
    let branch = json!({"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["z"]});
    json!({"type": "object", "$ref": "#/$defs/n", "$defs": {"n": either(&branch)}})
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({"a": inner}))
}

/// 300 zeros, and a last element.
fn alike(last: Value) -> Value {
    let mut elements = vec![json!(0); 300];
    elements.push(last);
    json!(elements)
}

fn branches() -> Vec<Value> {
    let branch = |n: usize| {
        let name = format!("n{n}");
        json!({"properties": {&name: {"type": "null"}}, "required": [name, "no"]})
    };
    (0..300).map(branch).collect()
}

/// The same call ten times: nothing of it is kept.
fn again(mut row: Row) -> Row {
    if let Attack::Tool(_, _, times) = &mut row.attack {
        *times = 10;
    }
    row.seconds(30)
}
