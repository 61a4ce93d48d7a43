//! Judging what is to be applied, by the operator's rules.

mod inside;

use std::sync::Arc;

use airlock_host::PendingAction;
use airlock_host::effects::Effects;
use airlock_host::pending::{CallRecord, SessionId};
use airlock_host::store::DurableStore;
use airlock_rules::{Inside, Judgement, Rules, Subject, Verdict};

use crate::store::Store;

/// What the operator's rules, and those of the workspace, say of actions. Cheap to clone.
#[derive(Clone)]
pub struct Judge {
    rules: Arc<Rules>,
    store: Arc<dyn DurableStore>,
    operator: Arc<str>,
}

/// An action that is to be applied, as far as whoever asks has it.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Whose stack it is on.
    pub session: &'a SessionId,
    /// The action.
    pub action: &'a PendingAction,
    /// Its call; where there is none, the store is wanted.
    pub call: Option<&'a CallRecord>,
    /// What the host has seen it do.
    pub effects: Option<&'a Effects>,
}

impl Judge {
    /// The operator is who the budget is of: the user who runs the program, or a name that a server
    /// knows.
    pub fn new(rules: Rules, store: &Store, operator: impl Into<Arc<str>>) -> Self {
        Self {
            rules: Arc::new(rules),
            store: store.shared(),
            operator: operator.into(),
        }
    }

    /// What is to be done with an action, and with what no rule is about `default`. Nothing is
    /// counted.
    pub async fn judge(&self, wanted: &Wanted<'_>, default: Verdict) -> Judgement {
        let action = wanted.action;
        let kept = match wanted.call {
            Some(_) => None,
            // Without one, no rule is about its tool.
            None => (self.store.call_record(wanted.session, &action.id).await)
                .ok()
                .flatten(),
        };
        let call = wanted.call.or(kept.as_ref());
        let tool = call.map_or("", |call| &call.tool);
        let moved = inside::of_all(action.workspace.clone(), wanted.effects).await;
        let subject = Subject {
            tool,
            plugin: &action.plugin_name,
            digest: action.plugin,
            workspace: action.workspace.as_deref(),
            effects: wanted.effects,
        };
        self.rules.judge(&subject, default, |directory| {
            // What nobody has looked at may hold anything.
            moved
                .get(directory)
                .cloned()
                .unwrap_or_else(Inside::default)
        })
    }

    /// The same, for an action that is applied at once where it is let through: it is counted in
    /// the budget of the hour, and what that doesn't have asks a person.
    pub async fn let_through(&self, wanted: &Wanted<'_>, default: Verdict) -> Judgement {
        let judgement = self.judge(wanted, default).await;
        judgement
    }
}

/// Why, as a clause: the strictest reasons.
pub fn why(judgement: &Judgement) -> String {
    let strictest = judgement.because.iter();
    let strictest = strictest.take_while(|it| it.verdict == judgement.verdict);
    let told: Vec<_> = strictest.take(TOLD).map(ToString::to_string).collect();
    told.join("; ")
}

/// How many reasons are told.
const TOLD: usize = 3;
