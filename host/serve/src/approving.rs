//! The operator's rules as the approver of a session. It never asks a person.

use std::sync::Arc;

use airlock_desk::approval::{Judge, Wanted, refusal, why};
use airlock_desk::configuration::Decide;
use airlock_desk::store::Store;
use airlock_host::approval::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
use airlock_host::pending::{Actor, DecidedBy, Review};
use airlock_host::{PendingAction, Session};
use airlock_rules::{By, Judgement, Verdict};
use async_trait::async_trait;

/// The rules of a session, which are asked before each apply.
#[derive(Clone)]
pub struct OperatorRules {
    /// The default decision, if no rule applies. A model may always discard, because that has no
    /// effect.
    pub decides: Decide,
    pub judge: Judge,
    /// The store in which a person at a terminal finds the action.
    pub store: Arc<Store>,
}

#[async_trait]
impl Approver for OperatorRules {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let action = &request.action.action;
        let wanted = Wanted::from(request);
        let judgement = self
            .judge
            .let_through(&wanted, self.decides.verdict())
            .await;
        match judgement.verdict {
            Verdict::Allow => let_through(&judgement),
            Verdict::Refuse => Approval::Refuse {
                reason: refusal(&judgement),
            },
            Verdict::Ask => Approval::NeedsPerson {
                how: self.how(action),
            },
            Verdict::AskAtTerminal => Approval::NeedsPerson {
                how: self.how_since(action, &judgement),
            },
        }
    }

    /// Admits a decision by a model, or by the person that a client asks on its behalf. Others
    /// don't decide here. A person who was asked can discard without being asked again.
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

impl OperatorRules {
    /// Returns whether an action that needs a person can only be decided at a terminal.
    pub async fn demand_terminal(&self, session: &Session, review: &Review) -> bool {
        let wanted = Wanted {
            session: session.id(),
            workspace: session.workspace(),
            action: &review.action.action,
            call: review.call.as_ref(),
            effects: review.effects.as_ref(),
        };
        let judgement = self.judge.judge(&wanted, self.decides.verdict()).await;
        judgement.verdict == Verdict::AskAtTerminal
    }

    /// Returns how a person decides, and why a person has to. An operator must explicitly allow
    /// anything less than a person's decision.
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
    pub fn command(&self, words: &[&str]) -> String {
        self.store.choice().command_anywhere(words)
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
