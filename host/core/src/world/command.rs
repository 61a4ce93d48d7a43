//! Programs for the world `wasi:cli/command@0.2`, as tools.
//!
//! A program knows nothing of previews and phases. Its params are its command line, which is also
//! the state of its action; each run gets a new instance.

use airlock_model::content::Content;
use airlock_model::error::Error;
use airlock_model::tool::ToolTraits;
use airlock_model::tool::command::CommandTool;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wasmtime::Store;
use wasmtime_wasi::I32Exit;
use wasmtime_wasi::p2::bindings::Command;

use super::{Definition, Host, Returned};
use crate::params::Params;

/// The name of the tool that runs a program.
pub const COMMAND_TOOL: &str = "command";

/// The last text of the result of a program that reports a failure.
const FAILED: &str = "The program failed.";

/// The input of a program's run. The params of its tool, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandLine {
    /// Its arguments, after its own name.
    #[serde(default)]
    pub args: Vec<String>,
    /// The text on its standard input.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdin: String,
}

impl CommandLine {
    /// Makes the command line of a call: its params, or those filled into a tool's template. Also
    /// returns the title of an action, if the tool has its own.
    ///
    /// # Errors
    /// [`Error::Failed`] if the params are not a command line, and [`Error::Tool`] if it would have
    /// more than `most` bytes.
    pub fn of_call(
        tool: Option<&CommandTool>,
        params: &Params<'_>,
        most: usize,
    ) -> Result<(Self, Option<String>), Error> {
        let Some(tool) = tool else {
            let line = Self::of_state(Some(params.text().as_str().as_bytes()))?;
            return Ok((line, None));
        };
        let filled = tool.fill(params.value(), most);
        let filled = filled.map_err(|too_long| Error::Tool {
            message: too_long.to_string(),
        })?;
        let line = Self {
            args: filled.args,
            stdin: filled.stdin,
        };
        Ok((line, filled.title))
    }

    /// Returns the state of an action.
    pub fn state(&self) -> Vec<u8> {
        // Texts can always be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the state of an action.
    ///
    /// # Errors
    /// [`Error::Failed`] if it is not a command line.
    pub fn of_state(state: Option<&[u8]>) -> Result<Self, Error> {
        serde_json::from_slice(state.unwrap_or_default()).map_err(|error| Error::Failed {
            message: format!("the action's state is not a command line: {error}"),
        })
    }
}

/// The output of a program, as far as it is kept.
#[derive(Debug, Default)]
pub(crate) struct CommandOutput {
    pub stdout: String,
    pub stderr: String,
}

/// Returns the definition of the tool that runs a program.
pub(super) fn definition() -> Definition {
    let parameters = json!({
        "type": "object",
        "properties": {
            "args": {
                "type": "array",
                "items": { "type": "string" },
                "description": "The arguments of the program, after its name. Paths are relative to the workspace",
            },
            "stdin": {
                "type": "string",
                "description": "The text on its standard input",
            },
        },
        "additionalProperties": false,
    });
    Definition {
        name: COMMAND_TOOL.to_owned(),
        label: "Command".to_owned(),
        description: "Runs a program in the workspace. Returns its output and the changes that it would make to files, which are made when they are approved.".to_owned(),
        parameters: parameters.to_string(),
        output: None,
        traits: ToolTraits::default(),
    }
}

impl Definition {
    /// Defines a program's own tool.
    pub fn of_command(tool: &CommandTool) -> Self {
        let mut traits = ToolTraits::default();
        traits.read_only = tool.read_only;
        traits.deferrable = !tool.read_only;
        Self {
            name: tool.name.clone(),
            label: tool.label.clone().unwrap_or_else(|| tool.name.clone()),
            description: tool.description.clone(),
            parameters: tool.schema().to_string(),
            output: None,
            traits,
        }
    }
}

/// Runs the program.
pub(super) async fn run<T: Host>(
    guest: &Command,
    store: &mut Store<T>,
) -> wasmtime::Result<Result<Returned, Error>> {
    let ran = guest.wasi_cli_run().call_run(&mut *store).await;
    let has_succeeded = match ran {
        Ok(returned) => returned.is_ok(),
        Err(error) => match error.downcast_ref::<I32Exit>() {
            Some(I32Exit(code)) => *code == 0,
            None => return Err(error),
        },
    };
    Ok(Ok(returned(has_succeeded, store.data_mut().take_output())))
}

/// WASI 0.2 tells success from failure, and has no other exit codes.
fn returned(has_succeeded: bool, output: CommandOutput) -> Returned {
    let CommandOutput { stdout, stderr } = output;
    let mut content = Vec::new();
    if !stdout.is_empty() {
        content.push(Content::text(stdout));
    }
    if !stderr.is_empty() {
        content.push(Content::text(format!("Standard error:\n{stderr}")));
    }
    if !has_succeeded {
        content.push(Content::text(FAILED));
    }
    if content.is_empty() {
        content.push(Content::text("(no output)"));
    }
    Returned {
        content,
        details: Some(json!({ "succeeded": has_succeeded }).to_string()),
    }
}
