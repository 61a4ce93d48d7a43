//! What is known of each action: from what workers said, from what applies did, and from the store.
//! The three must agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use airlock_host::pending::{ActionId, ActionState, Decision};
use airlock_host::store::{
    APPLY_INTERRUPTED, ActionRecord, DISCARD_INTERRUPTED, DurableStore, ResolvedQuery, Scope,
};
use airlock_store_sqlite::SqliteStore;

use crate::worker::WorkerFiles;

#[derive(Default)]
pub struct Auditor {
    /// Whether workers share the store, so that what one knew may be out of date when it decides.
    several: bool,
    actions: BTreeMap<ActionId, ActionHistory>,
    /// How much of each ledger was read.
    read: BTreeMap<PathBuf, usize>,
    /// What was open after the last kill.
    open: BTreeMap<ActionId, ActionState>,
    pub hits: Hits,
}

/// About one action.
#[derive(Debug, Default, Clone)]
struct ActionHistory {
    pushed: bool,
    resolved: Option<Decision>,
    /// The attempts that took effect.
    effects: BTreeSet<u32>,
    /// Attempts that somebody was told about before there could be another.
    told: BTreeSet<u32>,
    /// Whether a discard of it was seen to have no known end.
    discard_interrupted: bool,
}

/// What kills have hit.
#[derive(Debug, Default)]
pub struct Hits {
    kills: u64,
    starting: u64,
    pushes: u64,
    /// Claimed, with no effect yet.
    applies_before: u64,
    /// With an effect, and not recorded.
    applies_after: u64,
    discards: u64,
    /// Recorded, and nobody was told.
    ends: u64,
    between: u64,
}

impl Hits {
    pub fn all_seen(&self) -> bool {
        let Hits {
            pushes,
            applies_before,
            applies_after,
            ends,
            ..
        } = self;
        [pushes, applies_before, applies_after, ends]
            .iter()
            .all(|count| **count > 0)
    }
}

/// Whether a worker got as far as to say that it was ready.
pub struct Announced {
    ready: bool,
}

impl Auditor {
    pub fn of_several() -> Self {
        Self {
            several: true,
            ..Self::default()
        }
    }

    pub fn hear(&mut self, lines: &[String]) -> Announced {
        let mut ready = false;
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let known = |id: &str| ActionId::from(id);
            match words[..] {
                ["ready"] => ready = true,
                ["pushed", id] => self.actions.entry(known(id)).or_default().pushed = true,
                ["applied", id] => self.resolved(known(id), Decision::Apply),
                ["discarded", id] => self.resolved(known(id), Decision::Discard),
                ["failed", id, attempt] => self.told(known(id), attempt),
                ["announced", id, state, attempts] => {
                    if state != ActionState::Resolving.as_str() {
                        self.told(known(id), attempts);
                    }
                }
                _ => panic!("a worker said {line:?}"),
            }
        }
        Announced { ready }
    }

    fn resolved(&mut self, id: ActionId, decision: Decision) {
        let known = self.actions.entry(id).or_default();
        assert_eq!(known.resolved, None, "resolved twice");
        known.resolved = Some(decision);
    }

    fn told(&mut self, id: ActionId, attempt: &str) {
        let known = self.actions.entry(id).or_default();
        known.told.insert(attempt.parse().unwrap());
    }

    pub fn read_ledgers(&mut self, site: &WorkerFiles) {
        for path in site.ledgers() {
            let text = fs::read_to_string(&path).unwrap();
            let from = self.read.insert(path, text.len()).unwrap_or_default();
            for line in text[from..].lines() {
                let (id, attempt) = line.split_once(' ').expect("whole lines");
                let attempt: u32 = attempt.parse().unwrap();
                let known = self.actions.entry(id.into()).or_default();
                assert!(known.effects.insert(attempt), "twice: {line}");
                assert_eq!(known.effects.len(), 1, "in another attempt too: {line}");
                // Whoever resolves is told that an earlier attempt may have taken effect.
                let told = attempt == 1 || known.told.contains(&(attempt - 1));
                assert!(told || self.several, "not announced: {line}");
            }
        }
    }

    /// Compares what may have changed since the last time.
    pub async fn compare(&mut self, store: &SqliteStore, said: Announced) -> Result<(), String> {
        let open = store.open_actions(Scope::All).await.unwrap();
        let mut now = BTreeMap::new();
        let mut hit = Hit::default();
        for record in &open {
            let id = &record.action.id;
            now.insert(id.clone(), record.state);
            let known = self.actions.entry(id.clone()).or_default();
            check_open(record, known)?;
            let before = self.open.get(id).copied();
            hit.note_open(record, known, before);
            // From now on it is known without the worker's word.
            known.pushed = true;
            known.discard_interrupted = record.last_error.as_deref() == Some(DISCARD_INTERRUPTED);
        }
        let gone = self.actions.iter().filter(|(id, known)| {
            known.pushed && known.resolved.is_none() && !now.contains_key(*id)
        });
        let gone: Vec<ActionId> = gone.map(|(id, _)| id.clone()).collect();
        for id in gone {
            let record = store.find(&id).await.unwrap();
            let record = record.ok_or_else(|| format!("{id} was lost"))?;
            let resolved = record.resolved.as_ref();
            let decision = resolved.ok_or_else(|| format!("{id} is nowhere"))?.decision;
            // The end was recorded, and the worker was killed before it could say so.
            hit.end = true;
            let known = self.actions.entry(id).or_default();
            known.resolved = Some(decision);
        }
        self.open = now;
        self.hits.count(&hit, &said);
        Ok(())
    }

    /// Compares everything.
    pub async fn compare_all(&mut self, store: &SqliteStore) {
        let query = ResolvedQuery {
            session: None,
            workspace: None,
            limit: usize::MAX,
        };
        let resolved = store.resolved_actions(&query).await.unwrap();
        let open = store.open_actions(Scope::All).await.unwrap();
        let mut found = BTreeSet::new();
        for record in resolved.iter().chain(&open) {
            let id = &record.action.id;
            assert!(found.insert(id.clone()), "{id} is there twice");
            let known = self.actions.entry(id.clone()).or_default();
            let checked = match &record.resolved {
                Some(_) => check_resolved(record, known),
                None => check_open(record, known),
            };
            assert_eq!(checked, Ok(()));
        }
        for (id, known) in &self.actions {
            assert!(found.contains(id), "{id} was lost: {known:?}");
        }
    }

    pub fn print(&self) {
        let count =
            |what: fn(&ActionHistory) -> bool| self.actions.values().filter(|it| what(it)).count();
        println!(
            "{} actions: {} took effect, {} of them more than once",
            self.actions.len(),
            count(|known| !known.effects.is_empty()),
            count(|known| known.effects.len() > 1),
        );
        if !self.several {
            println!("{:#?}", self.hits);
        }
    }
}

fn check_open(record: &ActionRecord, known: &ActionHistory) -> Result<(), String> {
    let told = || format!("{record:#?} {known:?}");
    let last = known.effects.last().copied().unwrap_or_default();
    let fine = known.resolved.is_none()
        && last <= record.attempts
        && match record.state {
            ActionState::Pending => {
                // An attempt that ended is told with why it failed, and one that did not is told as
                // interrupted.
                let error = record.last_error.as_deref();
                (record.attempts == 0 || error.is_some()) && error != Some(APPLY_INTERRUPTED)
            }
            ActionState::Interrupted => record.attempts > 0,
            _ => false,
        };
    fine.then_some(()).ok_or_else(told)
}

fn check_resolved(record: &ActionRecord, known: &ActionHistory) -> Result<(), String> {
    let told = || format!("{record:#?} {known:?}");
    let Some(resolved) = &record.resolved else {
        return Err(told());
    };
    let last = known.effects.last().copied().unwrap_or_default();
    let fine = known.resolved.is_none_or(|told| told == resolved.decision)
        && match resolved.decision {
            // A later attempt may have found that an earlier one took effect.
            Decision::Apply => known.effects.len() == 1 && last <= record.attempts,
            Decision::Discard => known.effects.is_empty(),
        };
    fine.then_some(()).ok_or_else(told)
}

/// What one kill has hit.
#[derive(Debug, Default)]
struct Hit {
    push: bool,
    apply_before: bool,
    apply_after: bool,
    discard: bool,
    end: bool,
}

impl Hit {
    fn note_open(
        &mut self,
        record: &ActionRecord,
        known: &ActionHistory,
        before: Option<ActionState>,
    ) {
        if !known.pushed {
            self.push = true;
        }
        let is_told = known.told.contains(&record.attempts);
        let interrupted = record.state == ActionState::Interrupted;
        if interrupted && (before != Some(ActionState::Interrupted) || !is_told) {
            if known.effects.contains(&record.attempts) {
                self.apply_after = true
            } else {
                self.apply_before = true
            }
        }
        let error = record.last_error.as_deref();
        let discard = error == Some(DISCARD_INTERRUPTED);
        self.discard |= discard && !known.discard_interrupted;
    }
}

impl Hits {
    fn count(&mut self, hit: &Hit, said: &Announced) {
        self.kills += 1;
        let which = match hit {
            Hit { end: true, .. } => &mut self.ends,
            Hit { push: true, .. } => &mut self.pushes,
            Hit {
                apply_after: true, ..
            } => &mut self.applies_after,
            Hit {
                apply_before: true, ..
            } => &mut self.applies_before,
            Hit { discard: true, .. } => &mut self.discards,
            _ if !said.ready => &mut self.starting,
            _ => &mut self.between,
        };
        *which += 1;
    }
}
