//! What the host answers to questions that make no sense inside `definitions`.

use std::sync::OnceLock;

use crate::airlock::tool::host;
use crate::airlock::tool::pending_actions::{PendingAction, PushError, push_pending_action};

static ANSWERS: OnceLock<String> = OnceLock::new();

/// Asks once per instance: `push: <answer>; session: <answer>`.
pub fn ask() -> &'static str {
    ANSWERS.get_or_init(|| format!("push: {}; session: {}", push(), session()))
}

/// The answers, where this instance has asked.
pub fn kept() -> Option<&'static str> {
    ANSWERS.get().map(String::as_str)
}

fn push() -> String {
    let action = PendingAction {
        label: "Pushed out of turn".into(),
        source_tool_name: None,
        details: None,
        has_reject: false,
        state: Some(Vec::new()),
    };
    match push_pending_action(&action) {
        Ok(id) => format!("accepted as {id}"),
        Err(PushError::StoreUnavailable(text)) => format!("store-unavailable: {text}"),
        Err(PushError::LimitExceeded(text)) => format!("limit-exceeded: {text}"),
        Err(PushError::Invalid(text)) => format!("invalid: {text}"),
    }
}

fn session() -> String {
    match host::session() {
        Some(info) => format!("id {}", info.id),
        None => "none".into(),
    }
}
