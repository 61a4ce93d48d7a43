//! Who decides about what a model wants applied.

use std::sync::Arc;

use airlock_host::approval::{Approval, ApprovalRequest, Approver};
use airlock_host::digest::Digest;
use airlock_host::effects::Effects;
use airlock_host::pending::{ActionId, Actor, Evidence, NamedAction};
use async_trait::async_trait;
use rmcp::model::ElicitRequestParams;

use crate::asking::{Caller, Way};
use crate::question::{self, Answer};
use crate::seal::{Asked, Seals};

/// Who decides about what a model wants applied. A model's discard needs nobody: it has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decides {
    /// A person: the client asks them, where it has said that it can, and else they decide at a
    /// terminal.
    ///
    /// What a client answers is its own word: it may answer by a rule, or by another model. The
    /// record of the decision says so.
    #[default]
    Person,
    /// A person at a terminal, with `airlock resolve`, whatever the client could ask.
    Terminal,
    /// The model itself.
    Model,
}

/// Makes a command line of this program, which uses the server's store.
pub type Command = Arc<dyn Fn(&[&str]) -> String + Send + Sync>;

/// What a session asks before an apply.
pub struct Decider {
    pub decides: Decides,
    pub seals: Seals,
    pub command: Command,
}

#[async_trait]
impl Approver for Decider {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let id = &request.action.action.id;
        let Some(caller) = Caller::current() else {
            return self.at_a_terminal(id);
        };
        match (self.decides, &caller.way) {
            (Decides::Model, _) => Approval::Allow,
            (Decides::Terminal, _) | (_, Way::None) => self.at_a_terminal(id),
            (Decides::Person, Way::Request(peer)) => {
                let asking = peer.create_elicitation(self.question(request));
                match asking.await {
                    Ok(answered) => self.decided(&caller, id, question::read(&answered)),
                    Err(error) => {
                        tracing::warn!("the client did not ask anybody: {error}");
                        self.at_a_terminal(id)
                    }
                }
            }
            (Decides::Person, Way::Round { bound, answer }) => {
                let now = asked(request);
                if let Some((state, answered)) = answer {
                    match self.seals.open(state, bound) {
                        Ok(then) if then == now => {
                            return self.decided(&caller, id, question::read(answered));
                        }
                        // Something else would happen by now: they are asked again.
                        Ok(_) => {}
                        Err(problem) => tracing::warn!("an answer doesn't count: {problem}"),
                    }
                }
                match self.seals.seal(&now, bound) {
                    Ok(state) => caller.end_with(self.question(request), state),
                    Err(problem) => tracing::warn!("nobody could be asked: {problem}"),
                }
                self.at_a_terminal(id)
            }
        }
    }
}

impl Decider {
    fn question(&self, request: &ApprovalRequest<'_>) -> ElicitRequestParams {
        let action = &request.action.action;
        let show = (self.command)(&["show", action.id.as_str()]);
        let named = NamedAction::from(&**action).to_string();
        question::of(&named, request.resolution, request.effects, &show)
    }

    fn decided(&self, caller: &Caller, id: &ActionId, answer: Answer) -> Approval {
        match answer {
            Answer::Apply(reason) => {
                let decided_by = asked_in(&caller.client).with_evidence(Evidence::Client);
                match reason {
                    Some(reason) => Approval::AllowedWithReason { decided_by, reason },
                    None => Approval::AllowedBy(decided_by),
                }
            }
            Answer::Discard(reason) => {
                let reason =
                    reason.unwrap_or_else(|| "discarded when asked to apply it".to_owned());
                caller.discard(id.clone(), reason);
                Approval::Refuse {
                    reason: "whoever was asked discards it".to_owned(),
                }
            }
            Answer::Later => Approval::Refuse {
                reason: format!(
                    "whoever was asked leaves it pending for now. {}",
                    self.how(id)
                ),
            },
            Answer::None(why) => Approval::Refuse {
                reason: format!("{why}. It stays pending. {}", self.how(id)),
            },
        }
    }

    fn at_a_terminal(&self, id: &ActionId) -> Approval {
        Approval::NeedsPerson { how: self.how(id) }
    }

    fn how(&self, id: &ActionId) -> String {
        let resolve = (self.command)(&["resolve", "apply", "--id", id.as_str()]);
        format!(
            "Ask the user to run `{resolve}` in a terminal (or `discard` instead of `apply`), and go on meanwhile."
        )
    }
}

/// Whoever a client asks.
pub fn asked_in(client: &str) -> Actor {
    match client {
        "" => Actor::person("user of the client"),
        name => Actor::person(format!("user of {name}")),
    }
}

fn asked(request: &ApprovalRequest<'_>) -> Asked {
    Asked {
        action: request.action.action.id.to_string(),
        effects: digest(request.effects),
        attempts: request.action.attempts,
    }
}

fn digest(effects: Option<&Effects>) -> String {
    let effects = serde_json::to_vec(&effects).unwrap_or_default();
    Digest::of(&effects).to_string()
}
