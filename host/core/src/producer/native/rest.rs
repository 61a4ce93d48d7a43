//! The tool that keeps the rest of an action pending, after a part of it was applied.
//!
//! Only the host calls it. Its params have the contents from the layer of the apply, so the
//! plugin isn't run again.

use std::sync::OnceLock;

use airlock_model::content::{Content, ToolResult};
use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::tool::{ToolDefinition, ToolTraits};
use serde_json::{Value, json};

use super::{
    ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
};
use crate::workspace::{Step, WritableFolder};

/// The name of the tool.
const REST: &str = "rest";

struct Rest;

/// Returns the producer of the actions.
pub(crate) fn rest() -> &'static NativeProducer {
    static PRODUCER: OnceLock<NativeProducer> = OnceLock::new();
    PRODUCER.get_or_init(|| match NativeProducer::new(Rest) {
        Ok(producer) => producer,
        // A test loads the definition.
        Err(rejected) => unreachable!("the definition of rest is refused: {rejected}"),
    })
}

/// Returns the params of the call that previews these steps.
pub(crate) fn rest_params(label: &str, steps: &[Step]) -> Value {
    json!({ "label": label, "steps": steps })
}

impl NativeTool for Rest {
    fn definition(&self) -> ToolDefinition {
        let schema = json!({
            "type": "object",
            "properties": {
                "label": { "type": "string", "description": "The label of the action" },
                "steps": { "type": "array", "description": "The remaining changes" },
            },
            "required": ["label", "steps"],
            "additionalProperties": false,
        });
        let mut traits = ToolTraits::default();
        traits.hidden = true;
        ToolDefinition {
            name: REST.to_owned(),
            label: "Rest".to_owned(),
            description: "Keeps the rest of an action that was applied in part.".to_owned(),
            parameters: Json::of_own(&schema),
            output: None,
            traits,
        }
    }

    fn state_version(&self) -> u32 {
        1
    }

    fn preview(&self, params: &Value, call: &PreviewCall) -> Result<Preview, Error> {
        let label = params["label"].as_str().unwrap_or_default();
        let steps = params["steps"].to_string();
        run(&steps, &call.draft()?)?;
        let text = format!("The rest of \"{label}\", after a part of it was applied.");
        let action = ProposedAction::new(format!("Rest of: {label}"), steps);
        Ok(Preview::of(result(text)).proposing(action))
    }

    fn apply(&self, action: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error> {
        run(&String::from_utf8_lossy(&action.state), &call.folder()?)?;
        Ok(result("Applied the rest.".to_owned()))
    }

    fn can_be_rehearsed(&self) -> bool {
        true
    }
}

fn run(steps: &str, folder: &WritableFolder) -> Result<(), Error> {
    let failed = |message| Error::Tool { message };
    let steps: Vec<Step> =
        serde_json::from_str(steps).map_err(|error| failed(format!("not steps: {error}")))?;
    for step in steps {
        let path = step.path();
        let done = step.run(folder);
        done.map_err(|error| failed(format!("can't change {path}: {error}")))?;
    }
    Ok(())
}

fn result(text: String) -> ToolResult {
    ToolResult {
        content: vec![Content::text(text)],
        details: None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_is_valid() {
        assert_eq!(super::rest().tools().count(), 1);
    }
}
