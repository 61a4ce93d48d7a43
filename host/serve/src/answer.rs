//! Results of calls, as clients get them.

use airlock_host::Error;
use airlock_host::content::{CallOutcome, Content};
use airlock_host::effects::Effects;
use airlock_host::json::Json;
use airlock_host::pending::{Actor, Evidence, NamedAction};
use airlock_host::store::ActionRecord;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

/// How many bytes of content one result may have. Clients put it into a model's context, and cut
/// or refuse a longer one: Claude Code takes 25,000 tokens.
const MOST: usize = 50_000;

/// Bytes of `structuredContent`, as JSON.
const MOST_STRUCTURED: usize = 50_000;

/// Bytes of `_meta`, as JSON: for programs, which can ask `airlock show` for all of it.
const MOST_META: usize = 20_000;

/// How many changes `_meta` lists of each action at most.
const LISTED: usize = 1000;

/// Where a result's `_meta` has what is pending.
const PENDING: &str = "airlock/pending";

/// Where it has what was applied, as the host saw it.
const EFFECTS: &str = "airlock/effects";

/// Where it has what kind of error there was.
const ERROR: &str = "airlock/error";

/// A call that succeeded.
///
/// Clients give the model the content or `structuredContent`, and some only the latter where there
/// are both. That something is a preview is said in the content. So a result that stages something
/// has no `structuredContent`, and no tool promises any.
pub fn of_outcome(outcome: &CallOutcome) -> CallToolResult {
    let mut result = in_words(outcome);
    let details = outcome.details.as_ref();
    let details = details.filter(|_| outcome.pushed.is_empty());
    if let Some(details) = details.map(Json::value).filter(Value::is_object) {
        let length = details.to_string().len();
        match length <= MOST_STRUCTURED {
            true => result.structured_content = Some(details),
            false => result.content.push(ContentBlock::text(format!(
                "[{length} bytes of structured content are left out here; a result has at most {MOST_STRUCTURED}. Ask for less, for example for fewer files.]"
            ))),
        }
    }
    result
}

/// What came of `resolve`. The tool's own words are in the content, so it has no
/// `structuredContent` either.
pub fn of_resolution(outcome: &CallOutcome) -> CallToolResult {
    in_words(outcome)
}

fn in_words(outcome: &CallOutcome) -> CallToolResult {
    let result = CallToolResult::success(blocks(&outcome.content_for_model()));
    result.with_meta(pending(outcome))
}

/// One that failed, in words by which a model can act.
pub fn of_error(error: &Error) -> CallToolResult {
    let result = CallToolResult::error(blocks(&[Content::text(error.to_string())]));
    result.with_meta(Some(meta([(ERROR, json!(error.kind()))])))
}

/// A call that was not made, since what it asks for is not clear.
pub fn of_mistake(told: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(told)])
}

/// A call that asked for an apply of what somebody else has decided about since, where the store
/// still has that.
pub fn of_decided_elsewhere(found: Option<&ActionRecord>) -> CallToolResult {
    let Some((record, resolved)) = found.and_then(|it| Some((it, it.resolved.as_ref()?))) else {
        return of_mistake("Somebody has decided about it meanwhile, and nobody knows how.");
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
    let reason = &resolved.reason;
    CallToolResult::success(vec![ContentBlock::text(format!(
        "{named}, was {done} by {by}{at}. Reason: {reason}"
    ))])
}

/// The same, with a text before the content.
pub fn preceded(mut result: CallToolResult, text: &str) -> CallToolResult {
    result.content.insert(0, ContentBlock::text(text));
    result
}

/// For programs: what a call has pushed, topmost first, with what the host saw it do; or what was
/// applied. As many changes of each action are listed as there is room for.
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
        Some(shown(&seen.effects, listed))
    };
    if outcome.pushed.is_empty() {
        let applied = outcome.effects.first()?;
        return Some(meta([(EFFECTS, shown(&applied.effects, listed))]));
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

/// For more actions than there is room to name.
fn too_many(outcome: &CallOutcome) -> MetaObject {
    let first = outcome.pushed.iter().take(NAMED);
    let named = first.map(|action| json!({"id": action.id}));
    let more = outcome.pushed.len().saturating_sub(NAMED);
    let pushed = named.chain((more > 0).then(|| json!({"more": more})));
    meta([(PENDING, Value::Array(pushed.collect()))])
}

/// How many actions are named where there is no room for more of each.
const NAMED: usize = 100;

/// Effects without what files hold, as far as they are listed; `moreChanges` counts the rest.
fn shown(effects: &Effects, listed: usize) -> Value {
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

/// The blocks, as far as there is room; then a note of what was left out.
fn blocks(content: &[Content]) -> Vec<ContentBlock> {
    let mut room = MOST;
    let mut left_out = 0;
    let mut blocks = Vec::with_capacity(content.len());
    for block in content {
        let length = block.byte_length();
        if length <= room {
            room -= length;
            blocks.push(of_content(block));
            continue;
        }
        let kept = match block {
            Content::Text { text } => &text[..text.floor_char_boundary(room)],
            _ => "",
        };
        if !kept.is_empty() {
            blocks.push(ContentBlock::text(kept));
        }
        left_out += length - kept.len();
        room = 0;
    }
    if left_out > 0 {
        blocks.push(ContentBlock::text(format!(
            "[{left_out} bytes are left out here; a result has at most {MOST}. Ask for less, for example for fewer files.]"
        )));
    }
    blocks
}

fn of_content(content: &Content) -> ContentBlock {
    // Content has MCP's own shape.
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
        let blocks = serde_json::to_value(blocks(&[Content::text("t"), image, link])).unwrap();
        let expected = json!([
            {"type": "text", "text": "t"},
            {"type": "image", "data": "AQID", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
        ]);
        assert_eq!(blocks, expected);
    }

    #[test]
    fn a_long_result_is_cut_between_characters_and_says_so() {
        let long = [Content::text("ü".repeat(MOST)), Content::text("behind it")];
        let blocks = serde_json::to_value(blocks(&long)).unwrap();
        let text = |at: usize| blocks[at]["text"].as_str().unwrap();
        assert_eq!(text(0).len(), MOST);
        assert!(
            text(1).starts_with("[50009 bytes are left out here"),
            "{}",
            text(1)
        );
        assert_eq!(blocks.as_array().unwrap().len(), 2);
    }
}
