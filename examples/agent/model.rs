//! The model's side: one that is a command, and one that rehearses.

use std::process::Stdio;

use anyhow::Context;
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// Whatever answers a request in the shape of OpenAI's Chat Completions.
#[async_trait]
pub trait Model: Send {
    async fn answer(&mut self, request: Value) -> anyhow::Result<Answer>;
}

pub struct Answer {
    /// As it goes back into the conversation.
    pub message: Value,
    pub text: String,
    pub calls: Vec<ToolCall>,
}

pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON, as the model wrote it.
    pub arguments: String,
}

impl Answer {
    fn of(message: Value) -> Self {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let calls = message["tool_calls"].as_array();
        let calls = calls.into_iter().flatten().map(|call| ToolCall {
            id: word(&call["id"]),
            name: word(&call["function"]["name"]),
            arguments: word(&call["function"]["arguments"]),
        });
        Self {
            text: word(&message["content"]),
            calls: calls.collect(),
            message,
        }
    }
}

/// A command that gets each request on its standard input, and prints the answer.
pub struct CommandModel {
    command: Vec<String>,
    /// For requests that must name the model.
    name: Option<String>,
}

impl CommandModel {
    pub fn new(command: Vec<String>) -> Self {
        let name = std::env::var("MODEL").ok();
        Self { command, name }
    }
}

#[async_trait]
impl Model for CommandModel {
    async fn answer(&mut self, mut request: Value) -> anyhow::Result<Answer> {
        if let Some(name) = &self.name {
            request["model"] = json!(name);
        }
        let [program, args @ ..] = &self.command[..] else {
            anyhow::bail!("there is no command");
        };
        let mut running = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("can't run {program}"))?;
        let mut stdin = running.stdin.take().context("it has an input")?;
        let request = request.to_string();
        let (written, output) = tokio::join!(
            async move { stdin.write_all(request.as_bytes()).await },
            running.wait_with_output()
        );
        let output = output?;
        let said: Value = serde_json::from_slice(&output.stdout).with_context(|| {
            let said = String::from_utf8_lossy(&output.stdout);
            format!("{program} ended with {}, and said: {said}", output.status)
        })?;
        written.with_context(|| format!("{program} didn't read its input"))?;
        match &said["choices"][0]["message"] {
            Value::Null => anyhow::bail!("{program} gave no message, but: {said}"),
            message => Ok(Answer::of(message.clone())),
        }
    }
}

/// Previews, asks for an apply, and says how that ended.
#[derive(Default)]
pub struct RehearsedModel {
    turn: usize,
}

#[async_trait]
impl Model for RehearsedModel {
    async fn answer(&mut self, request: Value) -> anyhow::Result<Answer> {
        self.turn += 1;
        let call = |name: &str, arguments: Value| {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call = json!({"id": format!("call-{}", self.turn), "type": "function", "function": function});
            json!({"role": "assistant", "content": null, "tool_calls": [call]})
        };
        Ok(Answer::of(match self.turn {
            1 => call(
                "batch_rename_preview",
                json!({"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"}),
            ),
            2 => call(
                "resolve",
                json!({"action": "apply", "reason": "these are the names that were asked for"}),
            ),
            _ => {
                let messages = request["messages"].as_array();
                let mut told = messages.into_iter().flatten().rev();
                let told = told.find(|it| it["role"] == "tool");
                let told = told.map(|it| it["content"].clone()).unwrap_or_default();
                json!({"role": "assistant", "content": told})
            }
        }))
    }
}
