//! Decisions about what a call pushed.

use std::io::{self, IsTerminal};
use std::sync::Arc;

use airlock_desk::resolution::{LOST, Resolved};
use airlock_host::content::CallOutcome;
use airlock_host::pending::{DecidedBy, Decision, Evidence};
use airlock_host::{Error, PendingAction, Resolution};
use airlock_render::Block;

use super::Request;
use crate::commands::context::CommandContext;
use crate::failure::Failure;
use crate::input;
use crate::terminal::output::Output;
use crate::terminal::prompt::{self, Answer};

/// Who decides.
pub enum Decider {
    /// The command line did, about all alike.
    Decided(Resolution),
    /// Whoever sits at the terminal.
    Terminal,
    /// Nobody: all is left as it is.
    Nobody,
}

impl Decider {
    /// # Errors
    /// Where `--extra` can't be read.
    pub fn choose(request: &Request, out: &Output) -> Result<Self, Failure> {
        // Somebody is asked only where they have seen the preview.
        let at_a_terminal =
            io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        let resolution = match &request.decision {
            Some((decision, reason)) => Resolution::new(*decision, reason),
            None if at_a_terminal && !out.is_json() => return Ok(Decider::Terminal),
            None => return Ok(Decider::Nobody),
        };
        Ok(Decider::Decided(match &request.extra {
            Some(word) => resolution.with_extra(input::extra(word)?),
            None => resolution,
        }))
    }

    /// What the call gave. What is about to be decided anyway need not be told to be pending.
    pub fn preview(&self, outcome: &CallOutcome) -> Block {
        match self {
            Decider::Decided(..) => Block::content(&outcome.content),
            Decider::Terminal | Decider::Nobody => Block::call(outcome),
        }
    }

    /// Decides about each action from the top, and carries that out. Without a terminal it ends at
    /// the first failure.
    pub async fn decide(
        &self,
        context: &CommandContext,
        pushed: &[Arc<PendingAction>],
        out: &mut Output,
    ) -> Vec<Resolved> {
        let mut all = Vec::new();
        for (index, action) in pushed.iter().enumerate() {
            let resolved = match self {
                Decider::Decided(resolution) => {
                    let by_whom = context.user.clone().into();
                    Some(resolve(context, action, resolution.clone(), by_whom, out).await)
                }
                Decider::Terminal => ask(context, action, (index, pushed.len()), out).await,
                Decider::Nobody => None,
            };
            let failed = resolved
                .as_ref()
                .is_some_and(|resolved| resolved.outcome.is_err());
            all.extend(resolved);
            let goes_on = matches!(self, Decider::Terminal) || !failed;
            if context.interrupt.happened() || !goes_on {
                break;
            }
        }
        all
    }
}

/// Asks until the action is resolved or left. The last try counts.
async fn ask(
    context: &CommandContext,
    action: &Arc<PendingAction>,
    place: (usize, usize),
    out: &mut Output,
) -> Option<Resolved> {
    let mut last = None;
    loop {
        let Answer::Decided(decision, reason) =
            prompt::ask(action, place, &context.interrupt).await
        else {
            return last;
        };
        let resolution = Resolution::new(decision, reason);
        let by_whom = context.user.clone().with_evidence(Evidence::Terminal);
        let resolved = resolve(context, action, resolution, by_whom, out).await;
        // After a failed apply the action is pending again. A discard removes it, unless the tool
        // could not be called.
        let again = match &resolved.outcome {
            Ok(_) => false,
            Err(error) => decision == Decision::Apply || matches!(error, Error::Busy { .. }),
        };
        if !again || context.interrupt.happened() {
            return Some(resolved);
        }
        last = Some(resolved);
    }
}

async fn resolve(
    context: &CommandContext,
    action: &Arc<PendingAction>,
    resolution: Resolution,
    decided_by: DecidedBy,
    out: &mut Output,
) -> Resolved {
    let decision = resolution.decision;
    let resolved = context.resolve(action, resolution, decided_by).await;
    match &resolved.outcome {
        Ok(_) => {
            out.gap();
            out.show(&resolved.block());
        }
        // Told at the end.
        Err(_) if out.is_json() || context.interrupt.happened() => {}
        Err(error) => {
            out.gap();
            let failure = Failure::from(error);
            let failure = match (decision, resolved.afterwards()) {
                (Decision::Discard, Some(told)) => failure.and_hint(told),
                (Decision::Apply, Some(LOST)) => failure.and_hint(LOST),
                // What stays pending is told at the end.
                _ => failure,
            };
            failure.show_on_stderr(&resolved.block());
        }
    }
    resolved
}
