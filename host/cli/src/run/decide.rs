//! Decisions about what a call pushed.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use airlock_host::{Decision, Error, PendingAction, Resolution, ResolutionOutcome};

use super::prompt::{self, Answer};
use super::{Stage, show};
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::Output;

/// Who decides.
pub enum Decider {
    /// The command line did, about all alike.
    Decided(Decision, String),
    /// Whoever sits at the terminal.
    Terminal,
    /// Nobody: all is left as it is.
    Nobody,
}

/// A decision, and how carrying it out ended.
pub struct Resolved {
    pub action: Arc<PendingAction>,
    pub decision: Decision,
    pub reason: String,
    pub outcome: Result<ResolutionOutcome, Error>,
}

impl Decider {
    pub fn choose(args: &RunArgs, out: &Output) -> Self {
        // Somebody is asked only where they have seen the preview.
        let at_a_terminal =
            io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        match (&args.apply, &args.discard) {
            (Some(reason), _) => Decider::Decided(Decision::Apply, reason.clone()),
            (None, Some(reason)) => Decider::Decided(Decision::Discard, reason.clone()),
            (None, None) if at_a_terminal && !out.is_json() => Decider::Terminal,
            (None, None) => Decider::Nobody,
        }
    }

    /// Decides about each action from the top, and carries that out. Without a terminal it ends at the first failure.
    pub async fn decide(
        &self,
        stage: &Stage,
        pushed: &[Arc<PendingAction>],
        out: &mut Output,
    ) -> Vec<Resolved> {
        let mut all = Vec::new();
        for (index, action) in pushed.iter().enumerate() {
            let resolved = match self {
                Decider::Decided(decision, reason) => {
                    Some(stage.resolve(action, *decision, reason.clone(), out).await)
                }
                Decider::Terminal => stage.ask(action, (index, pushed.len()), out).await,
                Decider::Nobody => None,
            };
            let failed = resolved
                .as_ref()
                .is_some_and(|resolved| resolved.outcome.is_err());
            all.extend(resolved);
            let goes_on = matches!(self, Decider::Terminal) || !failed;
            if stage.interrupt.happened() || !goes_on {
                break;
            }
        }
        all
    }
}

impl Stage {
    /// Asks until the action is resolved or left. The last try counts.
    async fn ask(
        &self,
        action: &Arc<PendingAction>,
        place: (usize, usize),
        out: &mut Output,
    ) -> Option<Resolved> {
        let mut last = None;
        loop {
            let Answer::Decided(decision, reason) =
                prompt::ask(action, place, &self.interrupt).await
            else {
                return last;
            };
            let resolved = self.resolve(action, decision, reason, out).await;
            // After a failed apply the action is pending again; a discard always removes it.
            let again = resolved.outcome.is_err() && decision == Decision::Apply;
            if !again || self.interrupt.happened() {
                return Some(resolved);
            }
            last = Some(resolved);
        }
    }

    async fn resolve(
        &self,
        action: &Arc<PendingAction>,
        decision: Decision,
        reason: String,
        out: &mut Output,
    ) -> Resolved {
        let resolution = match decision {
            Decision::Apply => Resolution::apply(reason.clone()),
            Decision::Discard => Resolution::discard(reason.clone()),
        };
        let resolution = resolution.with_id(action.id.as_str());
        let carrying_out = self
            .session
            .resolve_with(resolution, Some(self.interrupt.token()));
        let what = match decision {
            Decision::Apply => "Applying…",
            Decision::Discard => "Discarding…",
        };
        let outcome = self.progress.during(what.to_owned(), carrying_out).await;
        match &outcome {
            Ok(outcome) => {
                out.line("");
                show::content(out, &outcome.content);
            }
            // Told at the end.
            Err(_) if out.is_json() || self.interrupt.happened() => {}
            Err(error) => {
                Failure::from(error).report_on_stderr();
            }
        }
        Resolved {
            action: Arc::clone(action),
            decision,
            reason,
            outcome,
        }
    }
}
