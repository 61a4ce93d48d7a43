//! What a tool says of itself, and the checks that it has to pass.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::LoadedTool;
use super::schema::{self, Checks, ParamsSchema, Size};
use crate::instance::bindings::types;
use crate::json::Json;

/// The most tools that a plugin may define.
const MAX_TOOLS: usize = 1000;

/// The most bytes that one definition may have.
const MAX_DEFINITION_BYTES: usize = 256 << 10;

/// How many bytes of a plugin's own reason are kept.
const MAX_REASON_BYTES: usize = 1000;

/// The host's own tool, which a plugin can't define.
pub(crate) const RESOLVE: &str = "resolve";

/// One tool, as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// Unique in a session.
    pub name: String,
    /// What a person reads in a list.
    pub label: String,
    /// What a model reads.
    pub description: String,
    /// JSON Schema (2020-12) of the params object.
    pub parameters: Json,
    /// JSON Schema of the result's details, where the tool promises one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Hints about what the tool does.
    pub traits: ToolTraits,
}

/// Hints about what a tool does, by its own account. The sandbox doesn't rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolTraits {
    /// Left out of listings.
    pub hidden: bool,
    /// May push pending actions.
    pub deferrable: bool,
    /// Never changes anything.
    pub read_only: bool,
    /// What it does can't be undone by calling it again.
    pub destructive: bool,
    /// Applying an action twice has the effect of applying it once.
    pub idempotent: bool,
    /// Reaches beyond the workspace.
    pub open_world: bool,
}

impl ToolTraits {
    /// The names of those that are set, in the world's spelling.
    pub fn names(&self) -> Vec<&'static str> {
        [
            (self.hidden, "hidden"),
            (self.deferrable, "deferrable"),
            (self.read_only, "read-only"),
            (self.destructive, "destructive"),
            (self.idempotent, "idempotent"),
            (self.open_world, "open-world"),
        ]
        .into_iter()
        .filter_map(|(set, name)| set.then_some(name))
        .collect()
    }
}

impl From<types::ToolTraits> for ToolTraits {
    fn from(traits: types::ToolTraits) -> Self {
        Self {
            hidden: traits.contains(types::ToolTraits::HIDDEN),
            deferrable: traits.contains(types::ToolTraits::DEFERRABLE),
            read_only: traits.contains(types::ToolTraits::READ_ONLY),
            destructive: traits.contains(types::ToolTraits::DESTRUCTIVE),
            idempotent: traits.contains(types::ToolTraits::IDEMPOTENT),
            open_world: traits.contains(types::ToolTraits::OPEN_WORLD),
        }
    }
}

/// A tool that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RejectedTool {
    /// The name that it asked for, cut where it is very long.
    pub name: String,
    /// What is wrong with it, in a sentence.
    pub reason: String,
}

impl RejectedTool {
    fn new(name: &str, reason: impl Into<String>) -> Self {
        Self {
            name: name.chars().take(80).collect(),
            reason: reason.into(),
        }
    }

    /// The tool's name is, or looks like, one of the host's or of a plugin that comes with it.
    pub(super) fn reserved(name: &str, reserved: &str) -> Self {
        let reason = match (name == reserved, reserved) {
            (true, RESOLVE) => "the name `resolve` is the host's own".to_owned(),
            (true, _) => format!("the name `{reserved}` is that of a bundled tool"),
            (false, _) => format!("the name looks like that of the host's tool `{reserved}`"),
        };
        Self::new(name, reason)
    }

    /// The tool's name is taken. The text is the contract's.
    pub(crate) fn conflict(name: &str) -> Self {
        Self::new(
            name,
            format!("Tool name \"{name}\" conflicts with existing tool"),
        )
    }
}

impl fmt::Display for RejectedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool {:?}: {}", self.name, self.reason)
    }
}

/// Parts the tools that can be used from those that can't. Together they have no more than so many bytes.
pub(super) fn check_all(
    definitions: Vec<types::ToolDefinition>,
    most: usize,
) -> (Vec<ToolDefinition>, Vec<RejectedTool>) {
    let mut tools = Vec::new();
    let mut rejected = Vec::new();
    let mut names = HashSet::new();
    let mut left = most;
    let mut size = Size::default();
    let surplus = definitions.len().saturating_sub(MAX_TOOLS);
    for definition in definitions.into_iter().take(MAX_TOOLS) {
        let name = definition.name.clone();
        let bytes = bytes(&definition);
        if bytes > left {
            let before = most - left;
            let reason = format!(
                "its definition is {bytes} bytes, and those before it are {before}; the limit is {most} for all"
            );
            rejected.push(RejectedTool::new(&name, reason));
            continue;
        }
        left -= bytes;
        let checked = check(definition, bytes).and_then(|(tool, its)| {
            size = size.plus(its)?;
            Ok(tool)
        });
        match checked {
            Ok(_) if names.contains(&name) => rejected.push(RejectedTool::conflict(&name)),
            Ok(tool) => {
                names.insert(name);
                tools.push(tool);
            }
            Err(reason) => rejected.push(RejectedTool::new(&name, reason)),
        }
    }
    if surplus > 0 {
        let reason =
            format!("a plugin may define {MAX_TOOLS} tools, and this one defines {surplus} more");
        rejected.push(RejectedTool::new("…", reason));
    }
    (tools, rejected)
}

fn bytes(definition: &types::ToolDefinition) -> usize {
    definition.name.len()
        + definition.label.len()
        + definition.description.len()
        + definition.parameters.len()
        + definition.output.as_ref().map_or(0, String::len)
}

/// The tool, and what the schema of its params takes of memory.
fn check(
    definition: types::ToolDefinition,
    bytes: usize,
) -> Result<(ToolDefinition, Size), String> {
    if let Ok(reason) = serde_json::from_str::<String>(&definition.parameters) {
        return Err(by_its_own_account(&reason));
    }
    let name = definition.name;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
        return Err("a tool's name has 1 to 64 of the characters A-Z a-z 0-9 _ . -".to_owned());
    }
    if name == RESOLVE {
        return Err("the name `resolve` is the host's own".to_owned());
    }
    if bytes > MAX_DEFINITION_BYTES {
        return Err(format!(
            "its definition is {bytes} bytes; the limit is {MAX_DEFINITION_BYTES}"
        ));
    }
    if definition.label.trim().is_empty() || definition.label.contains(['\n', '\r']) {
        return Err("its label is not one line of text".to_owned());
    }
    if definition.description.trim().is_empty() {
        return Err("its description is empty".to_owned());
    }
    let (parameters, size) = schema::parse("parameters", &definition.parameters)?;
    if !schema::is_of_objects(&parameters) {
        return Err("the `type` of its parameters schema is not \"object\"".to_owned());
    }
    let output = match definition.output {
        Some(output) => Some(schema::parse("output", &output)?.0),
        None => None,
    };
    let tool = ToolDefinition {
        name,
        label: definition.label,
        description: definition.description,
        parameters,
        output,
        traits: definition.traits.into(),
    };
    Ok((tool, size))
}

/// Why a plugin says that a tool of its can't be used, marked as its words.
fn by_its_own_account(reason: &str) -> String {
    let mut text = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() > MAX_REASON_BYTES {
        text.truncate(text.floor_char_boundary(MAX_REASON_BYTES));
        text.push('…');
    }
    format!("the plugin says: {text}")
}

impl LoadedTool {
    /// The tools of a plugin have one `checks`.
    pub fn new(definition: ToolDefinition, checks: &Checks) -> Self {
        let params = ParamsSchema::new(definition.parameters.clone(), checks);
        Self { definition, params }
    }
}

/// The host's own tool.
pub(crate) fn resolve_definition() -> ToolDefinition {
    ToolDefinition {
        name: RESOLVE.to_owned(),
        label: "Resolve".to_owned(),
        description: "Finalizes a pending action: `apply` makes the previewed changes, `discard` drops them. \
            Without an `id` it is the topmost action, the one that was previewed last."
            .to_owned(),
        parameters: Json::of_own(&json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["apply", "discard"],
                    "description": "apply the previewed changes, or discard them"
                },
                "reason": {
                    "type": "string",
                    "description": "why: it is shown to the user and passed to the tool"
                },
                "extra": {
                    "type": "object",
                    "description": "free-form values for the tool that made the preview"
                },
                "id": {
                    "type": "string",
                    "description": "which pending action; the topmost where left out"
                }
            },
            "required": ["action", "reason"],
            "additionalProperties": false
        })),
        output: None,
        traits: ToolTraits {
            hidden: true,
            destructive: true,
            ..ToolTraits::default()
        },
    }
}
