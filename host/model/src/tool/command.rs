//! Tools that run a program: their definitions, and the command lines that they make of params.

mod word;

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

pub use word::{Part, Word};

/// The tools of a program for `wasi:cli/command`. A component has them, as JSON, in the custom
/// section [`SECTION`](Self::SECTION).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ToolList")]
pub struct CommandTools {
    /// The tools: at least one, with different names.
    #[serde(rename = "tool")]
    tools: Vec<CommandTool>,
}

/// Tools as they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolList {
    #[serde(rename = "tool")]
    tools: Vec<CommandTool>,
}

impl CommandTools {
    /// The name of the custom section.
    pub const SECTION: &'static str = "airlock:command-tools";

    /// Returns the tools.
    pub fn tools(&self) -> &[CommandTool] {
        &self.tools
    }
}

impl TryFrom<Vec<CommandTool>> for CommandTools {
    type Error = String;

    /// # Errors
    /// If there is no tool, or two have the same name.
    fn try_from(tools: Vec<CommandTool>) -> Result<Self, String> {
        if tools.is_empty() {
            return Err("there is no `[[tool]]`".to_owned());
        }
        let mut names = BTreeSet::new();
        match tools.iter().find(|tool| !names.insert(&tool.name)) {
            Some(tool) => Err(format!("two tools are named {:?}", tool.name)),
            None => Ok(Self { tools }),
        }
    }
}

impl TryFrom<ToolList> for CommandTools {
    type Error = String;

    fn try_from(list: ToolList) -> Result<Self, String> {
        list.tools.try_into()
    }
}

/// A tool that runs a program with a command line made of its params.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case")]
pub struct CommandTool {
    /// The name.
    pub name: String,
    /// The name for people. Default: the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The description for models.
    pub description: String,
    /// The JSON Schema of each param, by its name.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// The names of the params that each call has.
    #[serde(default)]
    pub required: Vec<String>,
    /// The arguments of the program, after its name.
    #[serde(default)]
    pub args: Vec<Part>,
    /// The text on its standard input. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Word>,
    /// The title of an action. Default: the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Word>,
    /// True if the tool promises to change nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

/// Read as it is written, and checked.
impl<'de> Deserialize<'de> for CommandTool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The derived function, which is not the trait's.
        let tool = CommandTool::deserialize(deserializer)?;
        tool.check().map_err(de::Error::custom)?;
        Ok(tool)
    }
}

impl Serialize for CommandTool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CommandTool::serialize(self, serializer)
    }
}

impl CommandTool {
    /// Checks that the schema has each param that a template or `required` names.
    fn check(&self) -> Result<(), String> {
        let words = self.args.iter().flat_map(Part::words);
        let words = words.chain(&self.stdin).chain(&self.title);
        let named: BTreeSet<&str> = words.flat_map(Word::params).collect();
        let required = self.required.iter().map(String::as_str);
        let mut named = named.into_iter().chain(required);
        match named.find(|name| !self.params.contains_key(*name)) {
            None => Ok(()),
            Some(other) => Err(format!(
                "tool {:?} has no param {other:?}: add it to `params`, or write {{{{ and }}}} for braces in a text",
                self.name
            )),
        }
    }

    /// Returns the JSON Schema of the params object.
    pub fn schema(&self) -> Value {
        serde_json::json!({
            "type": "object",
            "properties": self.params,
            "required": self.required,
            "additionalProperties": false,
        })
    }

    /// Returns the command line for these params.
    ///
    /// # Errors
    /// [`TooLong`] if it has more than `most` bytes. The template and the params come from
    /// strangers, and a small one can make a huge one of the other.
    pub fn fill(&self, params: &Value, most: usize) -> Result<Filled, TooLong> {
        // A param that is null counts as missing, and has no default.
        let value = |name: &str| {
            let given = params.get(name);
            given.or_else(|| self.params.get(name)?.get("default"))
        };
        let mut room = Room { left: most, most };
        let mut args = Vec::new();
        for part in &self.args {
            part.fill(&value, &mut room, &mut args)?;
        }
        let stdin = match &self.stdin {
            Some(word) => word.text(&value, &mut room)?,
            None => String::new(),
        };
        let is_given = |name| value(name).is_some_and(|value| !value.is_null());
        let title = self.title.as_ref();
        let title = match title.filter(|title| title.params().all(is_given)) {
            Some(title) => Some(title.text(&value, &mut room)?),
            None => None,
        };
        Ok(Filled { args, stdin, title })
    }
}

/// A command line that was made of params.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The arguments, after the program's name.
    pub args: Vec<String>,
    /// The text on standard input.
    pub stdin: String,
    /// The title of an action, if the tool has one and none of its params is missing.
    pub title: Option<String>,
}

/// A command line has too many bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool's command line is longer than {most} bytes")]
pub struct TooLong {
    most: usize,
}

/// The bytes that are left for a command line.
struct Room {
    left: usize,
    most: usize,
}

impl Room {
    fn take(&mut self, bytes: usize) -> Result<(), TooLong> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(TooLong { most: self.most })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(args: Value) -> Result<CommandTool, serde_json::Error> {
        serde_json::from_value(json!({
            "name": "search",
            "description": "Searches",
            "params": {
                "pattern": { "type": "string" },
                "paths": { "type": "array", "items": { "type": "string" } },
                "count": { "type": "integer", "default": 3 },
                "ignore_case": { "type": "boolean" },
            },
            "required": ["pattern"],
            "args": args,
            "title": "Search for {pattern}",
        }))
    }

    #[test]
    fn params_become_arguments() {
        let check = |args: Value, params: Value, expected: &[&str]| {
            let made = tool(args.clone()).unwrap().fill(&params, 1000).unwrap();
            assert_eq!(made.args, expected, "{args} with {params}");
        };
        let pattern = json!({ "pattern": "a b" });
        check(json!([]), json!({}), &[]);
        check(
            json!(["-n", "--", "{pattern}"]),
            pattern.clone(),
            &["-n", "--", "a b"],
        );
        check(
            json!(["--regexp={pattern}"]),
            pattern.clone(),
            &["--regexp=a b"],
        );
        check(json!(["{{pattern}}"]), pattern.clone(), &["{pattern}"]);
        // A word whose param is missing is left out, and a group as a whole.
        check(json!(["a", "{paths}", "b"]), pattern.clone(), &["a", "b"]);
        check(json!([["--in", "{paths}"], "b"]), pattern.clone(), &["b"]);
        check(json!(["{paths}"]), json!({ "paths": null }), &[]);
        // Each item of an array is an argument.
        let paths = json!({ "paths": ["a", "b c"] });
        check(json!(["{paths}"]), paths.clone(), &["a", "b c"]);
        check(json!(["x{paths}"]), paths, &["xa", "xb c"]);
        check(json!([["--in", "{paths}"]]), json!({ "paths": [] }), &[]);
        let both = json!({ "paths": ["a"], "pattern": "p" });
        check(json!(["{paths}{pattern}"]), both, &[r#"["a"]p"#]);
        // A flag has no value.
        let flag = json!([["-i", "{ignore_case}"]]);
        check(flag.clone(), json!({ "ignore_case": true }), &["-i"]);
        check(flag.clone(), json!({ "ignore_case": false }), &[]);
        check(flag, json!({}), &[]);
        check(
            json!(["-i{ignore_case}"]),
            json!({ "ignore_case": true }),
            &["-i"],
        );
        // Numbers are written as JSON, and defaults count.
        check(json!([["-m", "{count}"]]), json!({}), &["-m", "3"]);
        check(json!(["-m{count}"]), json!({ "count": 10 }), &["-m10"]);
        check(json!([["-m", "{count}"]]), json!({ "count": null }), &[]);
    }

    #[test]
    fn a_template_can_only_name_params_that_the_schema_has() {
        let check = |args: Value, says: &str| {
            let error = tool(args.clone()).unwrap_err().to_string();
            assert!(error.contains(says), "{args}: {error}");
        };
        check(
            json!(["{other}"]),
            "has no param \"other\": add it to `params`",
        );
        check(json!([["-x", "{other}"]]), "has no param \"other\"");
        check(json!(["{pattern"]), "`{` without `}`");
        check(json!(["pattern}"]), "`}` without `{`");
        check(json!(["{a b}"]), "\"a b\" is no name of a param");
        check(json!(["{a.b}"]), "\"a.b\" is no name of a param");
    }

    #[test]
    fn a_title_is_a_text_with_params() {
        let tool = tool(json!([])).unwrap();
        let check = |params: Value, expected: Option<&str>| {
            let title = tool.fill(&params, 1000).unwrap().title;
            assert_eq!(title.as_deref(), expected, "{params}");
        };
        check(json!({ "pattern": "x" }), Some("Search for x"));
        check(json!({ "pattern": true }), Some("Search for true"));
        check(json!({ "pattern": null }), None);
        check(json!({}), None);
    }

    #[test]
    fn a_command_line_has_a_limit_before_it_is_made() {
        let check = |args: Value, params: Value| {
            let filled = tool(args.clone()).unwrap().fill(&params, 1 << 20);
            assert_eq!(filled, Err(TooLong { most: 1 << 20 }), "{args:.80}");
        };
        let long = json!({ "pattern": "x".repeat(1 << 19) });
        check(json!(vec!["{pattern}"; 1_000_000]), long.clone());
        check(json!(["{pattern}".repeat(100_000)]), long);
        let many = json!({ "paths": vec!["a"; 100_000] });
        check(json!(["x".repeat(1 << 19) + "{paths}"]), many.clone());
        let empty = json!({ "paths": vec![""; 100_000] });
        check(json!(vec!["{paths}"; 100_000]), empty);
    }

    #[test]
    fn tools_have_different_names() {
        let one = tool(json!([])).unwrap();
        let error = CommandTools::try_from(vec![one.clone(), one]).unwrap_err();
        assert_eq!(error, "two tools are named \"search\"");
        let none = serde_json::from_str::<CommandTools>(r#"{"tool": []}"#);
        assert_eq!(none.unwrap_err().to_string(), "there is no `[[tool]]`");
    }

    #[test]
    fn a_tool_is_read_as_it_was_written() {
        let tool = tool(json!(["-n", ["--in", "{paths}"], "{{{pattern}}}"])).unwrap();
        let tools = CommandTools::try_from(vec![tool]).unwrap();
        let text = serde_json::to_string(&tools).unwrap();
        assert_eq!(serde_json::from_str::<CommandTools>(&text).unwrap(), tools);
    }
}
