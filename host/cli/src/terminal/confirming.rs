//! Approval of decisions on the command line or at the terminal: by the rules and, if required, by
//! asking the person.

use std::io::{self, IsTerminal};

use airlock_desk::approval::{Judge, Wanted, refusal, why};
use airlock_desk::decider;
use airlock_desk::store::StoreChoice;
use airlock_host::approval::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
use airlock_host::effects::Effects;
use airlock_host::pending::{DecidedBy, Evidence};
use airlock_render::{Block, Line, Role};
use airlock_rules::{Judgement, Verdict};
use async_trait::async_trait;

use super::interrupt::Interrupt;
use super::output::show_on_stderr;
use super::progress::Progress;
use super::prompt;
use crate::failure::Failure;

/// The operator's rules for decisions that are made here.
pub struct OperatorRules {
    pub judge: Judge,
    /// True if the terminal may prompt when a rule requires it.
    pub asks: bool,
    /// True to prompt about everything that the host has not seen before.
    pub confirms: bool,
    /// The store, for the command with which a person decides at a terminal.
    pub choice: StoreChoice,
    pub interrupt: Interrupt,
    pub progress: Progress,
}

/// Checks that prompting is possible if it is wanted.
///
/// # Errors
/// If no one can be asked.
pub fn check(wanted: bool, is_json: bool) -> Result<(), Failure> {
    if !wanted || can_ask(is_json) {
        return Ok(());
    }
    let failure = Failure::usage("`--confirm-effects` asks on a terminal, and there is none");
    Err(failure.with_hint("`--rehearse always` applies only verified actions"))
}

/// Returns whether a command can prompt while it runs.
pub fn can_ask(is_json: bool) -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal() && !is_json
}

impl OperatorRules {
    /// Returns the judgement. Without a matching rule, the person who runs the program decides.
    async fn judgement(&self, wanted: &Wanted<'_>, evidence: Evidence) -> Judgement {
        let judging = self.judge.judge_with(wanted, evidence, Verdict::Allow);
        judging.await
    }

    /// Prompts if the decision needs more evidence than it has. Returns `None` if there is no
    /// answer.
    async fn is_confirmed(&self, judgement: &Judgement, question: &str) -> Option<bool> {
        if !self.asks {
            return None;
        }
        let _paused = self.progress.pause();
        tell_why(judgement);
        prompt::confirm(question, &self.interrupt).await
    }
}

fn tell_why(judgement: &Judgement) {
    let line = Line::from("This asks at a terminal, since ");
    let line = line.with_quoted(Role::Plain, why(judgement)).with(".");
    show_on_stderr(&Block::from(line.hanging(2)));
}

#[async_trait]
impl Approver for OperatorRules {
    /// Allows every request, because no model decides here.
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Allow
    }

    async fn admit(&self, request: &ApprovalRequest<'_>, decided_by: &DecidedBy) -> Approval {
        // Effects that were not seen yet are judged once they are, before the commit. Until then,
        // only rules that don't look at changes apply.
        let nothing = Effects::verified(Vec::new());
        let seen = request.effects.filter(|effects| effects.verified);
        let wanted = Wanted {
            effects: Some(seen.unwrap_or(&nothing)),
            ..Wanted::from(request)
        };
        let judgement = self.judgement(&wanted, decided_by.evidence).await;
        if judgement.verdict.accepts(decided_by.evidence) {
            return Approval::Allow;
        }
        if judgement.verdict == Verdict::Refuse {
            return Approval::Refuse {
                reason: refusal(&judgement),
            };
        }
        match self.is_confirmed(&judgement, "Apply it? [y/N] ").await {
            Some(true) => Approval::AllowedBy(decider::person_at_terminal()),
            Some(false) => Approval::Decline {
                decided_by: decider::person_at_terminal(),
                reason: "it was not confirmed".to_owned(),
                advice: String::new(),
            },
            None if self.asks => Approval::Drop {
                reason: "it was not confirmed".to_owned(),
            },
            None => {
                let id = wanted.action.id.short();
                let command = self.choice.command(&["resolve", "apply", "--id", id]);
                let why = why(&judgement);
                Approval::NeedsPerson {
                    how: format!("It asks at a terminal, since {why}: run `{command}` in one."),
                }
            }
        }
    }

    async fn confirm(&self, request: &ConfirmRequest<'_>) -> Confirmation {
        let wanted = Wanted::from(request);
        let evidence = request.decided_by.evidence;
        let judgement = self.judgement(&wanted, evidence).await;
        let is_enough = judgement.verdict.accepts(evidence);
        if is_enough && !self.confirms {
            return Confirmation::Commit;
        }
        let _paused = self.progress.pause();
        let drop = |reason: String| Confirmation::Drop { reason };
        if judgement.verdict == Verdict::Refuse {
            let reason = refusal(&judgement);
            return Confirmation::Refuse { reason };
        }
        if !is_enough && !self.asks {
            return drop(format!("it asks at a terminal, since {}", why(&judgement)));
        }
        let block = Block::new().line("It was applied, and would change the workspace so:");
        show_on_stderr(&block.block(Block::effects(request.effects).indented(2)));
        if !is_enough {
            tell_why(&judgement);
        }
        let question = "Put this into the workspace? [y/N] ";
        match prompt::confirm(question, &self.interrupt).await {
            Some(true) => Confirmation::Commit,
            Some(false) => Confirmation::Decline {
                decided_by: decider::person_at_terminal(),
                reason: "its changes were not confirmed".to_owned(),
            },
            None => drop("its changes were not confirmed".to_owned()),
        }
    }

    async fn recheck(&self, request: &ConfirmRequest<'_>) -> Confirmation {
        self.judge.recheck(request, Verdict::Allow).await
    }
}
