//! Steps that push pending actions.

use serde::{Deserialize, Serialize};

use crate::airlock::tool::pending_actions::{PendingAction, PushError, push_pending_action};
use crate::memory;
use crate::script::{Script, Step};

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Push {
    label: String,
    /// The source tool's name.
    source: Option<String>,
    /// Passed on as they are: JSON or not.
    details: Option<String>,
    /// Whether to call `reject`; without it, whether there are steps for that.
    has_reject: Option<bool>,
    #[serde(default)]
    apply: Vec<Step>,
    reject: Option<Vec<Step>>,
    /// Keeps the steps in the instance, and pushes no state.
    #[serde(default)]
    volatile: bool,
    /// Pushes this action so often, or until one is refused.
    times: Option<usize>,
    /// Leaves the ids out of the result.
    #[serde(default)]
    quiet: bool,
    /// Makes the label, the details (a JSON string then) or the state that long, where they aren't
    /// longer already.
    label_bytes: Option<usize>,
    details_bytes: Option<usize>,
    state_bytes: Option<usize>,
}

impl Push {
    /// A block for each id, one for a refusal, and with `times`, one for how many were accepted.
    pub fn run(&self) -> Vec<String> {
        let script = Script {
            apply: self.apply.clone(),
            reject: self.reject.clone(),
        };
        let action = self.action(&script);
        let mut said = Vec::new();
        let mut accepted = 0;
        for _ in 0..self.times.unwrap_or(1) {
            match push_pending_action(&action) {
                Ok(id) => {
                    accepted += 1;
                    if self.volatile {
                        memory::keep_volatile(&id, &script);
                    }
                    if !self.quiet {
                        said.push(id);
                    }
                }
                Err(error) => {
                    said.push(refused(error));
                    break;
                }
            }
        }
        if self.times.is_some() {
            said.push(format!("pushed {accepted}"));
        }
        said
    }

    fn action(&self, script: &Script) -> PendingAction {
        let details = match self.details_bytes {
            Some(bytes) => Some(format!("\"{}\"", "d".repeat(bytes.saturating_sub(2)))),
            None => self.details.clone(),
        };
        PendingAction {
            label: padded(self.label.clone(), self.label_bytes, "l"),
            source_tool_name: self.source.clone(),
            details,
            has_reject: self.has_reject.unwrap_or(self.reject.is_some()),
            state: (!self.volatile).then(|| self.state(script)),
        }
    }

    /// The script as JSON, which may end with any number of spaces.
    fn state(&self, script: &Script) -> Vec<u8> {
        let json = serde_json::to_string(script).expect("steps came from JSON");
        padded(json, self.state_bytes, " ").into_bytes()
    }
}

pub fn raw_state(label: &str, text: &str, has_reject: bool) -> String {
    let action = PendingAction {
        label: label.to_owned(),
        source_tool_name: None,
        details: None,
        has_reject,
        state: Some(text.as_bytes().to_vec()),
    };
    push_pending_action(&action).unwrap_or_else(refused)
}

fn padded(mut text: String, bytes: Option<usize>, with: &str) -> String {
    let missing = bytes.unwrap_or(0).saturating_sub(text.len());
    text.push_str(&with.repeat(missing));
    text
}

fn refused(error: PushError) -> String {
    let (case, text) = match error {
        PushError::StoreUnavailable(text) => ("store-unavailable", text),
        PushError::LimitExceeded(text) => ("limit-exceeded", text),
        PushError::Invalid(text) => ("invalid", text),
    };
    format!("push refused: {case}: {text}")
}
