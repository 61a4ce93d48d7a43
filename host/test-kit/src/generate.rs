//! Generates params from a tool's schema: some that fit, and some that almost do.

mod mutate;
mod strategy;
mod text;
mod vocabulary;

use airlock_host::tool::ToolDefinition;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use super::schema::Schema;
use mutate::mutations;

pub use vocabulary::{Vocabulary, names_files};

/// Number of attempts to draw a value that fits. A schema can have requirements that the generator
/// can't see.
const ATTEMPTS: usize = 50;

/// The interval of values that may violate the schema: one in this many.
const SPOILED: usize = 4;

/// Generates params for one tool. The same seed gives the same params.
pub struct Generator {
    strategy: BoxedStrategy<Value>,
    schema: Option<Schema>,
    runner: TestRunner,
    drawn: usize,
}

impl Generator {
    /// Creates a generator. `known` has texts that a tool is likely to know, such as file names.
    pub fn new(tool: &ToolDefinition, known: &Vocabulary, seed: u64) -> Self {
        // Each tool has its own random sequence, so testing one tool alone repeats it.
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        for (index, byte) in tool.name.bytes().enumerate() {
            bytes[8 + index % 24] ^= byte.rotate_left((index / 24) as u32);
        }
        let parameters = tool.parameters.value();
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Self {
            strategy: strategy::of(&parameters, known),
            schema: Schema::new(&tool.parameters),
            runner: TestRunner::new_with_rng(Config::default(), rng),
            drawn: 0,
        }
    }

    /// Returns the next value. It is always an object, because params are always objects.
    pub fn draw(&mut self) -> Value {
        self.drawn += 1;
        let value = self.draw_fitting();
        if !self.drawn.is_multiple_of(SPOILED) {
            return value;
        }
        let candidates: Vec<Value> = mutations(&value);
        draw(&mut self.runner, &select(candidates)).unwrap_or(value)
    }

    fn draw_fitting(&mut self) -> Value {
        let mut last = Value::Object(Default::default());
        for _ in 0..ATTEMPTS {
            let Some(value) = draw(&mut self.runner, &self.strategy) else {
                continue;
            };
            let fits = self.schema.as_ref().is_none_or(|it| it.fits(&value));
            if value.is_object() {
                last = value;
            }
            if fits {
                break;
            }
        }
        last
    }
}

/// Draws a value. Returns `None` if the strategy gives up, as a filter may.
fn draw<S: Strategy<Value = Value>>(runner: &mut TestRunner, strategy: &S) -> Option<Value> {
    let tree = strategy.new_tree(runner).ok()?;
    Some(tree.current())
}

#[cfg(test)]
mod tests {
    use airlock_host::tool::resolve_tool;
    use serde_json::json;

    use super::*;
    use crate::files::Files;

    fn tool(parameters: Value) -> ToolDefinition {
        ToolDefinition {
            parameters: parameters.try_into().unwrap(),
            ..resolve_tool()
        }
    }

    fn drawn(parameters: Value, seed: u64, count: usize) -> Vec<Value> {
        let mut files = Files::default();
        files.add_file("docs/notes.txt", "some words");
        let known = Vocabulary::of(&files);
        let mut generator = Generator::new(&tool(parameters), &known, seed);
        (0..count).map(|_| generator.draw()).collect()
    }

    /// Returns typical schemas of tools, and some difficult ones.
    fn schemas() -> Vec<Value> {
        vec![
            json!({"type": "object"}),
            json!({
                "type": "object",
                "properties": {
                    "files": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                    "mode": {"enum": ["a", "b"]},
                    "count": {"type": "integer", "minimum": 1, "maximum": 10},
                    "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                    "step": {"type": "integer", "multipleOf": 5},
                    "where": {"type": "string", "pattern": "^[a-z/]+$"},
                    "name": {"type": ["string", "null"], "minLength": 3, "maxLength": 5}
                },
                "required": ["files", "mode", "count", "ratio", "step", "where", "name"],
                "additionalProperties": false
            }),
            json!({
                "type": "object",
                "$defs": {
                    "tree": {
                        "type": "object",
                        "properties": {
                            "left": {"$ref": "#/$defs/tree"},
                            "right": {"$ref": "#/$defs/tree"},
                            "value": {"type": "boolean"}
                        },
                        "required": ["value"]
                    }
                },
                "properties": {"tree": {"$ref": "#/$defs/tree"}},
                "required": ["tree"]
            }),
            json!({
                "type": "object",
                "oneOf": [
                    {"properties": {"kind": {"const": "a"}, "a": {"type": "integer"}}, "required": ["kind", "a"]},
                    {"properties": {"kind": {"const": "b"}, "b": {"type": "string"}}, "required": ["kind", "b"]}
                ]
            }),
            json!({
                "type": "object",
                "allOf": [
                    {"properties": {"x": {"type": "integer"}}, "required": ["x"]},
                    {"properties": {"y": {"prefixItems": [{"type": "string"}, {"type": "null"}], "items": false, "minItems": 2, "type": "array"}}, "required": ["y"]}
                ]
            }),
        ]
    }

    #[test]
    fn most_of_what_is_drawn_fits_and_the_rest_nearly_does() {
        for parameters in schemas() {
            let schema = Schema::new(&parameters.clone().try_into().unwrap()).unwrap();
            let values = drawn(parameters.clone(), 1, 200);
            let fitting = values.iter().filter(|value| schema.fits(value)).count();
            assert!(fitting >= 150, "{fitting} of 200 fit {parameters}");
            assert!(values.iter().all(Value::is_object), "{parameters}");
        }
    }

    #[test]
    fn a_seed_repeats_what_is_drawn_and_another_does_not() {
        for parameters in schemas() {
            assert_eq!(
                drawn(parameters.clone(), 7, 40),
                drawn(parameters.clone(), 7, 40)
            );
            assert_ne!(
                drawn(parameters.clone(), 7, 40),
                drawn(parameters.clone(), 8, 40),
                "{parameters}"
            );
        }
    }

    #[test]
    fn names_of_files_and_edges_of_ranges_are_among_what_is_drawn() {
        let parameters = schemas().swap_remove(1);
        let values = drawn(parameters, 3, 300);
        let has = |test: &dyn Fn(&Value) -> bool| values.iter().any(test);
        assert!(has(&|value| value["count"] == 1));
        assert!(has(&|value| value["count"] == 10));
        let in_range = |count: &Value| count.as_i64().is_some_and(|it| (1..=10).contains(&it));
        assert!(has(&|value| !in_range(&value["count"])));
        assert!(has(&|value| value["files"][0] == "docs/notes.txt"));
        assert!(has(&|value| value.get("mode").is_none()));
    }

    #[test]
    fn a_property_for_files_gets_the_workspaces_own_names_and_globs_far_more_often() {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "globs": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "where": {"$ref": "#/$defs/where"},
                "text": {"type": "string"},
            },
            "$defs": {"where": {"type": ["string", "null"], "description": "A folder."}},
            "required": ["path", "globs", "where", "text"],
        });
        let values = drawn(parameters, 1, 400);
        let known = [
            "docs",
            "docs/notes.txt",
            "*",
            "**/*",
            "*.txt",
            "**/*.txt",
            "docs/*",
        ];
        let count = |of: &dyn Fn(&Value) -> &Value, known: &[&str]| {
            let is_known =
                |value: &&Value| of(value).as_str().is_some_and(|it| known.contains(&it));
            values.iter().filter(is_known).count()
        };
        let check = |of: &dyn Fn(&Value) -> &Value, least: usize| {
            let found = count(of, &known);
            assert!(found >= least, "{found} of 400");
            for text in ["docs", "docs/notes.txt", "**/*.txt", "docs/*"] {
                assert!(count(of, &[text]) > 0, "{text}");
            }
            assert!(found < 380, "other texts are tried, too: {found} of 400");
        };
        check(&|value| &value["path"], 200);
        check(&|value| &value["globs"][0], 200);
        check(&|value| &value["where"], 100);
        // This property does not look like a file name.
        assert_eq!(count(&|value| &value["text"], &["**/*.txt", "docs/*"]), 0);
    }

    #[test]
    fn a_schema_that_nothing_fits_ends_too() {
        let parameters = json!({
            "type": "object",
            "properties": {"x": {"type": "string", "pattern": "(", "not": {}}},
            "required": ["x"],
            "not": {}
        });
        assert_eq!(drawn(parameters, 1, 8).len(), 8);
    }
}
