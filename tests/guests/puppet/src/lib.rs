//! A tool that does what its parameters say, so that a test of the host is the list of steps that
//! it is about.
//!
//! The tool `puppet` takes `{"steps": [{"do": …}, …]}`; [`Step`](script::Step) lists what it can
//! do. It runs its steps one after the other, in `execute`, `apply` and `reject` alike, and most of
//! them add a block of text to the result. A pushed action carries the steps of its own `apply` and
//! `reject`. The tool `typed` has a strict schema and repeats its parameters.

mod asking;
mod definitions;
mod descriptors;
mod files;
mod greedy;
mod handles;
mod hostile;
mod memory;
mod output;
mod pushing;
mod run;
mod script;
mod surroundings;

wit_bindgen::generate!({ world: "custom-tool", path: "../../../wit/0.1.0" });

use airlock::tool::types::{Content, ToolDefinition, ToolError, ToolResult};
use exports::airlock::tool::resolver::{self, Resolution};
use exports::airlock::tool::tool;
use run::Run;
use script::{Params, Script};

struct Puppet;

impl tool::Guest for Puppet {
    fn definitions() -> Vec<ToolDefinition> {
        vec![definitions::puppet(), definitions::typed()]
    }

    fn execute(_call_id: String, name: String, params: String) -> Result<ToolResult, ToolError> {
        match name.as_str() {
            "puppet" => Run::default().all(&Params::parse(&params)?.steps),
            "typed" => Ok(ToolResult {
                content: vec![Content::Text(params)],
                details: None,
            }),
            _ => Err(failed(format!("there is no tool {name:?} here"))),
        }
    }
}

impl resolver::Guest for Puppet {
    fn apply(resolution: Resolution) -> Result<ToolResult, ToolError> {
        let script = script_of(&resolution)?;
        Run::of(resolution).all(&script.apply)
    }

    fn reject(resolution: Resolution) -> Result<Option<ToolResult>, ToolError> {
        let script = script_of(&resolution)?;
        script
            .reject
            .map(|steps| Run::of(resolution).all(&steps))
            .transpose()
    }
}

fn script_of(resolution: &Resolution) -> Result<Script, ToolError> {
    match &resolution.state {
        Some(state) => Script::parse(state),
        None => memory::volatile_script(&resolution.action_id).ok_or_else(|| {
            failed(format!(
                "this instance never pushed the volatile action {}",
                resolution.action_id
            ))
        }),
    }
}

/// A failure of the puppet's own, as opposed to one that a step asked for.
fn failed(text: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(format!("puppet: {text}"))
}

#[allow(unsafe_code, reason = "bindings export unsafe functions")]
const _: () = {
    export!(Puppet);
};
