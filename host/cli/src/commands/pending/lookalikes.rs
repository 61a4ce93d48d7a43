//! Actions that look the same in a list, and the details that distinguish them: their changes, or
//! the params of their calls.

use std::collections::{BTreeMap, HashMap, HashSet};

use airlock_desk::store::Store;
use airlock_host::PendingAction;
use airlock_host::pending::{ActionId, CallRecord};
use airlock_host::store::ActionRecord;
use airlock_render::{Line, Role};
use serde_json::value::RawValue;

use crate::failure::Failure;

/// The most actions of a list that are compared. Each takes two reads of the store.
const MAX_COMPARED: usize = 100;

/// The most changes or params that are shown of an action.
const MAX_SHOWN: usize = 3;

/// The most bytes that are shown of a change or param.
const PART: usize = 80;

/// The lines that distinguish such actions.
#[derive(Default)]
pub struct Lookalikes(HashMap<ActionId, Vec<Line>>);

/// An action, with the two lists that may distinguish it.
struct Candidate<'a> {
    action: &'a PendingAction,
    /// Changes such as `modified a.txt`.
    changes: Vec<String>,
    /// Params such as `find: "a"`.
    params: Vec<String>,
}

impl Lookalikes {
    /// Reads the changes and calls of actions that have the same label and tool as another one in
    /// the list.
    ///
    /// # Errors
    /// If the store can't be read.
    pub async fn read(store: &Store, open: &[ActionRecord]) -> Result<Self, Failure> {
        let mut by_look: BTreeMap<_, Vec<&ActionRecord>> = BTreeMap::new();
        for record in open {
            let look = (&record.action.label, &record.action.source_tool_name);
            by_look.entry(look).or_default().push(record);
        }
        let mut lines = HashMap::new();
        let mut left = MAX_COMPARED;
        for records in by_look.values().filter(|records| records.len() > 1) {
            let looked_at = &records[..records.len().min(left)];
            left -= looked_at.len();
            let mut alike = Vec::new();
            for record in looked_at {
                alike.push(Candidate::read(store, record).await?);
            }
            tell_apart(&alike, &mut lines);
        }
        Ok(Self(lines))
    }

    /// Returns the lines to show below the action. Empty if it has no lookalike.
    pub fn lines(&self, action: &PendingAction) -> &[Line] {
        self.0.get(&action.id).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Candidate<'a> {
    async fn read(store: &Store, record: &'a ActionRecord) -> Result<Self, Failure> {
        let effects = store.effects(record).await?.unwrap_or_default();
        let call = store.call_record(record).await?;
        Ok(Self {
            action: &record.action,
            changes: effects.changes.iter().map(ToString::to_string).collect(),
            params: call.map(|call| params(&call)).unwrap_or_default(),
        })
    }
}

/// Returns the members of an object, or any other value as a whole.
fn params(call: &CallRecord) -> Vec<String> {
    match call.params.parse::<BTreeMap<String, &RawValue>>() {
        Ok(params) => (params.iter())
            .map(|(name, value)| format!("{name}: {value}"))
            .collect(),
        Err(_) => vec![call.params.as_str().to_owned()],
    }
}

/// Distinguishes lookalikes by their changes, and those with the same changes by the params of
/// their calls.
fn tell_apart(alike: &[Candidate<'_>], lines: &mut HashMap<ActionId, Vec<Line>>) {
    let common = common(alike.iter().map(|it| &it.changes));
    let mut by_changes: BTreeMap<_, Vec<&Candidate<'_>>> = BTreeMap::new();
    for candidate in alike {
        by_changes
            .entry(&candidate.changes)
            .or_default()
            .push(candidate);
    }
    for (changes, candidates) in &by_changes {
        if by_changes.len() > 1 {
            let (shared, own): (Vec<_>, Vec<_>) =
                changes.iter().partition(|it| common.contains(it));
            let all: Vec<&String> = own.into_iter().chain(shared).collect();
            for candidate in candidates {
                add(lines, candidate, "changes:", &all);
            }
        }
        let common = self::common(candidates.iter().map(|it| &it.params));
        for candidate in candidates {
            let own = candidate.params.iter().filter(|it| !common.contains(it));
            add(lines, candidate, "params:", &own.collect::<Vec<_>>());
        }
    }
}

/// Returns the items that are in each of the lists.
fn common<'a>(mut lists: impl Iterator<Item = &'a Vec<String>>) -> HashSet<&'a String> {
    let first: HashSet<&String> = lists.next().into_iter().flatten().collect();
    lists.fold(first, |common, list| {
        let list: HashSet<&String> = list.iter().collect();
        common.intersection(&list).copied().collect()
    })
}

fn add(
    lines: &mut HashMap<ActionId, Vec<Line>>,
    candidate: &Candidate<'_>,
    name: &str,
    parts: &[&String],
) {
    if parts.is_empty() {
        return;
    }
    let shown = parts.iter().take(MAX_SHOWN).map(|part| {
        let end = part.floor_char_boundary(PART);
        format!(
            "{}{}",
            &part[..end],
            if end < part.len() { "…" } else { "" }
        )
    });
    let shown: Vec<String> = shown.collect();
    let line = Line::new()
        .with_role(Role::Faint, format!("{name} "))
        .with_quoted(Role::Plain, shown.join(", "));
    let line = match parts.len().saturating_sub(MAX_SHOWN) {
        0 => line,
        more => line.with_role(Role::Faint, format!(", and {more} more")),
    };
    let lines = lines.entry(candidate.action.id.clone()).or_default();
    lines.push(line.indented(2).hanging(2));
}
