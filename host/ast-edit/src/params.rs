//! The tool's params, and its description for a model.

use airlock_host::Error;
use airlock_host::error::Violation;
use airlock_host::json::Json;
use airlock_host::tool::{ToolDefinition, ToolTraits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::code::Op;
use crate::code::language::{self, Language};

/// The name of the tool.
pub(crate) const NAME: &str = "ast_edit";

/// The params. They are also the part of the durable state that is executed again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    pub ops: Vec<Op>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl Params {
    /// Reads params that fit the schema.
    pub fn read(params: &Value) -> Result<Self, Error> {
        let params = Self::deserialize(params).map_err(|error| invalid("", error.to_string()))?;
        for (index, op) in params.ops.iter().enumerate() {
            let finds_the_same = |other: &Op| {
                other.pat == op.pat && other.selector == op.selector && other.context == op.context
            };
            if let Some(first) = params.ops[..index].iter().position(finds_the_same) {
                let what = if params.ops[first].out == op.out {
                    "it is the same op as"
                } else {
                    "it finds the same as"
                };
                return Err(invalid(
                    &format!("/ops/{index}"),
                    format!("{what} /ops/{first}; leave one of them out"),
                ));
            }
        }
        Ok(params)
    }

    /// Returns the named language.
    pub fn language(&self) -> Result<Option<Language>, Error> {
        let Some(name) = &self.lang else {
            return Ok(None);
        };
        match Language::named(name) {
            Some(language) => Ok(Some(language)),
            None => {
                let known = language::names();
                Err(invalid(
                    "/lang",
                    format!("there is no language {name:?} here; there are: {known}"),
                ))
            }
        }
    }

    pub fn limit(&self) -> usize {
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        limit.unwrap_or(usize::MAX)
    }
}

/// Returns the error for params that fit the schema but are otherwise invalid.
pub(crate) fn invalid(path: &str, message: impl Into<String>) -> Error {
    Error::InvalidParams {
        tool: NAME.to_owned(),
        violations: vec![Violation {
            path: path.to_owned(),
            message: message.into(),
        }],
    }
}

pub(crate) fn definition() -> ToolDefinition {
    let mut traits = ToolTraits::default();
    traits.deferrable = true;
    traits.idempotent = true;
    ToolDefinition {
        name: NAME.to_owned(),
        label: "AST Edit".to_owned(),
        description: "Rewrites code by its structure, in many files at once. `pat` is a piece of code in which `$NAME` stands \
            for any one node and `$$$NAME` for any number of them (arguments, statements); `out` is what replaces it, with the same \
            names. For example, pat `$A && $A()` and out `$A?.()`, or pat `foo($X, $$$REST)` and out `bar($X, $$$REST)`. \
            Layout and comments inside a match don't matter, strings and names do. A name that is used twice must match the same \
            code twice; `$_` and `$$$` match without a name. In Bash and PHP, `\\$NAME` is the language's own variable. A match is left as it is, \
            and listed with the reason, if it is near a syntax error, if it has code that `pat` doesn't have (such as `async`), or if the \
            replacement would be a syntax error or change what other code means; missing parentheses are added. Nothing is written: the result is a preview as a unified diff, and \
            `resolve` applies or discards it. An apply is refused if the lines it edits have changed since."
            .to_owned(),
        parameters: Json::of_own(&json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "ops": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 100,
                    "description": "the rewrites, all done on the files as they are now: none sees what another one made. \
                        Where two of them would change the same place, nothing is done; make two calls then",
                    "items": {
                        "type": "object",
                        "properties": {
                            "pat": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": 20_000,
                                "description": "the code to find: one expression, statement, declaration or element, complete, with \
                                    `$NAME` and `$$$NAME` (capital letters, digits and _) where it may vary; in JSON, `\"$NAME\"` for any string. Where one match lies inside \
                                    another, only the outer one is replaced"
                            },
                            "context": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": 20_000,
                                "description": "code that has `pat` in it once, where `pat` by itself would be something else or nothing, such as a method, \
                                    a field, a case or an attribute: pat `$F = $V` with context `class A { $F = $V }`. Only `pat` is found and replaced"
                            },
                            "selector": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": 200,
                                "description": "the kind of the node that is meant, in the grammar's words, such as `field_definition`: the first of that kind in `pat`, or \
                                    in `context` where `pat` stands. Only that is found and replaced, as in a rule of ast-grep"
                            },
                            "out": {
                                "type": "string",
                                "maxLength": 200_000,
                                "description": "the code to put there; empty to remove it. It may use the names of `pat`, `$NAME` and \
                                    `$$$NAME` as they are there. Lines are indented as the place is"
                            }
                        },
                        "required": ["pat", "out"],
                        "additionalProperties": false
                    }
                },
                "paths": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 1000,
                    "items": {"type": "string", "minLength": 1, "maxLength": 4096},
                    "description": "which files: paths of files or folders from the workspace down, or globs such as `src/**/*.ts`; \
                        default: the whole workspace. Left out unless a path names them: files that .gitignore names, hidden ones, and folders of \
                        dependencies and builds (node_modules, vendor, and target, build, dist and out at the top or beside a project's manifest)"
                },
                "lang": {
                    "type": "string",
                    "description": format!("the language of `pat`, one of: {}; only files in it are searched, but those that \
                        `paths` names or matches with a glob are taken for it whatever their names. Default: each file's own by its name, and \
                        an op is done in those languages in which its `pat` can be read", language::names())
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "the most replacements to make, by the order of paths and of places in a file; what is found beyond \
                        it is counted in the result and left as it is. Default: no limit"
                }
            },
            "required": ["ops"],
            "additionalProperties": false
        })),
        output: None,
        traits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airlock_host::json::Schema;
    use airlock_host::load::Misfit;

    #[test]
    fn params_that_dont_fit_are_refused_by_the_schema() {
        let schema = Schema::new(&definition().parameters).unwrap();
        let check = |params: Value, at: Option<&str>| {
            let violations = match schema.check(&params, 10_000) {
                Err(Misfit::Violations(violations)) => violations,
                other => other.map(|()| Vec::new()).unwrap(),
            };
            let path = violations.first().map(|violation| violation.path.as_str());
            assert_eq!(path, at, "{params}");
        };
        let ops = || json!([{"pat": "a", "out": "b"}]);
        check(json!({"ops": ops()}), None);
        check(
            json!({"ops": [{"pat": "a", "out": ""}], "paths": ["src"], "lang": "rust", "limit": 3}),
            None,
        );
        check(json!({}), Some(""));
        check(json!({"ops": []}), Some("/ops"));
        check(
            json!({"ops": [{"pat": "", "out": "b"}]}),
            Some("/ops/0/pat"),
        );
        check(json!({"ops": [{"pat": "a"}]}), Some("/ops/0"));
        check(
            json!({"ops": [{"pat": "a", "out": "b", "to": "c"}]}),
            Some("/ops/0"),
        );
        check(json!({"ops": ops(), "dryRun": false}), Some(""));
        check(json!({"ops": ops(), "paths": []}), Some("/paths"));
        check(json!({"ops": ops(), "paths": "src"}), Some("/paths"));
        check(json!({"ops": ops(), "limit": 0}), Some("/limit"));
        check(json!({"ops": ops(), "limit": 1.5}), Some("/limit"));
    }

    #[test]
    fn what_fits_the_schema_can_be_read_back_as_it_was_written() {
        let params = json!({"ops": [{"pat": "a", "out": "b"}], "paths": ["src"], "limit": 2});
        let read = Params::read(&params).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), params);
        assert_eq!(read.limit(), 2);
    }

    #[test]
    fn an_unknown_language_is_refused_with_those_that_there_are() {
        let params = json!({"ops": [{"pat": "a", "out": "b"}], "lang": "cobol"});
        let error = Params::read(&params).unwrap().language().unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("/lang: there is no language \"cobol\""),
            "{message}"
        );
        assert!(message.contains("rust, "), "{message}");
    }
}
