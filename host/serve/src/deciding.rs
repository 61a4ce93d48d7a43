//! The decision about an apply that a model requests.

use std::sync::Arc;

use airlock_desk::approval::{Judge, Wanted, refusal, why};
use airlock_desk::configuration::Decide;
use airlock_desk::store::Store;
use airlock_host::approval::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
use airlock_host::digest::Digest;
use airlock_host::effects::Effects;
use airlock_host::pending::{ActionId, Actor, DecidedBy, Evidence};
use airlock_host::store::ActionRecord;
use airlock_host::{PendingAction, Resolution};
use airlock_rules::{By, Judgement, Verdict};
use async_trait::async_trait;
use rmcp::model::{ElicitRequestParams, ElicitResult};
use tokio::time::sleep;

use crate::asking::{self, Caller, Instead, Way};
use crate::metrics::Meter;
use crate::question::{self, Answer, Chosen, Subject};
use crate::seal::{Asked, Seals};
use crate::tasks::ANSWERED_WITHIN;

/// The approver of a session, which is asked before each apply.
pub struct Decider {
    /// The default decision, if no rule applies. A model may always discard, because that has no
    /// effect.
    pub decides: Decide,
    pub judge: Judge,
    pub seals: Seals,
    /// The store in which a person at a terminal finds the action.
    pub store: Arc<Store>,
    pub meter: Meter,
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
            (Verdict::Ask, None) => self.at_a_terminal(action),
            (Verdict::AskAtTerminal, caller) => {
                let how = self.how_since(action, &judgement);
                if let Some(caller) = caller
                    && let Some(decided) = self.as_task(request, &caller, &how, None).await
                {
                    return decided;
                }
                Approval::NeedsPerson { how }
            }
        }
    }

    /// Only a model, or the person a client asks on its behalf, decides here. A person who was
    /// asked can discard without being asked again.
    async fn admit(&self, request: &ApprovalRequest<'_>, decided_by: &DecidedBy) -> Approval {
        let wanted = Wanted::from(request);
        let judgement = self.judge.judge(&wanted, self.decides.verdict()).await;
        match judgement.verdict {
            Verdict::Refuse => Approval::Refuse {
                reason: refusal(&judgement),
            },
            verdict if verdict.accepts(decided_by.evidence) => Approval::Allow,
            _ => Approval::NeedsPerson {
                how: self.how_since(&request.action.action, &judgement),
            },
        }
    }

    /// Judges effects that were not known before, now that the host has seen them.
    async fn confirm(&self, request: &ConfirmRequest<'_>) -> Confirmation {
        let wanted = Wanted::from(request);
        let evidence = request.decided_by.evidence;
        let default = self.decides.verdict();
        let judgement = self.judge.judge_with(&wanted, evidence, default).await;
        let reason = why(&judgement);
        match judgement.verdict {
            Verdict::Refuse => Confirmation::Refuse { reason },
            verdict if verdict.accepts(evidence) => Confirmation::Commit,
            _ => Confirmation::Drop { reason },
        }
    }

    async fn recheck(&self, request: &ConfirmRequest<'_>) -> Confirmation {
        self.judge.recheck(request, self.decides.verdict()).await
    }
}

impl Decider {
    async fn ask(&self, request: &ApprovalRequest<'_>, caller: &Caller) -> Approval {
        let action = &request.action.action;
        let choices = choices(request, caller);
        let asked = match caller.way {
            Way::None => None,
            _ => Some(&*choices),
        };
        let how = self.how(action);
        if let Some(decided) = self.as_task(request, caller, &how, asked).await {
            return decided;
        }
        match &caller.way {
            Way::None => self.at_a_terminal(action),
            Way::Request(peer) => {
                let asking = asking::ask(peer, self.question(&choices, request));
                let asking = caller.while_asking(asking);
                let _open = self.meter.asking();
                let answered = tokio::select! {
                    answered = asking => answered,
                    found = caller.decided_elsewhere(&self.store, &action.id) => {
                        return elsewhere(caller, found);
                    }
                };
                match answered {
                    Ok(answered) => self.decided(caller, request, &choices, &answered),
                    Err(error) => {
                        tracing::warn!("the client asked no one: {error}");
                        self.at_a_terminal(action)
                    }
                }
            }
            Way::Round { bound, answer } => {
                let now = asked_about(request, &choices);
                if let Some((state, answered)) = answer {
                    match self.seals.open(state, bound) {
                        Ok(then) if then == now => {
                            return self.decided(caller, request, &choices, answered);
                        }
                        // The effects differ from those in the answer: ask again.
                        Ok(_) => {}
                        Err(problem) => tracing::warn!("an answer doesn't count: {problem}"),
                    }
                }
                match self.seals.seal(&now, bound) {
                    Ok(state) => {
                        let question = self.question(&choices, request);
                        caller.end_with(Instead::question(question, state));
                    }
                    Err(problem) => tracing::warn!("the question could not be asked: {problem}"),
                }
                self.at_a_terminal(action)
            }
        }
    }

    /// Turns the call into a task and waits until a person decides: in a terminal or, if these
    /// choices can be shown, in the client. Returns `None` if the call can't become a task.
    async fn as_task(
        &self,
        request: &ApprovalRequest<'_>,
        caller: &Caller,
        how: &str,
        shown: Option<&[Subject]>,
    ) -> Option<Approval> {
        let action = &request.action.action;
        // A terminal can't resolve an action that only exists in its tool's memory.
        if shown.is_none() && !action.durable {
            return None;
        }
        let candidate = caller.take_candidate()?;
        let question = shown.map(|choices| self.question(choices, request));
        let answered = match candidate.begin(how, question) {
            Ok(answered) => answered,
            Err(problem) => {
                tracing::warn!("an apply becomes no task: {problem}");
                return None;
            }
        };
        let _open = self.meter.asking();
        Some(tokio::select! {
            Ok(answered) = answered => {
                self.decided(caller, request, shown.unwrap_or_default(), &answered)
            }
            found = caller.decided_elsewhere(&self.store, &action.id) => elsewhere(caller, found),
            () = sleep(ANSWERED_WITHIN) => Approval::Drop {
                reason: format!("there was no decision within a day. It stays pending. {how}"),
            },
        })
    }

    fn question(&self, choices: &[Subject], request: &ApprovalRequest<'_>) -> ElicitRequestParams {
        question::of(choices, request.resolution, |id| {
            self.command(&["show", id.as_str()])
        })
    }

    fn decided(
        &self,
        caller: &Caller,
        request: &ApprovalRequest<'_>,
        choices: &[Subject],
        answered: &ElicitResult,
    ) -> Approval {
        let action = &request.action.action;
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
                let mut apply = Resolution::apply(reason).with_id(choices[at].id.clone());
                apply.review = choices[at].effects.as_ref().map(Effects::digest);
                (apply, "the user chose another action")
            }
            Answer::Discard(Chosen { at, reason }) => {
                let reason =
                    reason.unwrap_or_else(|| "discarded when asked to apply it".to_owned());
                let discard = Resolution::discard(reason).with_id(choices[at].id.clone());
                (discard, "the user discards it")
            }
            Answer::Later(reason) => {
                let left = "the user leaves it pending for now";
                return Approval::Decline {
                    decided_by: asked_in(&caller.client).with_evidence(Evidence::Client),
                    reason: match reason {
                        Some(reason) => format!("{left}: {reason}"),
                        None => left.to_owned(),
                    },
                    advice: self.how(action),
                };
            }
            Answer::Declined => {
                return Approval::Decline {
                    decided_by: asked_in(&caller.client).with_evidence(Evidence::Client),
                    reason: "the user declined to decide".to_owned(),
                    advice: format!("It stays pending. {}", self.how(action)),
                };
            }
            Answer::None(why) => {
                return Approval::Drop {
                    reason: format!("{why}. It stays pending. {}", self.how(action)),
                };
            }
        };
        caller.end_with(Instead::Decided(resolution));
        Approval::Drop {
            reason: told.to_owned(),
        }
    }

    fn at_a_terminal(&self, action: &PendingAction) -> Approval {
        Approval::NeedsPerson {
            how: self.how(action),
        }
    }

    /// Says how a person decides, and why a person has to. An operator must name anything else than
    /// a person's decision as sufficient.
    fn how_since(&self, action: &PendingAction, judgement: &Judgement) -> String {
        let why = why(judgement);
        let how = if action.durable {
            self.how(action)
        } else {
            "Its tool keeps the preview only in memory, so that no terminal can apply it: a rule in the operator's configuration has to say `unverified = true` for it.".to_owned()
        };
        match (self.decides, judgement.first().map(|it| &it.by)) {
            (Decide::Terminal, Some(By::Default)) => how,
            _ => format!("It asks at a terminal, since {why}. {how}"),
        }
    }

    fn how(&self, action: &PendingAction) -> String {
        let resolve = self.command(&["resolve", "apply", "--id", action.id.as_str()]);
        format!(
            "Ask the user to run `{resolve}` in a terminal (or `discard` instead of `apply`), and continue in the meantime."
        )
    }

    /// Returns a command line that uses the same store. It is meant for a model, whose shell may
    /// run in any directory.
    fn command(&self, words: &[&str]) -> String {
        self.store.choice().command_anywhere(words)
    }
}

/// Ends the call with a decision that was made elsewhere.
fn elsewhere(caller: &Caller, found: Option<ActionRecord>) -> Approval {
    caller.end_with(Instead::Elsewhere(found.map(Box::new)));
    Approval::Drop {
        reason: "it was resolved elsewhere in the meantime".to_owned(),
    }
}

/// Returns the person that a client asks.
pub fn asked_in(client: &str) -> Actor {
    match client {
        "" => Actor::person("user of the client"),
        name => Actor::person(format!("user of {name}")),
    }
}

/// Approves, and records which rules allowed it. If only the default did, the model decides.
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

/// Returns the action that is to be applied, followed by those that may be chosen instead.
fn choices(request: &ApprovalRequest<'_>, caller: &Caller) -> Vec<Subject> {
    let action = &request.action.action;
    let wanted = Subject::of(action, request.effects.cloned());
    let others = caller.others.iter().filter(|it| it.id != action.id);
    [wanted].into_iter().chain(others.cloned()).collect()
}

fn asked_about(request: &ApprovalRequest<'_>, choices: &[Subject]) -> Asked {
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
