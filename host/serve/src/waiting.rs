//! The tool `list_pending`, which lists the actions to resolve and their clients.
//!
//! A model that has lost its context knows no ids, and over HTTP several clients may share one
//! token. So the list names, for each action, the client that made the preview and the
//! conversation.

use airlock_host::pending::{NamedAction, StackedAction};
use rmcp::model::{CallToolResult, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::answer;
use crate::server::Server;

/// The tool's name. A plugin's tool with this name takes its place.
pub const LIST_PENDING: &str = "list_pending";

/// The most actions that are listed.
const LISTED: usize = 50;

/// The most conversations that one list covers.
const LOOKED_INTO: usize = 100;

/// Returns the tool, as clients list it.
pub fn tool() -> Tool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let schema: JsonObject = match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let description = "Lists the previewed actions that are still pending, topmost first, with their ids for `resolve`, and which client previewed each. Changes nothing.";
    let annotations = ToolAnnotations::with_title("List pending")
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(LIST_PENDING, description, schema)
        .with_title("List pending")
        .with_annotations(annotations)
}

/// Answers a call of the tool in the conversation `here`. `others` are the client's other
/// conversations.
pub async fn answer(here: &Server, others: &[Server]) -> CallToolResult {
    let waiting = match all(here, others).await {
        Ok(waiting) => waiting,
        Err(error) => return answer::of_error(&error),
    };
    let mut text = match waiting.len() {
        0 => "Nothing is pending.".to_owned(),
        1 => format!("1 action is pending:{}", lines(&waiting)),
        count => format!("{count} actions are pending:{}", lines(&waiting)),
    };
    let left_out = others.len().saturating_sub(LOOKED_INTO);
    if left_out > 0 {
        text += &format!("\n{left_out} more conversations were not looked into.");
    }
    let mut result = answer::of_host(text);
    let listed = waiting.iter().take(LISTED).map(Waiting::to_json);
    result.structured_content = Some(json!({
        "pending": listed.collect::<Vec<_>>(),
        "count": waiting.len(),
    }));
    result
}

/// Returns the answer to a model that calls `resolve` without an id, if it could mean several
/// actions. Returns `None` if only one is possible.
pub async fn must_name(here: &Server, others: &[Server]) -> Option<String> {
    // If a stack can't be read, the call itself reports that.
    let waiting = all(here, others).await.ok()?;
    if others.is_empty() && waiting.len() < 2 {
        return None;
    }
    let why = match others.len() {
        0 => format!("{} are pending", waiting.len()),
        others => format!("you have {} conversations here", others + 1),
    };
    Some(format!(
        "Say which action you mean, with `id`: {why}. Nothing was resolved.{}",
        lines(&waiting)
    ))
}

/// Returns the answer to a call of another tool that is skipped while an action is pending. Returns
/// `None` if nothing is pending.
pub async fn skipped(here: &Server, tool: &str) -> Option<CallToolResult> {
    let waiting = of(here, true).await.ok()?;
    let top = waiting.first()?;
    let message = format!(
        "Skipped, since a preview is pending: {}. Apply or discard it with `resolve`, and then call `{tool}` again.",
        NamedAction::from(&*top.stacked.action)
    );
    Some(answer::of_mistake(&message))
}

/// A pending action.
struct Waiting {
    stacked: StackedAction,
    /// The name that the client gave, if this server has seen it make the preview.
    client: Option<String>,
    is_here: bool,
}

/// Returns the pending actions of these conversations, those of `here` first.
async fn all(here: &Server, others: &[Server]) -> Result<Vec<Waiting>, airlock_host::Error> {
    let mut waiting = of(here, true).await?;
    for other in others.iter().take(LOOKED_INTO) {
        waiting.extend(of(other, false).await?);
    }
    Ok(waiting)
}

async fn of(server: &Server, is_here: bool) -> Result<Vec<Waiting>, airlock_host::Error> {
    let stack = server.session().pending().await?;
    let waiting = stack.into_iter().map(|stacked| Waiting {
        client: server.owners().of(&stacked.action.id),
        stacked,
        is_here,
    });
    Ok(waiting.collect())
}

fn lines(waiting: &[Waiting]) -> String {
    let mut lines: String = waiting.iter().take(LISTED).map(Waiting::line).collect();
    let more = waiting.len().saturating_sub(LISTED);
    if more > 0 {
        lines += &format!("\n- and {more} more");
    }
    lines
}

impl Waiting {
    fn line(&self) -> String {
        let action = &self.stacked.action;
        let mut line = format!("\n- {}", NamedAction::from(&**action));
        if let Some(client) = self.client.as_deref().filter(|it| !it.is_empty()) {
            line += &format!(", previewed by {}", airlock_render::escape_line(client));
        }
        if !self.is_here {
            line += ", in another conversation";
        }
        match self.stacked.attempts {
            0 => {}
            1 => line += ", tried once",
            more => line += &format!(", tried {more} times"),
        }
        line
    }

    fn to_json(&self) -> Value {
        let StackedAction {
            action,
            attempts,
            state,
            ..
        } = &self.stacked;
        json!({
            "id": action.id,
            "label": action.label,
            "sourceToolName": action.source_tool_name,
            "state": state.as_str(),
            "attempts": attempts,
            "client": self.client,
            "inThisConversation": self.is_here,
        })
    }
}
