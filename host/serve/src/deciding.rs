//! Who decides about what a model wants applied.

use std::sync::Arc;

use airlock_desk::approval::{Judge, Wanted, refusal, why};
use airlock_desk::configuration::Decide;
use airlock_host::approval::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
use airlock_host::digest::Digest;
use airlock_host::effects::Effects;
use airlock_host::pending::{ActionId, Actor, DecidedBy, Evidence};
use airlock_host::{PendingAction, Resolution};
use airlock_rules::{By, Judgement, Verdict};
use async_trait::async_trait;
use rmcp::model::{ElicitRequestParams, ElicitResult};

use crate::asking::{self, Caller, Way};
use crate::question::{self, Answer, Choice, Chosen};
use crate::seal::{Asked, Seals};

/// Makes a command line of this program, which uses the server's store.
pub type Command = Arc<dyn Fn(&[&str]) -> String + Send + Sync>;

/// What a session asks before an apply.
pub struct Decider {
    /// Where no rule says otherwise. A model's discard needs nobody: it has no effect.
    pub decides: Decide,
    pub judge: Judge,
    pub seals: Seals,
    pub command: Command,
}

#[async_trait]
impl Approver for Decider {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let action = &request.action.action;
        let wanted = Wanted::from(request);
        let judgement = self
            .judge
            .let_through(&wanted, self.decides.verdict())
            .await;
        match (judgement.verdict, Caller::current()) {
            (Verdict::Allow, _) => let_through(&judgement),
            (Verdict::Refuse, _) => Approval::Refuse {
                reason: refusal(&judgement),
            },
            (Verdict::Ask, Some(caller)) => self.ask(request, &caller).await,
            (Verdict::Ask, None) => self.at_a_terminal(&action.id),
            (Verdict::AskAtTerminal, _) => self.at_a_terminal_since(action, &judgement),
        }
    }

    /// Nobody but a model, and whoever a client asks in its place, decides here. Whoever was asked
    /// discards, and is not asked about that.
    async fn admit(&self, request: &ApprovalRequest<'_>, decided_by: &DecidedBy) -> Approval {
        let wanted = Wanted::from(request);
        let judgement = self.judge.judge(&wanted, self.decides.verdict()).await;
        match judgement.verdict.accepts(decided_by.evidence) {
            true => Approval::Allow,
            false => self.at_a_terminal_since(&request.action.action, &judgement),
        }
    }

    /// What nobody had seen before is judged now that it is seen.
    async fn confirm(&self, request: &ConfirmRequest<'_>) -> Confirmation {
        let wanted = Wanted::from(request);
        let evidence = request.decided_by.evidence;
        let default = self.decides.verdict();
        let judgement = self.judge.judge_with(&wanted, evidence, default).await;
        match judgement.verdict.accepts(evidence) {
            true => Confirmation::Commit,
            false => Confirmation::Drop {
                reason: why(&judgement),
            },
        }
    }
}

impl Decider {
    async fn ask(&self, request: &ApprovalRequest<'_>, caller: &Caller) -> Approval {
        let id = &request.action.action.id;
        let choices = choices(request, caller);
        match &caller.way {
            Way::None => self.at_a_terminal(id),
            Way::Request(peer) => match asking::ask(peer, self.question(&choices, request)).await {
                Ok(answered) => self.decided(caller, request, &choices, &answered),
                Err(error) => {
                    tracing::warn!("the client did not ask anybody: {error}");
                    self.at_a_terminal(id)
                }
            },
            Way::Round { bound, answer } => {
                let now = asked(request, &choices);
                if let Some((state, answered)) = answer {
                    match self.seals.open(state, bound) {
                        Ok(then) if then == now => {
                            return self.decided(caller, request, &choices, answered);
                        }
                        // Something else would happen by now: they are asked again.
                        Ok(_) => {}
                        Err(problem) => tracing::warn!("an answer doesn't count: {problem}"),
                    }
                }
                match self.seals.seal(&now, bound) {
                    Ok(state) => caller.end_with(self.question(&choices, request), state),
                    Err(problem) => tracing::warn!("nobody could be asked: {problem}"),
                }
                self.at_a_terminal(id)
            }
        }
    }

    fn question(&self, choices: &[Choice], request: &ApprovalRequest<'_>) -> ElicitRequestParams {
        question::of(choices, request.resolution, |id| {
            (self.command)(&["show", id.as_str()])
        })
    }

    fn decided(
        &self,
        caller: &Caller,
        request: &ApprovalRequest<'_>,
        choices: &[Choice],
        answered: &ElicitResult,
    ) -> Approval {
        let id = &request.action.action.id;
        let (resolution, told) = match question::read(answered, choices) {
            Answer::Apply(Chosen { at: 0, reason }) => {
                let decided_by = asked_in(&caller.client).with_evidence(Evidence::Client);
                return match reason {
                    Some(reason) => Approval::AllowedWithReason { decided_by, reason },
                    None => Approval::AllowedBy(decided_by),
                };
            }
            Answer::Apply(Chosen { at, reason }) => {
                let reason = reason.unwrap_or_else(|| request.resolution.reason.clone());
                let apply = Resolution::apply(reason).with_id(choices[at].id.clone());
                (apply, "whoever was asked chose another action")
            }
            Answer::Discard(Chosen { at, reason }) => {
                let reason =
                    reason.unwrap_or_else(|| "discarded when asked to apply it".to_owned());
                let discard = Resolution::discard(reason).with_id(choices[at].id.clone());
                (discard, "whoever was asked discards it")
            }
            Answer::Later => {
                return Approval::Refuse {
                    reason: format!(
                        "whoever was asked leaves it pending for now. {}",
                        self.how(id)
                    ),
                };
            }
            Answer::None(why) => {
                return Approval::Refuse {
                    reason: format!("{why}. It stays pending. {}", self.how(id)),
                };
            }
        };
        caller.decide(resolution);
        Approval::Refuse {
            reason: told.to_owned(),
        }
    }

    fn at_a_terminal(&self, id: &ActionId) -> Approval {
        Approval::NeedsPerson { how: self.how(id) }
    }

    /// An operator has to say by name that something else than their word at a terminal is enough.
    fn at_a_terminal_since(&self, action: &PendingAction, judgement: &Judgement) -> Approval {
        let why = why(judgement);
        let how = match action.durable {
            true => self.how(&action.id),
            false => "Its tool keeps the preview only in memory, so that no terminal can apply it: a rule in the operator's configuration has to say `unverified = true` for it.".to_owned(),
        };
        match (self.decides, judgement.first().map(|it| &it.by)) {
            (Decide::Terminal, Some(By::Default)) => Approval::NeedsPerson { how },
            _ => Approval::NeedsPerson {
                how: format!("It asks at a terminal, since {why}. {how}"),
            },
        }
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

/// The record says which rules let it through; where nothing but the default did, the model
/// decides.
fn let_through(judgement: &Judgement) -> Approval {
    match judgement.let_through_by() {
        Some(rules) => {
            let rules: Vec<_> = rules.iter().map(|it| format!("`{it}`")).collect();
            let program = match rules.as_slice() {
                [one] => format!("rule {one}"),
                more => format!("rules {}", more.join(", ")),
            };
            Approval::AllowedBy(Actor::program(program).into())
        }
        None => Approval::Allow,
    }
}

/// The action that is to be applied, and then those that may be chosen in its place.
fn choices(request: &ApprovalRequest<'_>, caller: &Caller) -> Vec<Choice> {
    let action = &request.action.action;
    let wanted = Choice::of(action, request.effects.cloned());
    let others = caller.others.iter().filter(|it| it.id != action.id);
    [wanted].into_iter().chain(others.cloned()).collect()
}

fn asked(request: &ApprovalRequest<'_>, choices: &[Choice]) -> Asked {
    let shown: Vec<_> = choices.iter().map(|it| (&it.id, &it.effects)).collect();
    Asked {
        action: request.action.action.id.to_string(),
        effects: digest(&shown),
        attempts: request.action.attempts,
    }
}

fn digest(shown: &[(&ActionId, &Option<Effects>)]) -> String {
    let shown = serde_json::to_vec(shown).unwrap_or_default();
    Digest::of(&shown).to_string()
}
