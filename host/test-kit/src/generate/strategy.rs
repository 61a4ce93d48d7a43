//! Turns a schema into a strategy for its values.
//!
//! Keywords that depend on other places (`not`, `if`, `uniqueItems`, …) are ignored: the caller
//! checks the drawn value.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Map, Value, json};

use super::text::{self, Names};
use super::vocabulary::{Vocabulary, names_files};

/// Maximum number of schemas to process, each counted once per reference.
const BUDGET: usize = 20_000;

/// Reference depth at which optional parts are left out, and at which all parts are.
const DEEP: usize = 3;
const DEEPEST: usize = 12;

/// Maximum number of items in a list without a limit.
const ITEMS: usize = 4;

/// Returns a strategy for the values of this schema, which is a whole document.
pub fn of(schema: &Value, known: &Vocabulary) -> BoxedStrategy<Value> {
    let reader = Reader {
        root: schema,
        known,
        budget: Cell::new(BUDGET),
    };
    reader.strategy(schema, SchemaPosition::default())
}

struct Reader<'a> {
    root: &'a Value,
    known: &'a Vocabulary,
    budget: Cell<usize>,
}

/// The position of a schema in a value.
#[derive(Clone, Copy, Default)]
struct SchemaPosition {
    /// The number of references on the way here.
    references: usize,
    /// The likelihood that a text here is a file name.
    names: Names,
}

impl SchemaPosition {
    fn referred(self) -> Self {
        Self {
            references: self.references + 1,
            ..self
        }
    }
}

impl Reader<'_> {
    fn strategy(&self, schema: &Value, place: SchemaPosition) -> BoxedStrategy<Value> {
        let Some(left) = self.budget.get().checked_sub(1) else {
            return Just(Value::Null).boxed();
        };
        self.budget.set(left);
        let Value::Object(members) = schema else {
            return self.anything();
        };
        let own = self.without_examples(members, place);
        let mut examples: Vec<Value> = members.get("default").into_iter().cloned().collect();
        if let Some(Value::Array(more)) = members.get("examples") {
            examples.extend(more.iter().cloned());
        }
        if examples.is_empty() {
            own
        } else {
            prop_oneof![3 => own, 1 => select(examples)].boxed()
        }
    }

    fn strategy_or_anything(
        &self,
        schema: Option<&Value>,
        place: SchemaPosition,
    ) -> BoxedStrategy<Value> {
        match schema {
            Some(schema) => self.strategy(schema, place),
            None => self.anything(),
        }
    }

    fn without_examples(
        &self,
        members: &Map<String, Value>,
        place: SchemaPosition,
    ) -> BoxedStrategy<Value> {
        if let Some(value) = members.get("const") {
            return Just(value.clone()).boxed();
        }
        if let Some(Value::Array(values)) = members.get("enum")
            && !values.is_empty()
        {
            return select(values.clone()).boxed();
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            return match self.target(reference) {
                Some(_) if place.references >= DEEPEST => Just(Value::Null).boxed(),
                Some(target) => {
                    let mut rest = members.clone();
                    rest.remove("$ref");
                    self.strategy(&merged(&rest, target), place.referred())
                }
                None => self.anything(),
            };
        }
        if let Some(Value::Array(parts)) = members.get("allOf") {
            let mut whole = members.clone();
            whole.remove("allOf");
            let whole = parts.iter().fold(Value::Object(whole), |whole, part| {
                let part = self.followed(part);
                match &whole {
                    Value::Object(whole) => merged(whole, part),
                    _ => whole,
                }
            });
            return self.strategy(&whole, place);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(Value::Array(cases)) = members.get(key)
                && !cases.is_empty()
            {
                let mut rest = members.clone();
                rest.remove(key);
                let cases = cases.iter().map(|case| {
                    self.strategy(&merged(&rest, self.followed(case)), place.referred())
                });
                return Union::new(cases.collect::<Vec<_>>()).boxed();
            }
        }
        let types = types_of(members).into_iter();
        let types = types.map(|name| self.of_type(name, members, place));
        match types.collect::<Vec<_>>() {
            types if types.is_empty() => self.anything(),
            types => Union::new(types).boxed(),
        }
    }

    fn of_type(
        &self,
        name: &str,
        schema: &Map<String, Value>,
        place: SchemaPosition,
    ) -> BoxedStrategy<Value> {
        match name {
            "null" => Just(Value::Null).boxed(),
            "boolean" => any::<bool>().prop_map(Value::Bool).boxed(),
            "integer" => integers(schema),
            "number" => prop_oneof![integers(schema), fractions(schema)].boxed(),
            "string" => text::of(schema, self.known, place.names)
                .prop_map(Value::String)
                .boxed(),
            "array" => self.arrays(schema, place),
            "object" => self.objects(schema, place),
            _ => self.anything(),
        }
    }

    fn arrays(&self, schema: &Map<String, Value>, place: SchemaPosition) -> BoxedStrategy<Value> {
        let first = match schema.get("prefixItems") {
            Some(Value::Array(first)) => first.as_slice(),
            _ => &[],
        };
        let count = |key: &str| Some(schema.get(key)?.as_u64()?.min(1000) as usize);
        let least = count("minItems").unwrap_or(0).saturating_sub(first.len());
        let usual = if place.references >= DEEP { 0 } else { ITEMS };
        let most = match count("maxItems") {
            Some(most) => most.saturating_sub(first.len()).min(least + usual),
            None => least + usual,
        };
        let rest = match schema.get("items") {
            Some(Value::Bool(false)) => None,
            items => Some(self.strategy_or_anything(items, place)),
        };
        let first: Vec<_> = first
            .iter()
            .map(|item| self.strategy(item, place))
            .collect();
        let Some(rest) = rest else {
            return first.prop_map(Value::Array).boxed();
        };
        let count = least..=most.max(least);
        let mut rest = vec(rest, count.clone()).boxed();
        // Many tools refuse a whole list because of a single missing name.
        if let (Names::Likely, Some(items)) = (place.names, schema.get("items")) {
            let names = Names::Only;
            let known = self.strategy(items, SchemaPosition { names, ..place });
            rest = prop_oneof![rest, vec(known, count)].boxed();
        }
        (first, rest)
            .prop_map(|(mut items, rest)| {
                items.extend(rest);
                Value::Array(items)
            })
            .boxed()
    }

    fn objects(&self, schema: &Map<String, Value>, place: SchemaPosition) -> BoxedStrategy<Value> {
        let no_properties = Map::new();
        let properties = match schema.get("properties") {
            Some(Value::Object(properties)) => properties,
            _ => &no_properties,
        };
        let required: Vec<&str> = match schema.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let additional = schema.get("additionalProperties");
        let mut members: Vec<BoxedStrategy<Option<(String, Value)>>> = Vec::new();
        for (name, property) in properties {
            let is_required = required.contains(&name.as_str());
            if !is_required && place.references >= DEEP {
                continue;
            }
            let inside = SchemaPosition {
                names: if names_files(name, property) || names_files(name, self.followed(property))
                {
                    Names::Likely
                } else {
                    Names::Unlikely
                },
                ..place
            };
            let named = named(name, self.strategy(property, inside));
            members.push(if is_required {
                named.prop_map(Some).boxed()
            } else {
                weighted(0.6, named).boxed()
            });
        }
        for name in required {
            if !properties.contains_key(name) {
                let any = self.strategy_or_anything(additional, place);
                members.push(named(name, any).prop_map(Some).boxed());
            }
        }
        if additional != Some(&Value::Bool(false)) && place.references < DEEP {
            let any = self.strategy_or_anything(additional, place);
            let (times, likely) = if properties.is_empty() {
                (3, 0.5)
            } else {
                (1, 0.1)
            };
            for _ in 0..times {
                let name = text::of(&Map::new(), self.known, Names::Unlikely);
                members.push(weighted(likely, (name, any.clone())).boxed());
            }
        }
        members
            .prop_map(|members| Value::Object(members.into_iter().flatten().collect()))
            .boxed()
    }

    /// Returns a strategy for small values of all types.
    fn anything(&self) -> BoxedStrategy<Value> {
        let leaves = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            integers(&Map::new()),
            text::of(&Map::new(), self.known, Names::Unlikely).prop_map(Value::String),
        ];
        leaves
            .prop_recursive(2, 8, 3, |inner| {
                let members = vec(("[a-z]{1,4}", inner.clone()), 0..3);
                prop_oneof![
                    vec(inner, 0..3).prop_map(Value::Array),
                    members.prop_map(|members| Value::Object(members.into_iter().collect())),
                ]
            })
            .boxed()
    }

    fn target(&self, reference: &str) -> Option<&Value> {
        match reference.strip_prefix('#')? {
            "" => Some(self.root),
            pointer => self.root.pointer(pointer),
        }
    }

    /// Resolves a schema that is only a reference.
    fn followed<'a>(&'a self, part: &'a Value) -> &'a Value {
        let reference = part.get("$ref").and_then(Value::as_str);
        reference
            .and_then(|reference| self.target(reference))
            .unwrap_or(part)
    }
}

fn named(name: &str, value: BoxedStrategy<Value>) -> BoxedStrategy<(String, Value)> {
    let name = name.to_owned();
    value.prop_map(move |value| (name.clone(), value)).boxed()
}

/// Returns the types that the schema allows, or that its other keywords imply.
fn types_of(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => [
            ("properties", "object"),
            ("required", "object"),
            ("items", "array"),
            ("prefixItems", "array"),
            ("pattern", "string"),
            ("minLength", "string"),
            ("maxLength", "string"),
            ("minimum", "number"),
            ("maximum", "number"),
        ]
        .into_iter()
        .find_map(|(word, name)| schema.contains_key(word).then_some(name))
        .into_iter()
        .collect(),
    }
}

fn integers(schema: &Map<String, Value>) -> BoxedStrategy<Value> {
    let bound = |key: &str| Some(schema.get(key)?.as_f64()? as i64);
    let after = |key: &str, by: i64| Some(bound(key)?.saturating_add(by));
    let least = bound("minimum").or_else(|| after("exclusiveMinimum", 1));
    let most = bound("maximum").or_else(|| after("exclusiveMaximum", -1));
    let factor = bound("multipleOf").filter(|factor| *factor > 1);
    let (low, high) = match (least, most) {
        (Some(low), Some(high)) => (low, high.max(low)),
        (Some(low), None) => (low, low.saturating_add(1000)),
        (None, Some(high)) => (high.saturating_sub(1000), high),
        (None, None) => (-1000, 1000),
    };
    let mut edges = vec![low, high];
    let within = |number: &i64| {
        least.is_none_or(|least| *number >= least) && most.is_none_or(|most| *number <= most)
    };
    let usual = [0, 1, -1, 255, 256, i64::from(i32::MAX), i64::MAX, i64::MIN];
    edges.extend(usual.iter().filter(|number| within(number)));
    prop_oneof![3 => low..=high, 2 => select(edges)]
        .prop_map(move |number| match factor {
            Some(factor) => json!(number - number % factor),
            None => json!(number),
        })
        .boxed()
}

fn fractions(schema: &Map<String, Value>) -> BoxedStrategy<Value> {
    let bound = |key: &str| schema.get(key)?.as_f64();
    let low = bound("minimum").or_else(|| bound("exclusiveMinimum"));
    let high = bound("maximum").or_else(|| bound("exclusiveMaximum"));
    let (low, high) = match (low, high) {
        (Some(low), Some(high)) => (low, high.max(low)),
        (Some(low), None) => (low, low + 1000.0),
        (None, Some(high)) => (high - 1000.0, high),
        (None, None) => (-1000.0, 1000.0),
    };
    (low..=high).prop_map(|number| json!(number)).boxed()
}

/// Merges two schemas into one that requires both, in simple cases.
fn merged(one: &Map<String, Value>, other: &Value) -> Value {
    let Value::Object(other) = other else {
        return Value::Object(one.clone());
    };
    let mut both = one.clone();
    for (key, value) in other {
        match (both.get_mut(key), value) {
            (Some(Value::Object(mine)), Value::Object(theirs)) if key == "properties" => {
                for (name, property) in theirs {
                    mine.insert(name.clone(), property.clone());
                }
            }
            (Some(Value::Array(mine)), Value::Array(theirs)) if key == "required" => {
                mine.extend(theirs.iter().cloned());
            }
            _ => {
                both.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(both)
}
