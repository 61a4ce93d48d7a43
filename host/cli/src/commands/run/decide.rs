//! Decisions about the actions that a call pushed.

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use airlock_desk::decider;
use airlock_desk::part::is_divisible;
use airlock_desk::resolution::{LOST, Resolved};
use airlock_host::content::CallOutcome;
use airlock_host::effects::{Effects, Selection};
use airlock_host::pending::{ActionId, DecidedBy, Decision};
use airlock_host::{Error, PendingAction, Resolution};
use airlock_render::Block;

use super::Request;
use crate::commands::context::CommandContext;
use crate::commands::part::{self, Picked};
use crate::commands::together;
use crate::failure::Failure;
use crate::input;
use crate::terminal::output::{Output, say, show_on_stderr};
use crate::terminal::prompt::{Answer, Asked, Question};

/// The decider.
pub enum Decider {
    /// The command line, for all actions alike.
    Decided(Resolution),
    /// The person at the terminal.
    Terminal,
    /// The absence of a decider: all actions stay pending.
    Nobody,
}

impl Decider {
    /// Chooses the decider.
    ///
    /// # Errors
    /// If `--extra` can't be read.
    pub fn choose(request: &Request, out: &Output) -> Result<Self, Failure> {
        // Prompt only if the person has seen the preview.
        let at_a_terminal =
            io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        let resolution = match &request.decision {
            Some((decision, reason)) => Resolution::new(*decision, reason),
            None if request.stage => return Ok(Decider::Nobody),
            None if at_a_terminal && !out.is_json() => return Ok(Decider::Terminal),
            None => return Ok(Decider::Nobody),
        };
        Ok(Decider::Decided(match &request.extra {
            Some(word) => resolution.with_extra(input::extra(word)?),
            None => resolution,
        }))
    }

    /// Returns whether a person can be asked.
    pub fn is_somebody(&self) -> bool {
        matches!(self, Decider::Terminal)
    }

    /// Returns whether the command line has decided, so that no one has to look.
    pub fn is_on_the_line(&self) -> bool {
        matches!(self, Decider::Decided(_))
    }

    /// Returns the call's result as the decider sees it. A person who is asked sees the full
    /// preview, including what the tool omits for its caller.
    pub async fn for_decider<'a>(
        &self,
        context: &CommandContext,
        outcome: &'a CallOutcome,
    ) -> Cow<'a, CallOutcome> {
        let (Decider::Terminal, Some(action)) = (self, outcome.pushed.first()) else {
            return Cow::Borrowed(outcome);
        };
        // If the store can't be read, the decision reports that, because it needs the store too.
        let Ok(Some(call)) = context.session.call_record(&action.id).await else {
            return Cow::Borrowed(outcome);
        };
        let mut seen = outcome.clone();
        seen.content = call.content;
        Cow::Owned(seen)
    }

    /// Returns the call's result. If the command line decides anyway, it doesn't list the actions
    /// as pending.
    pub fn preview(&self, outcome: &CallOutcome) -> Block {
        match self {
            Decider::Decided(..) => Block::content(&outcome.content),
            Decider::Terminal | Decider::Nobody => Block::call(outcome),
        }
    }

    /// Decides about each action, topmost first, and carries that out. Without a terminal, or with
    /// one decision for all, it stops at the first failure.
    pub async fn decide(
        &self,
        context: &CommandContext,
        outcome: &CallOutcome,
        out: &mut Output,
    ) -> Vec<Resolved> {
        match self {
            Decider::Nobody => Vec::new(),
            Decider::Decided(given) => {
                let by_whom = context.user.clone().into();
                decide_all(context, outcome, 0, (given, by_whom), out).await
            }
            Decider::Terminal => decide_each(context, outcome, out).await,
        }
    }
}

/// Asks about each action, topmost first, until an answer is about all that follow.
async fn decide_each(
    context: &CommandContext,
    outcome: &CallOutcome,
    out: &mut Output,
) -> Vec<Resolved> {
    let mut all = Vec::new();
    for index in 0..outcome.pushed.len() {
        let asked = ask(context, outcome, index, out).await;
        all.extend(asked.resolved);
        if context.interrupt.happened() || asked.quits {
            break;
        }
        if let Some((given, from)) = asked.for_all {
            let given = (&given, decider::person_at_terminal());
            all.extend(decide_all(context, outcome, from, given, out).await);
            break;
        }
    }
    all
}

/// Carries out one decision about all actions from this index on, until one fails. They are applied
/// in the order in which they were pushed: in one step, if possible.
async fn decide_all(
    context: &CommandContext,
    outcome: &CallOutcome,
    from: usize,
    (resolution, by_whom): (&Resolution, DecidedBy),
    out: &mut Output,
) -> Vec<Resolved> {
    let count = outcome.pushed.len();
    let mut order: Vec<_> = (from..count).collect();
    if resolution.decision == Decision::Apply {
        order.reverse();
        let applied = apply_together(context, outcome, &order, (resolution, &by_whom), out);
        if let Some(applied) = applied.await {
            return applied;
        }
    }
    let mut all = Vec::new();
    for (done, index) in order.into_iter().enumerate() {
        let (resolution, by_whom) = (resolution.clone(), by_whom.clone());
        let (action, place) = (&outcome.pushed[index], (from + done, count));
        let resolved = resolve(context, action, resolution, by_whom, place, out).await;
        let goes_on = resolved.outcome.is_ok();
        all.push(resolved);
        if context.interrupt.happened() || !goes_on {
            break;
        }
    }
    all
}

/// Applies actions in one step. Returns `None` if that isn't possible, or if their effects are not
/// the ones that were shown.
async fn apply_together(
    context: &CommandContext,
    outcome: &CallOutcome,
    order: &[usize],
    (resolution, by_whom): (&Resolution, &DecidedBy),
    out: &mut Output,
) -> Option<Vec<Resolved>> {
    if order.len() < 2 || resolution.extra.is_some() {
        return None;
    }
    let ids: Vec<_> = order.iter().map(|at| &outcome.pushed[*at].id).collect();
    // A failure shows again when the first one is decided.
    let named: Vec<_> = ids.iter().map(|id| (&context.session, *id)).collect();
    let review = together::review(context, &named, out).await.ok()??;
    let shown = |id: &ActionId| outcome.effects.iter().find(|it| it.action == *id);
    let mut pairs = ids.iter().zip(&review.each);
    if !pairs.all(|(id, now)| shown(id).is_none_or(|it| it.effects.digest() == now.digest())) {
        return None;
    }
    let reason = &resolution.reason;
    match together::apply(context, &review, reason, by_whom.clone(), out).await {
        Ok(applied) => Some(applied),
        Err(error) => {
            if !out.is_json() && !context.interrupt.happened() {
                out.gap();
                Failure::from(&error).report_on_stderr();
            }
            let first = &outcome.pushed[order[0]];
            Some(vec![Resolved {
                action: Arc::clone(first),
                resolution: resolution.clone().with_id(first.id.clone()),
                outcome: Err(error),
                is_lost: false,
            }])
        }
    }
}

/// The most changes that fit on the screen at a glance.
const SCROLLED: usize = 5;

/// The outcome of a question.
struct Outcome {
    /// The last attempt.
    resolved: Option<Resolved>,
    /// A decision about all actions from an index on.
    for_all: Option<(Resolution, usize)>,
    quits: bool,
}

/// Asks until the action is resolved or left.
async fn ask(
    context: &CommandContext,
    outcome: &CallOutcome,
    index: usize,
    out: &mut Output,
) -> Outcome {
    let action = &outcome.pushed[index];
    let place = (index, outcome.pushed.len());
    // A long preview has scrolled away, or was in a pager.
    let effects = outcome.effects.iter().find(|it| it.action == action.id);
    if let Some(seen) = effects.filter(|it| it.effects.changes.len() > SCROLLED) {
        let summary = Block::effects_summary(Some(&seen.effects.summary()));
        show_on_stderr(&summary);
    }
    let mut shown = effects.map(|it| it.effects.clone());
    let question = Question {
        action,
        place,
        asked: Asked::Which,
        reason: None,
        has_parts: shown.as_ref().is_some_and(is_divisible),
    };
    let mut asked = Outcome {
        resolved: None,
        for_all: None,
        quits: false,
    };
    loop {
        let show = async || say(&Block::call(outcome));
        let mut selection = Selection::new();
        let (decision, reason, all) = match question.ask(show, &context.interrupt).await {
            Answer::Pick => {
                let Some(effects) = &shown else { continue };
                match part::pick(effects, &question, &context.interrupt).await {
                    Picked::Nothing => continue,
                    Picked::Quit => {
                        asked.quits = true;
                        return asked;
                    }
                    Picked::Part(part, reason) => {
                        selection = part;
                        (Decision::Apply, reason, false)
                    }
                }
            }
            Answer::Decided {
                decision,
                reason,
                all,
            } => (decision, reason, all),
            Answer::Leave | Answer::Refresh => return asked,
            Answer::Quit => {
                asked.quits = true;
                return asked;
            }
        };
        let mut resolution = Resolution::new(decision, reason);
        if all && decision == Decision::Apply {
            asked.for_all = Some((resolution, index));
            return asked;
        }
        asked.for_all = all.then(|| (resolution.clone(), index + 1));
        resolution.review = shown.as_ref().map(Effects::digest);
        resolution.selection = selection;
        let resolved = resolve(
            context,
            action,
            resolution,
            decider::person_at_terminal(),
            place,
            out,
        )
        .await;
        // After a failed apply the action is pending again. A discard removes it, unless the tool
        // could not be called.
        let again = match &resolved.outcome {
            Ok(_) => false,
            Err(error) => decision == Decision::Apply || matches!(error, Error::Busy { .. }),
        };
        if all && resolved.outcome.is_err() && !again {
            asked.for_all = None;
            asked.quits = true;
        }
        shown = match &resolved.outcome {
            Err(Error::Different { difference, .. }) => Some(difference.now.clone()),
            Err(Error::NotReviewed { now, .. }) => Some((**now).clone()),
            _ => shown,
        };
        asked.resolved = Some(resolved);
        if !again || context.interrupt.happened() {
            return asked;
        }
        // Ask again about an action that failed, and about those after it.
        asked.for_all = None;
    }
}

async fn resolve(
    context: &CommandContext,
    action: &Arc<PendingAction>,
    resolution: Resolution,
    decided_by: DecidedBy,
    place: (usize, usize),
    out: &mut Output,
) -> Resolved {
    let decision = resolution.decision;
    let resolved = context.resolve(action, resolution, decided_by, place).await;
    match &resolved.outcome {
        Ok(_) => {
            out.gap();
            out.show(&resolved.block());
        }
        // This is reported at the end.
        Err(_) if out.is_json() || context.interrupt.happened() => {}
        Err(error) => {
            out.gap();
            let failure = Failure::from(error);
            let failure = match (decision, resolved.afterwards()) {
                (Decision::Discard, Some(told)) => failure.and_hint(told),
                (Decision::Apply, Some(LOST)) => failure.and_hint(LOST),
                // Pending actions are listed at the end.
                _ => failure,
            };
            failure.show_on_stderr(&resolved.block());
        }
    }
    resolved
}
