//! Blocks for pending actions, for the details of an action, and for past decisions.

use std::time::SystemTime;

use airlock_model::actor::{Actor, DecidedBy, Evidence};
use airlock_model::call_record::CallRecord;
use airlock_model::effects::EffectsSummary;
use airlock_model::json;
use airlock_model::pending::{
    ActionState, DEFAULT_SOURCE_TOOL_NAME, Decision, PendingAction, StackedAction,
};
use airlock_model::store::{ActionRecord, LeaseRecord, ResolvedRecord};

use super::decision::labelled;
use super::{Block, Line, Role};

/// The number of bytes shown of an action's details. A row takes hundreds of bytes, and `[0,0,…]`
/// needs a row for every two.
const DETAILS_SHOWN: usize = 64 << 10;

/// The length of the longest fact name.
const NAMES: usize = 10;

impl Block {
    /// Returns a block for a pending action. `when` formats a time for people, for example `3
    /// minutes ago`.
    pub fn stacked(stacked: &StackedAction, when: impl Fn(SystemTime) -> String) -> Self {
        let status = Status {
            state: stacked.state,
            attempts: stacked.attempts,
            last_error: stacked.last_error.as_deref(),
            lease: None,
            effects: stacked.effects.as_ref(),
        };
        entry(&stacked.action, &status, when)
    }

    /// Returns a block for an open action of a store, including one that is being resolved. `when`
    /// formats a time for people.
    pub fn open(record: &ActionRecord, when: impl Fn(SystemTime) -> String) -> Self {
        entry(&record.action, &Status::of(record), when)
    }

    /// Returns a block with a store's record of an action, except for its [details](Self::details).
    /// `when` formats a time for people, for example `2026-11-22 02:12:53 +00:00 (just now)`.
    pub fn record(record: &ActionRecord, when: impl Fn(SystemTime) -> String) -> Self {
        let action = &record.action;
        let workspace = match &action.workspace {
            Some(path) => path.to_string_lossy(),
            None => "none".into(),
        };
        let kept = if action.durable {
            "durable: it can be applied by any process"
        } else {
            "volatile: only the process that previewed it can apply it"
        };
        let title = Line::new().with_quoted(Role::Title, &*action.label);
        let block = Block::from(title.hanging(2))
            .fact(NAMES, "id", action.id.as_str())
            .fact(NAMES, "tool", &tool_of(action))
            .fact(NAMES, "session", record.session.as_str())
            .fact(NAMES, "workspace", &workspace)
            .own_fact(NAMES, "previewed", &when(action.pushed_at));
        let block = match action.expires_at.filter(|_| record.resolved.is_none()) {
            Some(expires_at) => block.own_fact(NAMES, "expires", &when(expires_at)),
            None => block,
        };
        let block = block
            .own_fact(
                NAMES,
                "plugin",
                &format!("{}, {}", plugin_name(action), action.plugin),
            )
            .block(Block::granted(NAMES, &action.grants))
            .own_fact(NAMES, "kept", kept)
            .own_fact(NAMES, "attempts", &record.attempts.to_string());
        let block = block.with_state(record, &when);
        match &record.resolved {
            Some(resolved) => block.with_resolved(resolved, &when),
            None => block,
        }
    }

    /// Returns a block with the beginning of an action's details. Empty if there are none.
    pub fn details(action: &PendingAction) -> Self {
        let Some(details) = &action.details else {
            return Block::new();
        };
        let (shown, is_all) = json::beginning(&details.pretty(), DETAILS_SHOWN);
        let name = Line::new().with_role(Role::Faint, "details");
        let block = Block::from(name.indented(2)).block(Block::new().text(&shown).indented(4));
        if is_all {
            block
        } else {
            let bytes = details.as_str().len();
            let more = format!("… this is the beginning of the details, which are {bytes} bytes");
            let more = Line::new().with_role(Role::Note, more);
            block.line(more.indented(4).hanging(2))
        }
    }

    /// Returns a block for the call that pushed an action and for its result.
    pub fn call_record(call: &CallRecord) -> Self {
        let params = call.params.as_str();
        Block::new()
            .fact(NAMES, "called", &call.tool)
            .fact(NAMES, "params", params)
            .line(Line::new().with_role(Role::Faint, "preview").indented(2))
            .block(Block::content(&call.content).indented(4))
    }

    /// Returns an entry of the audit trail: how an action was resolved. `when` formats a time for
    /// people. Empty for an action that is still open.
    pub fn audit(record: &ActionRecord, when: impl Fn(SystemTime) -> String) -> Self {
        let Some(resolved) = &record.resolved else {
            return Block::new();
        };
        let (role, verb) = match resolved.decision {
            Decision::Apply => (Role::Accept, "Accept:"),
            Decision::Discard => (Role::Discard, "Discard:"),
        };
        let decided = Line::from(match &resolved.part {
            Some(_) => "applied in part",
            None => resolved.decision.past(),
        });
        let by = &resolved.decided_by;
        let decided = decided
            .with(" by ")
            .with_quoted(Role::Plain, who(by))
            .with(format!(" (evidence: {})", evidence(by.evidence)))
            .with(format!(", {}", when(resolved.at)));
        let mut block = Block::from(labelled(role, verb, &record.action.label))
            .line(decided.indented(2).hanging(2));
        if !resolved.reason.is_empty() {
            block = block.named_below(Role::Faint, "reason:", &resolved.reason);
        }
        if let Some(error) = &resolved.error {
            block = block.named_below(Role::Note, "the tool failed:", error);
        }
        if let Some(part) = &resolved.part {
            block = block.block(Block::part(part).indented(2));
        }
        block.line(origin(&record.action, None).indented(2).hanging(2))
    }

    fn with_state(self, record: &ActionRecord, when: impl Fn(SystemTime) -> String) -> Self {
        let status = Status::of(record);
        let text = match record.state {
            ActionState::Pending => None,
            _ => status.describe(&when),
        };
        let mut block = match text {
            Some(text) => self.fact(NAMES, "state", &text.in_full()),
            None => self.fact(NAMES, "state", record.state.as_str()),
        };
        // For an interrupted action, the error says only that it was interrupted.
        if let (ActionState::Pending | ActionState::Resolving, Some(error)) =
            (record.state, &record.last_error)
        {
            block = block.fact(NAMES, "last error", error);
        }
        if let (ActionState::Interrupted, Some(lease)) = (record.state, &record.lease) {
            let begun = format!("{}, by {}", when(lease.since), lease.holder);
            block = block.fact(NAMES, "begun", &begun);
        }
        block
    }

    fn with_resolved(self, resolved: &ResolvedRecord, when: impl Fn(SystemTime) -> String) -> Self {
        let by = &resolved.decided_by;
        let extra = resolved.extra.as_ref();
        let extra = extra.and_then(|extra| serde_json::to_string(extra).ok());
        let facts = [
            (resolved.decision.past(), Some(when(resolved.at))),
            ("by", Some(who(by))),
            ("evidence", Some(evidence(by.evidence).to_owned())),
            ("reason", Some(resolved.reason.clone())),
            ("extra", extra),
            ("result", resolved.result.map(|result| result.to_string())),
            ("error", resolved.error.clone()),
        ];
        let known = facts
            .into_iter()
            .filter_map(|(name, text)| Some((name, text?)));
        let block = known.fold(self, |block, (name, text)| block.fact(NAMES, name, &text));
        match &resolved.part {
            Some(part) => block.block(Block::part(part).indented(2)),
            None => block,
        }
    }
}

/// Returns the actor that decided, as far as known.
pub(super) fn who(by: &DecidedBy) -> String {
    match (&by.actor, by.actor.name()) {
        (Actor::Model, _) => "the model".to_owned(),
        (Actor::Program { .. }, Some(name)) => format!("the program {name}"),
        (Actor::Person { .. }, Some(name)) => format!("{name}, a person"),
        (_, Some(name)) => format!("{name}, without a question"),
        (_, None) => "an unnamed actor".to_owned(),
    }
}

/// Returns the evidence for an actor, in words.
pub(super) fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Client => "a client's word",
        Evidence::Terminal => "answered on the terminal",
        _ => evidence.as_str(),
    }
}

/// Returns an action's origin as the host knows it, and its name. A tool that doesn't belong to the
/// plugin is marked as the plugin's claim.
pub(super) fn origin(action: &PendingAction, pushed: Option<String>) -> Line {
    let lifetime = if action.durable {
        "durable"
    } else {
        "volatile"
    };
    let pushed = pushed.map(|when| format!("{when}, ")).unwrap_or_default();
    let line = Line::new().with_role(Role::Faint, "from ");
    let line = if action.source_is_own_tool {
        line.with_quoted(Role::Faint, &*action.source_tool_name)
            .with_role(Role::Faint, " of ")
    } else {
        line
    };
    let line = line
        .with_quoted(Role::Faint, plugin_name(action))
        .with_role(Role::Faint, format!(" ({})", action.plugin.short()));
    let line = if names_another_tool(action) {
        line.with_role(Role::Note, ", which names ")
            .with_quoted(Role::Faint, in_quotes(&action.source_tool_name))
    } else {
        line
    };
    line.with_role(Role::Faint, format!(", {lifetime}, {pushed}id "))
        .with_role(Role::Command, action.id.short())
}

/// Returns the host's name for the plugin.
fn plugin_name(action: &PendingAction) -> &str {
    match &*action.plugin_name {
        "" => "a plugin without a name",
        name => name,
    }
}

fn tool_of(action: &PendingAction) -> String {
    match (action.source_is_own_tool, names_another_tool(action)) {
        (false, true) => format!(
            "{}, as the plugin says, which has no such tool",
            in_quotes(&action.source_tool_name)
        ),
        _ => action.source_tool_name.clone(),
    }
}

fn names_another_tool(action: &PendingAction) -> bool {
    !action.source_is_own_tool && action.source_tool_name != DEFAULT_SOURCE_TOOL_NAME
}

/// Quotes a name, so that it can't end early.
fn in_quotes(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\\\""))
}

fn entry(
    action: &PendingAction,
    status: &Status<'_>,
    when: impl Fn(SystemTime) -> String,
) -> Block {
    let label = Line::new().with_quoted(Role::Title, &*action.label);
    let block = Block::from(label.hanging(2)).line(
        origin(action, Some(when(action.pushed_at)))
            .indented(2)
            .hanging(2),
    );
    let block = block.block(Block::grants(&action.grants).indented(2));
    let block = match status.describe(when) {
        Some(text) => block.line(text.in_a_line().indented(2).hanging(2)),
        None => block,
    };
    block.block(Block::effects_summary(status.effects).indented(2))
}

/// The state of an action.
struct Status<'a> {
    state: ActionState,
    attempts: u32,
    last_error: Option<&'a str>,
    lease: Option<&'a LeaseRecord>,
    effects: Option<&'a EffectsSummary>,
}

/// The state of an action, in words.
struct StatusText<'a> {
    state: Option<ActionState>,
    text: String,
    error: Option<&'a str>,
}

impl<'a> Status<'a> {
    fn of(record: &'a ActionRecord) -> Self {
        Self {
            state: record.state,
            attempts: record.attempts,
            last_error: record.last_error.as_deref(),
            lease: record.lease.as_ref(),
            effects: record.effects.as_ref(),
        }
    }

    /// Returns `None` if the action is simply pending, or resolved.
    fn describe(&self, when: impl Fn(SystemTime) -> String) -> Option<StatusText<'a>> {
        let state = Some(self.state);
        Some(match self.state {
            ActionState::Pending if self.attempts > 0 || self.last_error.is_some() => StatusText {
                state: None,
                text: attempts_text(self.attempts),
                error: self.last_error,
            },
            ActionState::Interrupted => StatusText {
                state,
                text: format!(" in attempt {}", self.attempts),
                error: self.last_error,
            },
            ActionState::Lost => StatusText {
                state,
                text: ": its tool kept the preview only in memory; it can only be discarded"
                    .to_owned(),
                error: None,
            },
            ActionState::Resolving => StatusText {
                state,
                text: self
                    .lease
                    .map(|lease| lease_text(lease, when))
                    .unwrap_or_default(),
                error: None,
            },
            ActionState::Pending | ActionState::Applied | ActionState::Discarded => return None,
        })
    }
}

impl StatusText<'_> {
    fn in_full(&self) -> String {
        let state = self.state.map_or("", ActionState::as_str);
        match self.error {
            Some(error) => format!("{state}{}: {error}", self.text),
            None => format!("{state}{}", self.text),
        }
    }

    /// Returns one line that includes the first line of the error.
    fn in_a_line(&self) -> Line {
        let line = match self.state {
            Some(state) => Line::new().with_role(Role::Note, state.as_str()),
            None => Line::new(),
        };
        let line = match self.state {
            // The holder's name was chosen by another host.
            Some(ActionState::Resolving) => line.with_quoted(Role::Plain, &*self.text),
            _ => line.with(&*self.text),
        };
        let Some(error) = self.error else {
            return line;
        };
        let line = line.with(": ");
        match error.split_once('\n') {
            Some((first, _)) => line.with_quoted(Role::Plain, format!("{} …", first.trim_end())),
            None => line.with_quoted(Role::Plain, error),
        }
    }
}

fn attempts_text(attempts: u32) -> String {
    match attempts {
        0 => "the last attempt to discard it failed".to_owned(),
        1 => "tried once".to_owned(),
        count => format!("tried {count} times, the last time"),
    }
}

/// Returns the decision that is being carried out, and by which holder.
fn lease_text(lease: &LeaseRecord, when: impl Fn(SystemTime) -> String) -> String {
    let (decision, holder) = (lease.decision.past(), &lease.holder);
    format!(
        ": being {decision} by {holder}, started {}",
        when(lease.since)
    )
}
