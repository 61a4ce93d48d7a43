//! Tool definitions and their checks.

use std::collections::HashSet;

use airlock_model::tool::{RESOLVE, RejectedTool, ToolDefinition};

use super::LoadedTool;
use super::schema::{self, Checks, ParamsSchema, Size};
use crate::world::Definition;

/// Maximum number of tools of a plugin.
const MAX_TOOLS: usize = 1000;

/// Maximum size of a definition, in bytes.
const MAX_DEFINITION_BYTES: usize = 256 << 10;

/// Maximum bytes to keep of a plugin's own reason.
const MAX_REASON_BYTES: usize = 1000;

/// Separates usable tools from unusable ones. Together the usable ones have at most `most` bytes.
pub(super) fn check_all(
    definitions: Vec<Definition>,
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

fn bytes(definition: &Definition) -> usize {
    definition.name.len()
        + definition.label.len()
        + definition.description.len()
        + definition.parameters.len()
        + definition.output.as_ref().map_or(0, String::len)
}

/// Returns the tool, and the memory size of the schema of its params.
fn check(definition: Definition, bytes: usize) -> Result<(ToolDefinition, Size), String> {
    if let Ok(reason) = serde_json::from_str::<String>(&definition.parameters) {
        return Err(by_its_own_account(&reason));
    }
    let name = definition.name;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
        return Err("a tool's name must be 1 to 64 of the characters A-Z a-z 0-9 _ . -".to_owned());
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
        traits: definition.traits,
    };
    Ok((tool, size))
}

/// Checks a native tool, like a plugin's tools.
pub(crate) fn checked_native(tool: ToolDefinition) -> Result<LoadedTool, RejectedTool> {
    let definition = Definition {
        name: tool.name,
        label: tool.label,
        description: tool.description,
        parameters: tool.parameters.as_str().to_owned(),
        output: tool.output.map(|output| output.as_str().to_owned()),
        traits: tool.traits,
    };
    let (tools, rejected) = check_all(vec![definition], MAX_DEFINITION_BYTES);
    match (tools.into_iter().next(), rejected.into_iter().next()) {
        (_, Some(rejected)) => Err(rejected),
        (Some(tool), None) => Ok(LoadedTool::new(tool, &Checks::new())),
        (None, None) => Err(RejectedTool::new("", "it is missing")),
    }
}

/// Returns a plugin's own reason why one of its tools can't be used, marked as the plugin's words.
fn by_its_own_account(reason: &str) -> String {
    format!("the plugin says: {}", cut_reason(reason))
}

/// Returns a text of a plugin on one line, of a length that people read.
pub(super) fn cut_reason(reason: &str) -> String {
    let mut text = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.len() > MAX_REASON_BYTES {
        text.truncate(text.floor_char_boundary(MAX_REASON_BYTES));
        text.push('…');
    }
    text
}

impl LoadedTool {
    /// Compiles the params schema. All tools of a plugin share one `checks`.
    pub fn new(definition: ToolDefinition, checks: &Checks) -> Self {
        let params = ParamsSchema::new(definition.parameters.clone(), checks);
        Self { definition, params }
    }
}
