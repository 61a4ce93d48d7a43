use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

fn schema(schema: &Value) -> Schema {
    let text = Json::of(schema).unwrap();
    Schema::new(&text).unwrap_or_else(|reason| panic!("{reason}: {schema}"))
}

/// A schema that took exponential time: each level of the params doubles the work of listing
/// violations.
fn doubling() -> Schema {
    let branch = json!({"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["z"]});
    schema(&json!({
        "type": "object", "$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [branch, branch]}},
    }))
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({"a": inner}))
}

const STEPS: u64 = 1_000_000;

#[test]
fn a_recursive_schema_that_doubles_at_each_level_is_answered_at_once() {
    let schema = doubling();
    for depth in [0, 1, 5, 18, 26, 100, 120] {
        let begun = Instant::now();
        let misfit = schema.check(&nested(depth), STEPS).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(5), "{depth}");
        match misfit {
            Misfit::Violations(violations) => {
                let listed = violations[0].message.as_str();
                assert!(!listed.is_empty() && listed.len() < 400, "{listed}");
            }
            other => panic!("{depth}: {other:?}"),
        }
    }
}

#[test]
fn where_listing_is_cheap_each_place_is_named() {
    let schema = schema(&json!({
        "type": "object", "properties": {"a": {"type": "string"}, "b": {"items": {"minimum": 3}}},
    }));
    let misfit = schema.check(&json!({"a": 1, "b": [3, 2, 1]}), STEPS);
    let Err(Misfit::Violations(violations)) = misfit else {
        panic!("{misfit:?}");
    };
    let places: Vec<&str> = violations.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(places, ["/a", "/b/1", "/b/2"]);
    assert_eq!(violations[1].message, "2 is less than the minimum of 3");
}

#[test]
fn an_unknown_name_is_told_with_the_one_that_is_missing() {
    let schema = schema(&json!({
        "type": "object", "required": ["pat", "out"], "additionalProperties": false,
        "properties": {"pat": {}, "out": {}},
    }));
    let check = |value: Value, expected: &[&str]| {
        let Err(Misfit::Violations(found)) = schema.check(&value, STEPS) else {
            panic!("{value} fits");
        };
        let mut told: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        told.sort_unstable();
        assert_eq!(told, expected, "{value}");
    };
    check(
        json!({"pat": 1, "rewrite": 2}),
        &[
            "\"out\" is a required property",
            "`rewrite` is unknown; `out` is missing, and may be meant",
        ],
    );
    check(
        json!({"pat": 1, "out": 1, "rewrite": 2}),
        &["Additional properties are not allowed ('rewrite' was unexpected)"],
    );
    check(
        json!({"rewrite": 2}),
        &[
            "\"out\" is a required property",
            "\"pat\" is a required property",
            "Additional properties are not allowed ('rewrite' was unexpected)",
        ],
    );
}

#[test]
fn a_violation_quotes_the_beginning_of_a_long_value() {
    let schema = schema(&json!({"type": "object", "properties": {"a": {"type": "integer"}}}));
    let misfit = schema.check(&json!({"a": "é".repeat(500_000)}), STEPS);
    let Err(Misfit::Violations(violations)) = misfit else {
        panic!("{misfit:?}");
    };
    let message = &violations[0].message;
    assert!(
        message.len() <= MESSAGE_BYTES + 3 && message.ends_with('…'),
        "{message}"
    );
}

#[test]
fn params_of_any_depth_are_refused_without_overflowing_the_stack() {
    let schema = schema(&json!({"type": "object", "additionalProperties": {"$ref": "#"}}));
    assert_eq!(
        schema.check(&nested(json::MAX_JSON_DEPTH - 1), STEPS),
        Ok(())
    );
    let mut deep = json!([]);
    for _ in 0..100_000 {
        deep = Value::Array(vec![deep]);
    }
    let mut params = json!({});
    params["a"] = deep;
    let refused = schema.check(&params, STEPS);
    json::take_apart(params);
    let Err(Misfit::Violations(violations)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(violations[0].message, json::TooDeep.to_string());
}

/// Keywords that are expensive for large values: each check is stopped, or ends soon.
#[test]
fn no_keyword_makes_much_of_a_large_value() {
    let numbers: Vec<Value> = (0..200_000).map(Value::from).collect();
    // All of these arrays wrap the same values.
    let bracketed: Vec<Value> = (0_u32..20_000)
        .map(|n| {
            (0..15).fold(json!([]), |inner, bit| match n >> bit & 1 {
                0 => json!([inner]),
                _ => json!([inner, []]),
            })
        })
        .collect();
    let names: Map<String, Value> = (0..100_000).map(|n| (format!("n{n}"), json!(n))).collect();
    let patterns: Map<String, Value> = (0..200)
        .map(|n| {
            (
                format!("^(n|x)*[^y]{{1,{}}}{n}$", n % 40 + 1),
                json!({"type": "null"}),
            )
        })
        .collect();
    let alike: Vec<Value> = (0..200)
        .map(|n| {
            let mut it = vec![json!(0); 300];
            it.push(json!(n));
            json!(it)
        })
        .collect();
    let instance = {
        let mut it = vec![json!(0); 300];
        it.push(json!(-1));
        json!(it)
    };
    let text = "a".repeat(2_000_000);
    let branches: Vec<Value> = (0..300).map(|n| json!({"properties": {(format!("n{n}")): {"type": "null"}}, "required": [format!("n{n}"), "no"]})).collect();
    for (keywords, value) in [
        (json!({"uniqueItems": true}), json!(numbers)),
        (json!({"uniqueItems": true}), json!(bracketed)),
        (
            json!({"items": {"enum": alike}}),
            json!(vec![instance; 2000]),
        ),
        (
            json!({"contains": {"contains": {"const": -1}}, "minContains": 100_000}),
            json!(vec![json!(numbers[..1000]); 500]),
        ),
        (
            json!({"items": {"multipleOf": 1.1e-300}}),
            json!(vec![json!(1.7e308); 100_000]),
        ),
        (
            json!({"items": {"multipleOf": 0.0007}}),
            json!(vec![json!(1e22); 100_000]),
        ),
        (json!({"patternProperties": patterns}), json!(names)),
        (
            json!({"pattern": "(a?){300}a{300}(b|[^c]{2,90})+$"}),
            json!(text),
        ),
        (
            json!({"propertyNames": {"pattern": "^(n[0-9]*){1,50}x"}}),
            json!(names),
        ),
        (
            json!({"anyOf": branches, "unevaluatedProperties": {"type": "integer"}}),
            json!(names),
        ),
        (
            json!({"allOf": branches, "unevaluatedProperties": false}),
            json!(names),
        ),
        (
            json!({"prefixItems": [{}], "contains": {"minimum": 5}, "unevaluatedItems": {"anyOf": [{"type": "string"}, {"maximum": 7}]}}),
            json!(numbers),
        ),
    ] {
        let schema = schema(&json!({"properties": {"a": keywords}}));
        let begun = Instant::now();
        let answer = schema.check(&json!({"a": value}), 20_000_000);
        let took = begun.elapsed();
        let shown = cut(&keywords);
        eprintln!(
            "{took:?} {:?} {shown}",
            answer
                .as_ref()
                .err()
                .map(|it| matches!(it, Misfit::TooManySteps))
        );
        assert!(took < Duration::from_secs(20), "{took:?}: {shown}");
    }
}

/// Schemas whose definitions refer to each other, with every applicator.
fn any_schema() -> impl Strategy<Value = Value> {
    const NAMES: usize = 4;
    let leaf = prop_oneof![
        Just(json!({"required": ["z"]})),
        Just(json!({"type": "object"})),
        Just(json!({"minProperties": 1})),
        Just(json!({"uniqueItems": true})),
        Just(json!({"multipleOf": 0.3})),
        Just(json!({"pattern": "^(a|b)*c?$"})),
        Just(json!({"enum": [1, {"a": [1]}, "b"]})),
        Just(json!(true)),
        Just(json!(false)),
    ];
    // A reference inside a part, so that it may lead anywhere.
    let reference = (0..NAMES).prop_map(|n| json!({"$ref": format!("#/$defs/d{n}")}));
    let dynamic = Just(json!({"$dynamicRef": "#any"}));
    let onward = prop_oneof![4 => reference, 1 => dynamic, 2 => leaf.clone()];
    let parts = (onward.clone(), onward, 0..10_usize).prop_map(|(one, other, kind)| match kind {
        0 => json!({"properties": {"a": one, "b": other}}),
        1 => json!({"additionalProperties": one, "required": ["z"]}),
        2 => json!({"items": one}),
        3 => json!({"prefixItems": [one], "items": other}),
        4 => json!({"patternProperties": {"^a": one, "b$": other}}),
        5 => json!({"contains": one, "minContains": 2}),
        6 => json!({"unevaluatedProperties": one}),
        7 => json!({"unevaluatedItems": one}),
        8 => json!({"properties": {"a": one}, "unevaluatedProperties": other}),
        _ => json!({"properties": {"a": {"not": one}, "b": {"oneOf": [other, one]}}}),
    });
    let place = prop_oneof![3 => parts, 1 => leaf].prop_recursive(3, 24, 3, |inner| {
        (proptest::collection::vec(inner, 1..4), 0..8_usize).prop_map(|(many, kind)| {
            let (first, last) = (many[0].clone(), many[many.len() - 1].clone());
            match kind {
                0 => json!({"anyOf": many}),
                1 => json!({"oneOf": many}),
                2 => json!({"allOf": many}),
                3 => json!({"not": first}),
                4 => json!({"if": first, "then": last, "else": many[many.len() / 2]}),
                5 => json!({"dependentSchemas": {"a": first, "b": last}}),
                6 => json!({"anyOf": many, "unevaluatedProperties": false}),
                _ => json!({"allOf": many, "unevaluatedItems": last}),
            }
        })
    });
    proptest::collection::vec(place, NAMES).prop_map(|mut places| {
        // The target of dynamic references.
        if let Value::Object(first) = &mut places[0] {
            first.insert("$dynamicAnchor".to_owned(), json!("any"));
        }
        let definitions: Map<String, Value> = places
            .into_iter()
            .enumerate()
            .map(|(n, place)| (format!("d{n}"), place))
            .collect();
        json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/d0"}, "$defs": definitions})
    })
}

fn any_params() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        (-3..9_i64).prop_map(Value::from),
        "[abc]{0,6}".prop_map(Value::from),
    ];
    let wide = leaf.prop_recursive(5, 120, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("[abz]{1,2}", inner, 0..5)
                .prop_map(|members| members.into_iter().collect()),
        ]
    });
    // Also deep, through members and items.
    (wide, proptest::collection::vec(any::<bool>(), 0..100)).prop_map(|(wide, way)| {
        let deep = way.into_iter().fold(wide, |inner, is_object| {
            if is_object {
                json!({"a": inner})
            } else {
                json!([inner, inner.is_null()])
            }
        });
        json!({"a": deep})
    })
}

proptest! {
    /// Takes neither seconds, nor a stack overflow, nor much memory, for any schema and params.
    #[test]
    fn any_params_are_soon_judged_by_any_schema(schema in any_schema(), params in any_params()) {
        let begun = Instant::now();
        let text = Json::of(&schema).unwrap();
        if let Ok(schema) = Schema::new(&text) {
            let metered = schema.check(&params, 2_000_000);
            let took = begun.elapsed();
            prop_assert!(took < Duration::from_secs(10), "{took:?}");
            if let Err(Misfit::Violations(violations)) = &metered {
                prop_assert!(violations.len() <= LISTED);
                prop_assert!(violations.iter().all(|it| it.message.len() <= MESSAGE_BYTES + 3));
            }
            // Any answer equals that of the library itself.
            if took < Duration::from_millis(20) && !matches!(metered, Err(Misfit::TooManySteps)) {
                let plain = jsonschema::options()
                    .with_draft(Draft::Draft202012)
                    .with_pattern_options(PatternOptions::regex())
                    .build(&text.value());
                let plain = plain.unwrap().is_valid(&params);
                prop_assert_eq!(metered.is_ok(), plain);
            }
        }
    }
}
