//! Results of calls as clients get them: first the host's block, then the tool's.

use airlock_host::Error;
use airlock_host::content::{CallOutcome, Content, ForModel};
use airlock_host::effects::Effects;
use airlock_host::json::Json;
use airlock_host::pending::{Actor, Evidence, NamedAction};
use airlock_host::store::ActionRecord;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, TextContent};
use serde_json::{Value, json};

/// The most bytes of content in one result. Clients put it into a model's context, and cut or
/// refuse longer ones: Claude Code accepts 25,000 tokens.
const MAX_RESULT_BYTES: usize = 50_000;

/// The most bytes of the host's part, not counting its notes about omitted content.
const MOST_OF_HOST: usize = 30_000;

/// The most bytes of `structuredContent`, as JSON.
const MOST_STRUCTURED: usize = 50_000;

/// The most bytes of `_meta`, as JSON. It is for programs, which can run `airlock show` for the
/// rest.
const MOST_META: usize = 20_000;

/// The most changes of each action that `_meta` lists.
const LISTED: usize = 1000;

/// The key of the pending actions in a result's `_meta`.
const PENDING: &str = "airlock/pending";

/// The key of the applied effects, as the host saw them.
const EFFECTS: &str = "airlock/effects";

/// The key of the error kind.
const ERROR: &str = "airlock/error";

/// The key in a content block's `_meta` that marks it as the host's, with the value `host`. Tools
/// can't set `_meta`, so their blocks never have it.
const FROM: &str = "airlock/from";

/// The key of the host's text in `structuredContent`.
const HOST: &str = "airlock";

/// The key of the tool's details in `structuredContent`. They match the tool's output schema.
const DETAILS: &str = "details";

/// Returns the result of a call that succeeded.
///
/// If a result has both, some clients pass on only `structuredContent`. The host's part is
/// therefore in both. The result of a preview has no `structuredContent`, because its effects are
/// in the content.
pub fn of_outcome(outcome: &CallOutcome) -> CallToolResult {
    let details = outcome.details.as_ref();
    let details = details.filter(|_| outcome.pushed.is_empty());
    let details = details.map(Json::value).filter(Value::is_object);
    let mut message = outcome.for_model();
    let length = details.as_ref().map_or(0, |it| it.to_string().len());
    let has_room = length <= MOST_STRUCTURED;
    if !has_room {
        message.host.push_str(&format!(
            " {length} bytes of structured content are left out; a result has at most {MOST_STRUCTURED}. Ask for less, for example for fewer files."
        ));
    }
    let message = bounded(message);
    let structured = details.filter(|_| has_room);
    let structured = structured.map(|it| json!({HOST: message.host_text(), DETAILS: it}));
    let mut result = CallToolResult::success(blocks(&message)).with_meta(pending(outcome));
    result.structured_content = structured;
    result
}

/// Returns the result of `resolve`. It has no `structuredContent`, because the tool's output is in
/// the content.
pub fn of_resolution(outcome: &CallOutcome) -> CallToolResult {
    let message = bounded(outcome.for_model());
    CallToolResult::success(blocks(&message)).with_meta(pending(outcome))
}

/// Returns the result of a call that failed, worded so that a model can act on it.
pub fn of_error(error: &Error) -> CallToolResult {
    let message = bounded(error.for_model());
    let result = CallToolResult::error(blocks(&message));
    result.with_meta(Some(meta([(ERROR, json!(error.kind()))])))
}

/// Returns a result with a text from the host and nothing from a tool.
pub fn of_host(message: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![host_block(message)])
}

/// Returns the result of a call that was not made because the request is ambiguous.
pub fn of_mistake(message: &str) -> CallToolResult {
    CallToolResult::error(vec![host_block(message)])
}

/// Returns the result of a call that asked to apply an action that was resolved elsewhere in the
/// meantime. `found` is the action's record, if the store still has it.
pub fn of_decided_elsewhere(found: Option<&ActionRecord>) -> CallToolResult {
    let Some((record, resolved)) = found.and_then(|it| Some((it, it.resolved.as_ref()?))) else {
        return of_mistake("It was resolved elsewhere in the meantime, with an unknown outcome.");
    };
    let named = NamedAction::from(&record.action);
    let done = resolved.decision.past();
    let by = match (&resolved.decided_by.actor, resolved.decided_by.actor.name()) {
        (Actor::Model, _) => "another call".into(),
        (_, Some(name)) => airlock_render::escape_line(name),
        (_, None) => "somebody".into(),
    };
    let at = match resolved.decided_by.evidence {
        Evidence::Terminal => " at a terminal",
        _ => "",
    };
    let reason = airlock_render::escape_line(&resolved.reason);
    of_host(format!("{named}, was {done} by {by}{at}. Reason: {reason}"))
}

/// Puts a text before the one in the host's block. Removes `structuredContent`, so that all clients
/// pass the text on.
pub fn preceded(mut result: CallToolResult, text: &str) -> CallToolResult {
    match result.content.first_mut() {
        Some(ContentBlock::Text(first)) if is_of_host(first) => {
            first.text = format!("{text}\n{}", first.text);
        }
        _ => result.content.insert(0, host_block(text)),
    }
    result.structured_content = None;
    result
}

/// Returns a result as one text, for the host's part of another result. Quotes the tool's words.
pub fn quoted(result: &CallToolResult) -> String {
    let (mut host, mut tool) = (Vec::new(), Vec::new());
    for text in result.content.iter().filter_map(ContentBlock::as_text) {
        let of = if is_of_host(text) {
            &mut host
        } else {
            &mut tool
        };
        of.push(&*text.text);
    }
    let host = host.join("\n");
    if tool.is_empty() {
        host
    } else {
        format!("{host} {}", Value::from(tool.join("\n")))
    }
}

/// Returns, for programs, the actions that a call pushed (topmost first, with the effects the host
/// saw), or the applied effects. Lists as many changes of each action as fit.
fn pending(outcome: &CallOutcome) -> Option<MetaObject> {
    let mut listed = LISTED;
    loop {
        let meta = pending_with(outcome, listed)?;
        let length = serde_json::to_string(&meta).map_or(0, |it| it.len());
        if length <= MOST_META {
            return Some(meta);
        }
        match listed {
            0 => return Some(too_many(outcome)),
            _ => listed /= 2,
        }
    }
}

fn pending_with(outcome: &CallOutcome, listed: usize) -> Option<MetaObject> {
    let seen = |id: &str| {
        let mut effects = outcome.effects.iter();
        let seen = effects.find(|it| it.action.as_str() == id)?;
        Some(effects_value(&seen.effects, listed))
    };
    if outcome.pushed.is_empty() {
        let applied = outcome.effects.first()?;
        return Some(meta([(EFFECTS, effects_value(&applied.effects, listed))]));
    }
    let pushed = outcome.pushed.iter().map(|action| {
        json!({
            "id": action.id,
            "label": action.label,
            "sourceToolName": action.source_tool_name,
            "plugin": action.plugin_name,
            "digest": action.plugin.to_string(),
            "effects": seen(action.id.as_str()),
        })
    });
    Some(meta([(PENDING, Value::Array(pushed.collect()))]))
}

/// Returns only ids, for more actions than fit with their effects.
fn too_many(outcome: &CallOutcome) -> MetaObject {
    let first = outcome.pushed.iter().take(NAMED);
    let named = first.map(|action| json!({"id": action.id}));
    let more = outcome.pushed.len().saturating_sub(NAMED);
    let pushed = named.chain((more > 0).then(|| json!({"more": more})));
    meta([(PENDING, Value::Array(pushed.collect()))])
}

/// The most actions that are named by id alone.
const NAMED: usize = 100;

/// Returns effects without file contents, with at most `listed` changes; `moreChanges` counts the
/// rest.
fn effects_value(effects: &Effects, listed: usize) -> Value {
    let more = effects.changes.len().saturating_sub(listed);
    let mut shown = effects.clone();
    shown.changes.truncate(listed);
    let mut shown = json!(shown.without_contents());
    if more > 0 {
        shown["moreChanges"] = more.into();
    }
    shown
}

fn meta<const N: usize>(entries: [(&str, Value); N]) -> MetaObject {
    let mut meta = MetaObject::new();
    for (key, value) in entries {
        meta.insert(key.to_owned(), value);
    }
    meta
}

/// Cuts a result to its limit. The host's part says how much was omitted.
fn bounded(mut message: ForModel) -> ForModel {
    let cut = message.host.len().saturating_sub(MOST_OF_HOST);
    if cut > 0 {
        let end = message.host.floor_char_boundary(MOST_OF_HOST);
        message.host.truncate(end);
        message.host.push_str(&format!(
            "…\n{cut} bytes of what Airlock says are left out here."
        ));
    }
    let mut room = MAX_RESULT_BYTES - message.host.len().min(MOST_OF_HOST);
    let mut left_out = 0;
    for block in std::mem::take(&mut message.tool) {
        let length = block.byte_length();
        let kept = match block {
            block if length <= room => Some(block),
            Content::Text { text } => {
                let kept = &text[..text.floor_char_boundary(room)];
                (!kept.is_empty()).then(|| Content::text(kept))
            }
            _ => None,
        };
        let kept_length = kept.as_ref().map_or(0, Content::byte_length);
        left_out += length - kept_length;
        room = if kept_length == length {
            room - length
        } else {
            0
        };
        message.tool.extend(kept);
    }
    if left_out > 0 {
        message.host.push_str(&format!(
            " {left_out} bytes are left out at the end; a result has at most {MAX_RESULT_BYTES}. Ask for less, for example for fewer files."
        ));
    }
    message
}

fn blocks(message: &ForModel) -> Vec<ContentBlock> {
    let tool = message.tool.iter().map(of_content);
    [host_block(message.host_text())]
        .into_iter()
        .chain(tool)
        .collect()
}

/// Returns a block that is marked as the host's.
fn host_block(text: impl Into<String>) -> ContentBlock {
    let marked = meta([(FROM, json!("host"))]);
    ContentBlock::Text(TextContent::new(text).with_meta(marked))
}

fn is_of_host(text: &TextContent) -> bool {
    text.meta.as_ref().is_some_and(|it| it.contains_key(FROM))
}

fn of_content(content: &Content) -> ContentBlock {
    // Content has the same shape as in MCP.
    let block = serde_json::to_value(content).and_then(serde_json::from_value);
    block.unwrap_or_else(|error| ContentBlock::text(format!("[a block is left out: {error}]")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_content_reaches_the_client() {
        let image = Content::Image {
            data: vec![1, 2, 3],
            mime_type: "image/png".to_owned(),
        };
        let link = Content::ResourceLink {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            mime_type: None,
        };
        let mut message = ForModel::of_host("h");
        message.tool = vec![Content::text("t"), image, link];
        let blocks = serde_json::to_value(blocks(&message)).unwrap();
        let expected = json!([
            {"type": "text", "text": "h The tool's own words follow.", "_meta": {"airlock/from": "host"}},
            {"type": "text", "text": "t"},
            {"type": "image", "data": "AQID", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
        ]);
        assert_eq!(blocks, expected);
    }

    #[test]
    fn a_long_result_is_cut_between_characters_and_the_host_says_so() {
        let mut message = ForModel::of_host("ü");
        message.tool = vec![
            Content::text("ü".repeat(MAX_RESULT_BYTES)),
            Content::text("behind it"),
        ];
        let message = bounded(message);
        assert_eq!(message.tool.len(), 1);
        assert_eq!(message.tool[0].byte_length(), MAX_RESULT_BYTES - 2);
        assert!(
            message
                .host
                .starts_with("ü 50011 bytes are left out at the end"),
            "{}",
            message.host
        );
        // Paths alone can exceed the limit of a result.
        let mut message = ForModel::of_host("ü".repeat(MAX_RESULT_BYTES));
        message.tool = vec![Content::text("ü".repeat(MAX_RESULT_BYTES))];
        let message = bounded(message);
        assert!(message.host.len() < MOST_OF_HOST + 500);
        assert_eq!(
            message.tool[0].byte_length(),
            MAX_RESULT_BYTES - MOST_OF_HOST
        );
        assert!(
            message
                .host_text()
                .ends_with("The tool's own words follow.")
        );
    }

    #[test]
    fn what_a_tool_has_said_is_quoted_in_a_text_of_the_hosts() {
        let mut message = ForModel::of_host("Applied.");
        message.tool = vec![Content::text("done\nNothing is pending.")];
        let result = CallToolResult::success(blocks(&message));
        let expected = r#"Applied. The tool's own words follow. "done\nNothing is pending.""#;
        assert_eq!(quoted(&result), expected);
        // The text goes into the host's only block, and all clients pass that on.
        let mut next = of_host("Nothing is pending.");
        next.structured_content = Some(json!({"count": 0}));
        let next = preceded(next, expected);
        assert_eq!(next.content.len(), 1);
        assert_eq!(quoted(&next), format!("{expected}\nNothing is pending."));
        assert_eq!(next.structured_content, None);
    }
}
