//! An agent's loop. A model calls the tools of a plugin; what it wants applied, a person is asked
//! about on the terminal. Progress is shown while a tool works, and Ctrl-C cancels.
//!
//! ```text
//! cargo run --release --example agent -- host/cli/bundled/batch_rename.wasm photos
//! ```
//!
//! This rehearses, with a model that knows its part by heart. With a TASK and a COMMAND, that
//! command is the model: it gets each request on its standard input, in the shape of OpenAI's Chat
//! Completions, and prints the answer, so `curl` and a key will do.
//!
//! ```text
//! export MODEL=…
//! cargo run --release --example agent -- host/cli/bundled/batch_rename.wasm photos \
//!   "Give the pictures short names" curl -s https://…/v1/chat/completions -H "Authorization: Bearer $KEY" \
//!   -H "Content-Type: application/json" --data-binary @-
//! ```

mod model;
mod terminal;

use airlock_host::cancel::CancellationToken;
use airlock_host::content::Content;
use airlock_host::provider::Provider;
use airlock_host::tool::Params;
use airlock_host::{Engine, Plugin, Session};
use model::{CommandModel, Model, RehearsedModel, ToolCall};
use serde_json::json;
use terminal::AsksOnTheTerminal;

/// A model that never ends its turn is stopped.
const MAX_TURNS: usize = 20;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let done = runtime.block_on(run());
    // A line that is being read on the terminal need not be waited for.
    runtime.shutdown_background();
    done
}

async fn run() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(component), Some(workspace)) = (args.next(), args.next()) else {
        anyhow::bail!("usage: agent COMPONENT WORKSPACE [TASK COMMAND [ARG]...]");
    };
    let task = args.next();
    let command: Vec<String> = args.collect();
    let mut model: Box<dyn Model> = if command.is_empty() {
        Box::new(RehearsedModel::default())
    } else {
        Box::new(CommandModel::new(command))
    };

    let engine = Engine::builder().user_cache("airlock-agent").build()?;
    let plugin = Plugin::load(&engine, component).await?;
    let session = Session::builder()
        .workspace(workspace)
        .bind(&plugin)
        .approver(AsksOnTheTerminal)
        .observer(terminal::show_progress)
        .open()?;

    // Ctrl-C lets a tool that is working end well; nothing is applied after it.
    let cancel = CancellationToken::new();
    let cancels = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancels.cancel();
        }
    });
    let task = task.unwrap_or_else(|| "Give the pictures the ending .jpg.".to_owned());
    let last_words = converse(&session, &mut *model, &task, &cancel).await?;
    println!("{last_words}");
    let pending = session.pending().await?.len();
    if pending > 0 {
        eprintln!("Nothing else was changed: {pending} pending, and gone when this program ends.");
    }
    Ok(())
}

/// Lets the model call tools until it has nothing more to call, and gives its last words.
async fn converse(
    session: &Session,
    model: &mut dyn Model,
    task: &str,
    cancel: &CancellationToken,
) -> anyhow::Result<String> {
    let provider = Provider::OpenAiChatCompletions;
    let mut messages = vec![json!({"role": "user", "content": task})];
    for _ in 0..MAX_TURNS {
        // What the model must be told of what waits, and whether it has to decide now.
        let turn = session.next_turn_with(provider.turn(false)).await?;
        for reminder in turn.reminders {
            messages.push(json!({"role": "user", "content": reminder.text}));
        }
        let request = json!({
            "messages": messages,
            // With `resolve` behind them.
            "tools": provider.tools(&session.tools()),
            (provider.tool_choice_field()): provider.tool_choice(turn.tool_choice),
        });
        let answer = tokio::select! {
            answer = model.answer(request) => answer?,
            () = cancel.cancelled() => return Ok("Cancelled.".to_owned()),
        };
        messages.push(answer.message);
        if answer.calls.is_empty() {
            return Ok(answer.text);
        }
        for call in answer.calls {
            let content = text(&perform(session, &call, cancel).await);
            messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
        }
        if cancel.is_cancelled() {
            return Ok("Cancelled.".to_owned());
        }
    }
    anyhow::bail!("the model is not done after {MAX_TURNS} turns")
}

/// Calls a tool, or `resolve`, and gives what the model is told of it.
async fn perform(session: &Session, call: &ToolCall, cancel: &CancellationToken) -> Vec<Content> {
    let params = match Params::from_text(&call.arguments) {
        Ok(params) => params,
        Err(error) => return vec![Content::text(format!("Can't read the arguments: {error}"))],
    };
    match session.call(&call.name, params).cancelled_by(cancel).await {
        Ok(outcome) => {
            terminal::show(&outcome);
            outcome.content_for_model()
        }
        Err(error) => {
            terminal::show_error(&call.name, &error);
            error.content_for_model()
        }
    }
}

/// Pictures would go along in a shape of their own.
fn text(content: &[Content]) -> String {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use airlock_host::approval::{Approval, ApprovalRequest, Approver};
    use airlock_host::pending::{Actor, Evidence};
    use async_trait::async_trait;

    use super::*;

    const PLUGIN: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../host/cli/bundled/batch_rename.wasm"
    );

    /// Says always the same, and remembers what it was asked about.
    #[derive(Clone)]
    struct Says(Approval, Arc<Mutex<Vec<String>>>);

    #[async_trait]
    impl Approver for Says {
        async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
            let label = request.action.action.label.clone();
            self.1.lock().unwrap().push(label);
            self.0.clone()
        }
    }

    async fn rehearse(folder: &Path, approval: Approval, cancel: &CancellationToken) -> String {
        std::fs::write(folder.join("a.jpeg"), "").unwrap();
        let engine = Engine::builder().build().unwrap();
        let plugin = Plugin::load(&engine, PLUGIN).await.unwrap();
        let asked = Says(approval, Arc::default());
        let session = Session::builder()
            .workspace(folder)
            .bind(&plugin)
            .approver(asked.clone())
            .open()
            .unwrap();
        let mut model = RehearsedModel::default();
        let said = converse(&session, &mut model, "Rename.", cancel)
            .await
            .unwrap();
        let asked = asked.1.lock().unwrap().clone();
        assert_eq!(
            asked.len(),
            usize::from(!cancel.is_cancelled()),
            "{asked:?}"
        );
        said
    }

    #[tokio::test]
    async fn nothing_is_renamed_unless_somebody_let_the_model() {
        let never = CancellationToken::new();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let how = "Ask Ann.".to_owned();
        let said = rehearse(path, Approval::NeedsPerson { how }, &never).await;
        assert!(said.contains("a person must decide"), "{said}");
        let reason = "not today".to_owned();
        let said = rehearse(path, Approval::Refuse { reason }, &never).await;
        assert!(said.contains("not today"), "{said}");
        assert!(path.join("a.jpeg").exists());
        let ann = Actor::person("Ann").with_evidence(Evidence::Terminal);
        let said = rehearse(path, Approval::AllowedBy(ann), &never).await;
        assert!(said.contains("Renamed"), "{said}");
        assert!(path.join("a.jpg").exists() && !path.join("a.jpeg").exists());
    }

    #[tokio::test]
    async fn a_conversation_that_is_cancelled_asks_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let cancel = CancellationToken::new();
        cancel.cancel();
        let said = rehearse(folder.path(), Approval::Allow, &cancel).await;
        assert_eq!(said, "Cancelled.");
        assert!(folder.path().join("a.jpeg").exists());
    }

    #[tokio::test]
    async fn a_command_can_be_the_model() {
        let answer = r#"{"choices":[{"message":{"role":"assistant","content":"Done."}}]}"#;
        let shell = format!("grep -q '\"resolve\"' && echo '{answer}'");
        let command = ["sh", "-c", &shell].map(str::to_owned);
        let mut model = CommandModel::new(command.to_vec());
        let session = Session::builder().model_decides().open().unwrap();
        let never = CancellationToken::new();
        let said = converse(&session, &mut model, "Do nothing.", &never).await;
        assert_eq!(said.unwrap(), "Done.");
    }
}
