//! A JSON Schema as a list of params. It is a summary: the schema has the rest.

pub mod given;
pub mod table;
pub mod typed;

use std::fmt;

use serde_json::Value;
use typed::Typed;

/// The most levels of nested objects that are followed, because a schema may refer to itself.
const DEPTH: usize = 4;

/// The most values of an enumeration that are listed.
const VALUES: usize = 8;

/// A param, described in the guest's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub place: ParamPath,
    pub kind: String,
    /// The way to parse it from a word.
    pub typed: Typed,
    /// True if its object requires it.
    pub required: bool,
    pub description: String,
}

/// The path of a param: the names of the objects around it, and its own. Displays as `where.path`,
/// and in a list of objects as `ops[].pat`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParamPath(Vec<Part>);

/// A step of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Name(String),
    /// The items of a list.
    Items,
}

impl ParamPath {
    fn then(&self, part: Part) -> Self {
        Self(self.0.iter().cloned().chain([part]).collect())
    }

    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Returns whether this is a member of `other`, or of each item of it.
    pub fn is_directly_in(&self, other: &ParamPath) -> bool {
        let inner = match self.0.strip_prefix(&*other.0) {
            Some([Part::Items, inner @ ..]) => inner,
            Some(inner) => inner,
            None => return false,
        };
        matches!(inner, [Part::Name(_)])
    }

    /// Returns whether this lies in `other`, at any depth.
    pub fn is_in(&self, other: &ParamPath) -> bool {
        self.0.len() > other.0.len() && self.0.starts_with(&other.0)
    }
}

impl fmt::Display for ParamPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            match part {
                Part::Name(name) if index == 0 => f.write_str(name)?,
                Part::Name(name) => write!(f, ".{name}")?,
                Part::Items => f.write_str("[]")?,
            }
        }
        Ok(())
    }
}

/// Returns the params of an object's schema, each before its members.
pub fn of(schema: &Value) -> Vec<Param> {
    let mut params = Vec::new();
    Reader { root: schema }.read(schema, &ParamPath::default(), DEPTH, &mut params);
    params
}

/// A reader of one schema, which resolves references in its root.
struct Reader<'a> {
    root: &'a Value,
}

impl<'a> Reader<'a> {
    fn read(&self, schema: &'a Value, inside: &ParamPath, depth: usize, params: &mut Vec<Param>) {
        let schema = self.follow(schema);
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return;
        };
        let required = |name: &str| {
            let names = schema.get("required").and_then(Value::as_array);
            names.is_some_and(|names| names.iter().any(|required| required == name))
        };
        for (name, property) in properties {
            let place = inside.then(Part::Name(name.clone()));
            params.push(Param {
                place: place.clone(),
                kind: self.kind(property, depth),
                typed: self.typed(property, depth),
                required: required(name),
                description: self.description(property),
            });
            if depth > 1 {
                self.read(property, &place, depth - 1, params);
                if let Some(items) = self.follow(property).get("items") {
                    self.read(items, &place.then(Part::Items), depth - 1, params);
                }
            }
        }
    }

    /// Returns the target of a reference within the schema.
    fn follow(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        // A reference may lead to another one, even in a circle.
        for _ in 0..DEPTH {
            let target = schema
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| self.root.pointer(reference.strip_prefix('#')?));
            match target {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    fn kind(&self, schema: &'a Value, depth: usize) -> String {
        let schema = self.follow(schema);
        if depth == 0 {
            return "…".to_owned();
        }
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let mut listed: Vec<_> = values.iter().take(VALUES).map(Value::to_string).collect();
            if values.len() > VALUES {
                listed.push("…".to_owned());
            }
            return listed.join(" | ");
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                return self.any_of(choices, depth);
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.kind_name(name, schema, depth),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                let kinds: Vec<_> = names
                    .map(|name| self.kind_name(name, schema, depth))
                    .collect();
                kinds.join(" | ")
            }
            _ => "any".to_owned(),
        }
    }

    fn any_of(&self, choices: &'a [Value], depth: usize) -> String {
        let mut kinds: Vec<String> = Vec::new();
        for choice in choices.iter().take(VALUES) {
            let kind = self.kind(choice, depth - 1);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if choices.len() > VALUES {
            kinds.push("…".to_owned());
        }
        kinds.join(" | ")
    }

    fn kind_name(&self, name: &str, schema: &'a Value, depth: usize) -> String {
        match (name, schema.get("items")) {
            ("array", Some(items)) => {
                let kind = self.kind(items, depth - 1);
                if kind.contains(" | ") {
                    format!("array of ({kind})")
                } else {
                    format!("array of {kind}")
                }
            }
            _ => name.to_owned(),
        }
    }

    /// Returns the description. A property's own takes precedence over its reference's.
    fn description(&self, property: &'a Value) -> String {
        let text = |schema: &Value| {
            schema
                .get("description")
                .and_then(Value::as_str)
                .map(joined)
        };
        let mut description = text(property)
            .or_else(|| text(self.follow(property)))
            .unwrap_or_default();
        if let Some(default) = property.get("default") {
            let space = if description.is_empty() { "" } else { " " };
            description += &format!("{space}Default: {default}");
        }
        description
    }
}

/// Removes the line breaks of a source file from a description.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks params in the form `name: kind`, with `!` if required and the description in
    /// parentheses.
    #[track_caller]
    fn check(properties: Value, expected: &[&str]) {
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": ["must"],
            "$defs": {
                "Mode": {"type": "string", "enum": ["fast", "safe"], "description": "How"},
                "Tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Tree"}}},
                "Loop": {"$ref": "#/$defs/Loop"},
            },
        });
        let params = of(&schema).into_iter().map(|param| {
            let mark = if param.required { "!" } else { "" };
            let description = match param.description.as_str() {
                "" => String::new(),
                text => format!(" ({text})"),
            };
            format!("{}{mark}: {}{description}", param.place, param.kind)
        });
        assert_eq!(params.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_param_is_listed_with_what_it_takes() {
        check(json!({"must": {"type": "string"}}), &["must!: string"]);
        check(
            json!({"a": {"type": ["integer", "null"]}}),
            &["a: integer | null"],
        );
        check(json!({"a": true}), &["a: any"]);
        check(json!({"a": {"const": 1}}), &["a: 1"]);
        check(json!({"a": {"enum": ["x", 2]}}), &[r#"a: "x" | 2"#]);
        check(
            json!({"a": {"type": "array", "items": {"type": "string"}}}),
            &["a: array of string"],
        );
        check(
            json!({"a": {"type": "array", "items": {"type": ["string", "null"]}}}),
            &["a: array of (string | null)"],
        );
        check(
            json!({"a": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}]}}),
            &[r#"a: "fast" | "safe" | null"#],
        );
    }

    #[test]
    fn descriptions_and_defaults_are_shown_in_one_line() {
        check(
            json!({"a": {"type": "integer", "description": "How\n  often.", "default": 3}}),
            &["a: integer (How often. Default: 3)"],
        );
        check(
            json!({"a": {"$ref": "#/$defs/Mode"}}),
            &[r#"a: "fast" | "safe" (How)"#],
        );
        check(
            json!({"a": {"$ref": "#/$defs/Mode", "description": "Mine"}}),
            &[r#"a: "fast" | "safe" (Mine)"#],
        );
    }

    #[test]
    fn objects_are_followed_down_to_a_depth() {
        check(
            json!({"where": {"type": "object", "properties": {"path": {"type": "string"}}}}),
            &["where: object", "where.path: string"],
        );
        check(
            json!({"all": {"type": "array", "items": {
                "type": "object", "properties": {"from": {"type": "string"}},
            }}}),
            &["all: array of object", "all[].from: string"],
        );
        check(
            json!({"tree": {"$ref": "#/$defs/Tree"}}),
            &[
                "tree: object",
                "tree.child: object",
                "tree.child.child: object",
                "tree.child.child.child: object",
            ],
        );
        check(json!({"a": {"$ref": "#/$defs/Loop"}}), &["a: any"]);
        check(json!({"a": {"$ref": "https://example.com"}}), &["a: any"]);
    }

    #[test]
    fn an_object_without_properties_has_no_params() {
        let none = of(&json!({"type": "object"}));
        assert_eq!(none, []);
    }
}
