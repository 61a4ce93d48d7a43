//! What is promised about the turns of a conversation. Nothing here knows how a session comes to
//! what it says; each rule looks at a whole trace.

use airlock_host::pending::{ActionId, ActionState, StackedAction};
use airlock_host::steering::{REMINDER, Reminder, ReminderKind, ToolChoice, ToolChoicePolicy};

use crate::conversation::{End, PastTurn};

/// Which turn breaks it, and how.
type Violation = (usize, String);

type Rule = fn(ToolChoicePolicy, &[PastTurn]) -> Result<(), Violation>;

pub const RULES: &[(&str, Rule)] = &[
    (
        "nothing pending, nothing said and nothing forced",
        nothing_pending,
    ),
    ("the policy `Off` is silent", off_is_silent),
    (
        "a turn that does not offer `resolve` is left alone",
        not_offered,
    ),
    ("only what can be forced is forced", only_what_can_be_forced),
    (
        "an action that is newly there is told of in its first turn that offers `resolve`, and once",
        new_is_told,
    ),
    (
        "an ignored top is told of again after 1, 2, 4, 8 and then every 8 turns",
        ignored_is_told_again,
    ),
    ("a reminder says what it is about", reminders_are_right),
    (
        "`Remind` forces only after a turn that ignored the same top",
        forced_after_ignoring,
    ),
    (
        "`Remind` forces at most so often for each top",
        forced_at_most,
    ),
    (
        "`Remind` forces after a turn that ignored, as long as it may",
        ignoring_is_followed_by_forcing,
    ),
    (
        "`Force` forces as long as something is pending",
        force_forces,
    ),
    (
        "what was refused for a top is not forced again for it",
        refusals_are_heeded,
    ),
];

impl PastTurn {
    fn forced(&self) -> bool {
        self.given.tool_choice == ToolChoice::Resolve
    }

    fn tells_of(&self, id: &ActionId) -> bool {
        let mut told = self.given.reminders.iter().flat_map(|it| &it.actions);
        told.any(|it| it.id == *id)
    }

    fn top(&self) -> Option<Form<'_>> {
        self.stack.first().map(form)
    }

    fn lists(&self, form_of_it: Form<'_>) -> bool {
        self.stack.iter().any(|it| form(it) == form_of_it)
    }
}

/// An action that is back after an apply is another one to the model.
type Form<'a> = (&'a ActionId, u32, ActionState);

fn form(stacked: &StackedAction) -> Form<'_> {
    (&stacked.action.id, stacked.attempts, stacked.state)
}

/// What came before turn `at` that offered `resolve` too, since the same action is on top in all
/// turns. Latest first.
fn before_under_this_top(trace: &[PastTurn], at: usize) -> impl Iterator<Item = &PastTurn> {
    let top = trace[at].top();
    let before = trace[..at].iter().rev();
    before
        .take_while(move |past| past.top() == top)
        .filter(|past| past.settings.offers_resolve)
}

/// Those of them that took place.
fn took_place_under_this_top(trace: &[PastTurn], at: usize) -> impl Iterator<Item = &PastTurn> {
    before_under_this_top(trace, at).filter(|past| past.end != End::Refused)
}

/// Whether the provider has refused to force such a turn while this action was on top.
fn was_refused(trace: &[PastTurn], at: usize) -> bool {
    let thinks = trace[at].settings.extended_thinking;
    let mut refused = before_under_this_top(trace, at).filter(|past| past.end == End::Refused);
    refused.any(|past| thinks || !past.settings.extended_thinking)
}

fn can_force(trace: &[PastTurn], at: usize) -> bool {
    let settings = trace[at].settings;
    settings.offers_resolve
        && settings.can_force
        && !trace[at].stack.is_empty()
        && !was_refused(trace, at)
}

fn each_turn(
    trace: &[PastTurn],
    mut check: impl FnMut(usize, &PastTurn) -> Result<(), String>,
) -> Result<(), Violation> {
    for (at, past) in trace.iter().enumerate() {
        check(at, past).map_err(|problem| (at, problem))?;
    }
    Ok(())
}

fn ensure(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(otherwise.to_owned())
    }
}

fn is_silent(past: &PastTurn) -> Result<(), String> {
    ensure(!past.forced(), "is forced")?;
    ensure(past.given.reminders.is_empty(), "has reminders")
}

fn nothing_pending(_: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    each_turn(trace, |_, past| {
        ensure(past.given.pending == past.stack.len(), "counts wrongly")?;
        if past.stack.is_empty() {
            is_silent(past)
        } else {
            Ok(())
        }
    })
}

fn off_is_silent(policy: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    match policy {
        ToolChoicePolicy::Off => each_turn(trace, |_, past| is_silent(past)),
        _ => Ok(()),
    }
}

fn not_offered(_: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    each_turn(trace, |_, past| {
        if past.settings.offers_resolve {
            Ok(())
        } else {
            is_silent(past)
        }
    })
}

fn only_what_can_be_forced(_: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    each_turn(trace, |_, past| {
        let can = past.settings.can_force && past.settings.offers_resolve;
        ensure(can || !past.forced(), "can't be forced, and is")
    })
}

/// Whether the model was told of it before, and it was there ever since.
fn is_known(trace: &[PastTurn], at: usize, form: Form<'_>) -> bool {
    let before = trace[..at].iter().rev();
    let mut since = before.take_while(|past| past.lists(form));
    since.any(|past| past.settings.offers_resolve)
}

fn new_is_told(policy: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    if policy == ToolChoicePolicy::Off {
        return Ok(());
    }
    each_turn(trace, |at, past| {
        for (place, stacked) in past.stack.iter().enumerate() {
            if !past.settings.offers_resolve {
                continue;
            }
            let is_told = past.tells_of(&stacked.action.id);
            let label = &stacked.action.label;
            match is_known(trace, at, form(stacked)) {
                false => ensure(is_told, &format!("doesn't tell of {label}, which is new"))?,
                true if place > 0 => ensure(!is_told, &format!("tells of {label} once more"))?,
                true => {}
            }
        }
        Ok(())
    })
}

fn ignored_is_told_again(policy: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    if policy == ToolChoicePolicy::Off {
        return Ok(());
    }
    each_turn(trace, |at, past| {
        let Some((top, ..)) = past.top().filter(|_| past.settings.offers_resolve) else {
            return Ok(());
        };
        let is_first = before_under_this_top(trace, at).next().is_none();
        let ignored = took_place_under_this_top(trace, at)
            .take_while(|past| past.end == End::Ignored)
            .count();
        // One that was refused came in between, and had the reminder.
        let follows_a_refused_one = before_under_this_top(trace, at)
            .next()
            .is_some_and(|past| past.end == End::Refused);
        let due = matches!(ignored, 1 | 3 | 7) || ignored % 8 == 7;
        let due = is_first || (due && !follows_a_refused_one);
        ensure(
            past.tells_of(top) == due,
            &format!("comes after {ignored} that ignored it, first: {is_first}"),
        )
    })
}

fn reminders_are_right(_: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    each_turn(trace, |_, past| {
        let reminders = &past.given.reminders;
        let previews = reminders
            .iter()
            .filter(|it| it.kind == ReminderKind::Preview);
        ensure(previews.count() <= 1, "tells of previews twice")?;
        let mut told: Vec<&ActionId> = Vec::new();
        for reminder in reminders {
            ensure(!reminder.actions.is_empty(), "tells of nothing")?;
            for action in &reminder.actions {
                ensure(!told.contains(&&action.id), "tells of one action twice")?;
                told.push(&action.id);
                let found = past.stack.iter().find(|it| it.action.id == action.id);
                let stacked = found.ok_or("tells of what is not pending")?;
                ensure(action.label == stacked.action.label, "has another label")?;
                ensure(
                    action.tool == stacked.action.source_tool_name,
                    "has another tool",
                )?;
                is_right(reminder, stacked)?;
            }
            let place = |id: &ActionId| past.stack.iter().position(|it| it.action.id == *id);
            let places = reminder.actions.iter().map(|it| place(&it.id));
            ensure(places.is_sorted(), "does not begin with the topmost")?;
        }
        Ok(())
    })
}

fn is_right(reminder: &Reminder, stacked: &StackedAction) -> Result<(), String> {
    let text = match stacked.state {
        ActionState::Pending => (ReminderKind::Preview, REMINDER.to_owned()),
        ActionState::Interrupted => {
            let (label, id) = (&stacked.action.label, &stacked.action.id);
            let attempt = stacked.attempts;
            let text = format!(
                "<system-reminder>\nAn apply of \"{label}\" (id {id}) was interrupted in attempt {attempt}: it may have taken effect, wholly or in part. \
                 Find out before you call the `resolve` tool to apply it again or to discard it.\n</system-reminder>"
            );
            (ReminderKind::Interrupted, text)
        }
        other => return Err(format!("finds {other} pending")),
    };
    ensure(
        (reminder.kind, reminder.text.clone()) == text,
        "has another text",
    )
}

fn most(policy: ToolChoicePolicy) -> Option<usize> {
    match policy {
        ToolChoicePolicy::Remind { max_forced } => Some(max_forced as usize),
        ToolChoicePolicy::Force | ToolChoicePolicy::Off => None,
    }
}

fn last_ignored(trace: &[PastTurn], at: usize) -> bool {
    let mut before = took_place_under_this_top(trace, at);
    before.next().is_some_and(|past| past.end == End::Ignored)
}

fn forced_after_ignoring(policy: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    each_turn(trace, |at, past| match most(policy) {
        Some(_) if past.forced() => ensure(last_ignored(trace, at), "is forced at once"),
        _ => Ok(()),
    })
}

fn forced_so_far(trace: &[PastTurn], at: usize) -> usize {
    let before = took_place_under_this_top(trace, at);
    before.filter(|past| past.forced()).count()
}

fn forced_at_most(policy: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    each_turn(trace, |at, past| match most(policy) {
        Some(most) if past.forced() => ensure(forced_so_far(trace, at) < most, "is one too many"),
        _ => Ok(()),
    })
}

fn ignoring_is_followed_by_forcing(
    policy: ToolChoicePolicy,
    trace: &[PastTurn],
) -> Result<(), Violation> {
    each_turn(trace, |at, past| {
        let Some(most) = most(policy) else {
            return Ok(());
        };
        let must =
            can_force(trace, at) && last_ignored(trace, at) && forced_so_far(trace, at) < most;
        ensure(past.forced() || !must, "is not forced")
    })
}

fn force_forces(policy: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    each_turn(trace, |at, past| {
        let must = policy == ToolChoicePolicy::Force && can_force(trace, at);
        ensure(past.forced() || !must, "is not forced")
    })
}

fn refusals_are_heeded(_: ToolChoicePolicy, trace: &[PastTurn]) -> Result<(), Violation> {
    each_turn(trace, |at, past| {
        ensure(
            !past.forced() || !was_refused(trace, at),
            "is forced, which was refused",
        )
    })
}
