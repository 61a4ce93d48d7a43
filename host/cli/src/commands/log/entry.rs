//! The entries of the log: decisions and denials.

use std::time::SystemTime;

use airlock_host::pending::DecidedBy;
use airlock_host::store::{ActionRecord, DeniedAction};
use airlock_render::Block;

use super::filter::State;
use super::undoable::Undo;
use crate::documents::log::{DeniedEntry, LogEntry, LoggedDecision};
use crate::terminal::time;

/// An entry of the log.
pub enum Entry {
    /// A decision about an action.
    Decision(ActionRecord),
    /// A request that was denied.
    Denial(DeniedAction),
}

impl Entry {
    /// Merges entries of both kinds, latest first, from lists in that order. Each list keeps its
    /// order even if a clock was set back, so the first entries only depend on as many of each
    /// list.
    pub fn merged(decisions: Vec<ActionRecord>, denials: Vec<DeniedAction>) -> Vec<Self> {
        let mut merged = Vec::with_capacity(decisions.len() + denials.len());
        let mut decisions = decisions.into_iter().map(Self::Decision).peekable();
        let mut denials = denials.into_iter().map(Self::Denial).peekable();
        loop {
            let denial_is_next = match (decisions.peek(), denials.peek()) {
                (Some(decision), Some(denial)) => denial.at() > decision.at(),
                (None, Some(_)) => true,
                _ => false,
            };
            let next = if denial_is_next {
                denials.next()
            } else {
                decisions.next()
            };
            match next {
                Some(entry) => merged.push(entry),
                None => return merged,
            }
        }
    }

    /// Returns the action.
    pub fn record(&self) -> &ActionRecord {
        match self {
            Entry::Decision(record) => record,
            Entry::Denial(denied) => &denied.record,
        }
    }

    /// Returns the time of the decision or denial.
    pub fn at(&self) -> Option<SystemTime> {
        match self {
            Entry::Decision(record) => record.resolved.as_ref().map(|resolved| resolved.at),
            Entry::Denial(denied) => Some(denied.denied.at),
        }
    }

    /// Returns the decider, or the requester and the person who declined.
    pub fn people(&self) -> impl Iterator<Item = &DecidedBy> {
        let (first, second) = match self {
            Entry::Decision(record) => (record.resolved.as_ref().map(|it| &it.decided_by), None),
            Entry::Denial(denied) => {
                let denial = &denied.denied.denial;
                (Some(&denial.asked_by), denial.denied_by.person())
            }
        };
        first.into_iter().chain(second)
    }

    /// Returns the entry's kind.
    pub fn state(&self) -> Option<State> {
        match self {
            Entry::Decision(record) => Some(State::of_decision(record.resolved.as_ref()?.decision)),
            Entry::Denial(denied) => Some(match denied.denied.denial.denied_by.person() {
                Some(_) => State::Declined,
                None => State::Refused,
            }),
        }
    }

    /// Returns the entry for people.
    pub fn block(&self) -> Block {
        match self {
            Entry::Decision(record) => Block::audit(record, time::moment),
            Entry::Denial(denied) => {
                Block::denial(&denied.record.action, &denied.denied, time::moment)
            }
        }
    }

    /// Returns the entry for programs.
    pub fn json<'a>(&'a self, undo: &'a Undo) -> LogEntry<'a> {
        match self {
            Entry::Decision(record) => {
                let (is_possible, by) = match undo {
                    Undo::Unknown => (false, None),
                    Undo::Possible => (true, None),
                    Undo::By(id) => (false, Some(id.as_str())),
                };
                LogEntry::Decision(Box::new(LoggedDecision::new(record, is_possible, by)))
            }
            Entry::Denial(denied) => LogEntry::Denial(Box::new(DeniedEntry::new(denied))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use airlock_host::digest::Digest;
    use airlock_host::pending::{
        ActionState, Actor, Decision, Denial, DenialRecord, DeniedBy, Evidence,
    };
    use airlock_host::store::ResolvedRecord;
    use airlock_host::{PendingAction, Policy, Resolution};

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn record(id: u64) -> ActionRecord {
        let digest = Digest::of(b"");
        let action = PendingAction::new(id.to_string(), "", digest, "", Policy::default(), at(0));
        ActionRecord::new("one".into(), action, ActionState::Applied)
    }

    fn decision(time: u64) -> ActionRecord {
        let mut record = record(time);
        let resolved = ResolvedRecord::new(Decision::Apply, at(time), Actor::Model.into());
        record.resolved = Some(resolved);
        record
    }

    fn denial(time: u64) -> DeniedAction {
        let asked = Resolution::apply("");
        let person = Actor::person("ann").with_evidence(Evidence::Client);
        let denied_by = DeniedBy::Person(person);
        let denial = Denial::new(&asked, Actor::Model.into(), denied_by, "");
        DeniedAction::new(record(time), DenialRecord::new(1, at(time), denial))
    }

    fn ids(entries: &[Entry]) -> Vec<&str> {
        let ids = entries.iter().map(|it| it.record().action.id.as_str());
        ids.collect()
    }

    #[test]
    fn entries_of_both_kinds_are_in_the_order_of_their_times() {
        let both = |decisions: &[u64], denials: &[u64]| {
            let decisions = decisions.iter().map(|it| decision(*it)).collect();
            let denials = denials.iter().map(|it| denial(*it)).collect();
            Entry::merged(decisions, denials)
        };
        assert_eq!(ids(&both(&[], &[])), [""; 0]);
        assert_eq!(ids(&both(&[5, 3], &[])), ["5", "3"]);
        assert_eq!(ids(&both(&[], &[4, 2])), ["4", "2"]);
        assert_eq!(ids(&both(&[5, 3, 1], &[4, 2])), ["5", "4", "3", "2", "1"]);
        // A clock that was set back does not reorder its list.
        assert_eq!(ids(&both(&[1, 9, 8], &[4, 2])), ["4", "2", "1", "9", "8"]);
    }

    /// `log` reads as many entries of each list as it shows.
    #[test]
    fn the_first_entries_depend_on_as_many_of_each_list() {
        let (decisions, denials) = ([9, 8, 20, 3, 2, 1], [10, 7, 15, 6, 5, 4]);
        let merged = |count: usize| {
            let first = |of: &[u64]| of.iter().copied().take(count).collect::<Vec<_>>();
            let decisions = first(&decisions).into_iter().map(decision).collect();
            let denials = first(&denials).into_iter().map(denial).collect();
            Entry::merged(decisions, denials)
        };
        let all = merged(usize::MAX);
        assert_eq!(all.len(), 12);
        for count in 0..=12 {
            let some = merged(count);
            assert_eq!(ids(&some)[..count], ids(&all)[..count]);
        }
    }
}
