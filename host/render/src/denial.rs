//! Denials.

use std::time::SystemTime;

use airlock_model::denial::{DenialRecord, DeniedBy};
use airlock_model::pending::PendingAction;
use airlock_model::store::DENIALS_KEPT;

use super::action::{evidence, origin, who};
use super::decision::labelled;
use super::{Block, Line, Role};

impl Block {
    /// Returns a denial as an entry of the audit trail, like [`Block::audit`] for a decision.
    /// `when` formats a time for people.
    pub fn denial(
        action: &PendingAction,
        denied: &DenialRecord,
        when: impl Fn(SystemTime) -> String,
    ) -> Self {
        let (role, verb) = match denied.denial.denied_by {
            DeniedBy::Person(_) => (Role::Discard, "Declined:"),
            _ => (Role::Failed, "Refused:"),
        };
        Block::from(labelled(role, verb, &action.label))
            .block(request_block(denied, when))
            .line(origin(action, None).indented(2).hanging(2))
    }

    /// Returns the denials of one action, for the end of its details. Empty if there are none.
    pub fn denials(denials: &[DenialRecord], when: impl Fn(SystemTime) -> String) -> Self {
        let Some(first) = denials.first() else {
            return Block::new();
        };
        let head = Line::new().with_role(Role::Faint, "denied").indented(2);
        let mut block = Block::from(head);
        let before = first.number.saturating_sub(1);
        if before > 0 {
            let left_out =
                format!("{before} earlier ones were not kept: an action keeps {DENIALS_KEPT}");
            let left_out = Line::new().with_role(Role::Note, left_out);
            block = block.line(left_out.indented(4).hanging(2));
        }
        denials.iter().fold(block, |block, denied| {
            block.block(request_block(denied, &when).indented(2))
        })
    }
}

/// Returns the request, its time and reason, and the actor that denied it.
fn request_block(denied: &DenialRecord, when: impl Fn(SystemTime) -> String) -> Block {
    let denial = &denied.denial;
    let verb = denial.denied_by.past();
    let asked = Line::from(format!("{} asked for by ", denial.decision.as_str()))
        .with_quoted(Role::Plain, who(&denial.asked_by))
        .with(format!(
            " (evidence: {})",
            evidence(denial.asked_by.evidence)
        ))
        .with(format!(", {}", when(denied.at)));
    let mut block = Block::new().line(asked.indented(2).hanging(2));
    if !denial.reason.is_empty() {
        block = block.named_below(Role::Faint, "reason:", &denial.reason);
    }
    if let Some(person) = denial.denied_by.person() {
        let by = Line::from(format!("{verb} by "))
            .with_quoted(Role::Plain, who(person))
            .with(format!(" (evidence: {})", evidence(person.evidence)));
        block = block.line(by.indented(2).hanging(2));
    }
    block.named_below(Role::Note, &format!("{verb}:"), &denial.why)
}
