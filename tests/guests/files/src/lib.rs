//! A tool that does what scripts of `wasi:filesystem` calls say, without the standard library in
//! between, and tells every answer: so that a host can be compared with another one.
//!
//! The tool `files` takes `{"scripts": […]}` and runs them, or `{"measure": …}` and tells how long
//! a call takes; with `"push": "a label"` it pushes an action that does so when it is applied.

mod measure;
mod run;
mod script;

wit_bindgen::generate!({ world: "custom-tool", path: "../../../wit/0.1.0" });

use serde::{Deserialize, Serialize};

use airlock::tool::pending_actions::{PendingAction, push_pending_action};
use airlock::tool::types::{Content, ToolDefinition, ToolError, ToolResult, ToolTraits};
use exports::airlock::tool::resolver::{self, Resolution};
use exports::airlock::tool::tool;
use measure::Measure;
use script::Script;

/// Loose on purpose: what a script may hold is this tool's business.
const PARAMETERS: &str = r#"{
    "type": "object",
    "properties": {
        "scripts": {"type": "array"},
        "measure": {"type": "object"},
        "push": {"type": "string"}
    },
    "additionalProperties": false
}"#;

#[derive(Deserialize)]
struct Params {
    #[serde(flatten)]
    work: Work,
    /// The action's label.
    push: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Work {
    Scripts(Vec<Script>),
    Measure(Measure),
}

struct Files;

impl tool::Guest for Files {
    fn definitions() -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "files".into(),
            label: "Files".into(),
            description: "Does what scripts of filesystem calls say.".into(),
            parameters: PARAMETERS.into(),
            output: None,
            traits: ToolTraits::DEFERRABLE | ToolTraits::DESTRUCTIVE,
        }]
    }

    fn execute(_call_id: String, _name: String, params: String) -> Result<ToolResult, ToolError> {
        let params: Params = serde_json::from_str(&params).map_err(failed)?;
        let Some(label) = params.push else {
            return params.work.done();
        };
        push_pending_action(&PendingAction {
            label,
            source_tool_name: Some("files".into()),
            details: None,
            has_reject: false,
            state: Some(serde_json::to_vec(&params.work).map_err(failed)?),
        })
        .map_err(failed)?;
        Ok(ToolResult {
            content: vec![Content::Text("1 action pushed".into())],
            details: None,
        })
    }
}

impl resolver::Guest for Files {
    fn apply(resolution: Resolution) -> Result<ToolResult, ToolError> {
        let state = resolution.state.unwrap_or_default();
        let work: Work = serde_json::from_slice(&state).map_err(failed)?;
        work.done()
    }

    fn reject(_: Resolution) -> Result<Option<ToolResult>, ToolError> {
        Ok(None)
    }
}

impl Work {
    /// A text for each script, or of how many nanoseconds it took.
    fn done(&self) -> Result<ToolResult, ToolError> {
        let texts = match self {
            Work::Scripts(scripts) => scripts.iter().map(run::run).collect(),
            Work::Measure(measure) => {
                vec![measure::measure(measure).map_err(failed)?.to_string()]
            }
        };
        Ok(ToolResult {
            content: texts.into_iter().map(Content::Text).collect(),
            details: None,
        })
    }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(format!("files: {error}"))
}

#[allow(unsafe_code, reason = "bindings export unsafe functions")]
const _: () = {
    export!(Files);
};
