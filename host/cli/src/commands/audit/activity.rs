//! The actions of one plugin, counted.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use airlock_host::PendingAction;
use airlock_host::effects::{AppliedPart, Change, Effects, ObjectKind};
use airlock_host::pending::{ActionState, Actor, DecidedBy, Decision};
use airlock_host::store::ActionOutline;

use crate::documents::actions::utc;
use crate::documents::audit::{self, Decisions};

/// The most files that are counted, so that memory is bounded. Each takes about 16 bytes.
const COUNTED: usize = 200_000;

/// The number of files that are named.
const NAMED: usize = 3;

/// The actions of one plugin.
#[derive(Default)]
pub struct Activity {
    pub actions: u64,
    pub pending: u64,
    pub interrupted: u64,
    pub applied: Decisions,
    pub discarded: Decisions,
    pub denied: u64,
    pub files: Files,
    pub first: Option<SystemTime>,
    pub last: Option<SystemTime>,
}

/// The files that applied actions have changed.
#[derive(Default)]
pub struct Files {
    /// A hash of each. Their paths may not fit into memory.
    seen: HashSet<u64>,
    pub more: bool,
    /// The files that were changed last, latest first.
    pub latest: Vec<LatestFile>,
    /// The number of applied actions whose files are not known.
    pub unknown: u64,
}

/// A file that was changed lately.
pub struct LatestFile {
    pub at: SystemTime,
    pub path: String,
    pub workspace: Option<Arc<Path>>,
}

impl Activity {
    /// Counts an action. An applied one has the effects that the host saw, if those are known.
    pub fn add(&mut self, outline: &ActionOutline, effects: Option<&Effects>) {
        let record = &outline.record;
        self.actions += 1;
        self.denied += outline.denials;
        let pushed = record.action.pushed_at;
        let ended = record.resolved.as_ref().map_or(pushed, |it| it.at);
        self.first = Some(self.first.map_or(pushed, |first| first.min(pushed)));
        self.last = self.last.max(Some(pushed.max(ended)));
        let Some(resolved) = &record.resolved else {
            self.pending += 1;
            self.interrupted += u64::from(record.state == ActionState::Interrupted);
            return;
        };
        let decisions = match resolved.decision {
            Decision::Apply => &mut self.applied,
            Decision::Discard => &mut self.discarded,
        };
        decisions.count += 1;
        *decisions.by.entry(kind(&resolved.decided_by)).or_default() += 1;
        if resolved.decision == Decision::Apply {
            let part = resolved.part.as_ref();
            self.files.add(&record.action, resolved.at, effects, part);
        }
    }

    /// Returns the sum of the actions of two components.
    pub fn and(mut self, other: Self) -> Self {
        self.actions += other.actions;
        self.pending += other.pending;
        self.interrupted += other.interrupted;
        self.denied += other.denied;
        for (all, more) in [
            (&mut self.applied, other.applied),
            (&mut self.discarded, other.discarded),
        ] {
            all.count += more.count;
            for (kind, count) in more.by {
                *all.by.entry(kind).or_default() += count;
            }
        }
        self.files.more |= other.files.more;
        self.files.unknown += other.files.unknown;
        self.files.seen.extend(other.files.seen);
        for file in other.files.latest {
            self.files.name(file);
        }
        self.first = match (self.first, other.first) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        self.last = self.last.max(other.last);
        self
    }

    /// Returns the numbers for programs.
    pub fn document(&self) -> audit::Activity {
        audit::Activity {
            actions: self.actions,
            applied: self.applied.clone(),
            denied: self.denied,
            discarded: self.discarded.clone(),
            files: self.files.document(),
            first: self.first.and_then(utc),
            interrupted: self.interrupted,
            last: self.last.and_then(utc),
            pending: self.pending,
        }
    }
}

impl Files {
    /// Returns the number of different files that were counted.
    pub fn count(&self) -> u64 {
        self.seen.len() as u64
    }

    fn add(
        &mut self,
        action: &PendingAction,
        at: SystemTime,
        effects: Option<&Effects>,
        part: Option<&AppliedPart>,
    ) {
        let Some(effects) = effects else {
            self.unknown += 1;
            return;
        };
        let files = made(effects, part).filter(|it| !is_directory(it));
        for (index, change) in files.enumerate() {
            if self.seen.len() < COUNTED {
                self.seen.insert(hash(action, &change.path));
            } else {
                self.more |= !self.seen.contains(&hash(action, &change.path));
            }
            if index < NAMED {
                self.name(LatestFile {
                    at,
                    path: change.path.clone(),
                    workspace: action.workspace.clone(),
                });
            }
        }
    }

    /// Names a file, unless later ones are named.
    fn name(&mut self, file: LatestFile) {
        let is_same = |it: &LatestFile| (&it.path, &it.workspace) == (&file.path, &file.workspace);
        match self.latest.iter_mut().find(|it| is_same(it)) {
            Some(known) => known.at = known.at.max(file.at),
            None => self.latest.push(file),
        }
        self.latest.sort_by_key(|it| Reverse(it.at));
        self.latest.truncate(NAMED);
    }

    fn document(&self) -> audit::ChangedFiles {
        let latest = self.latest.iter().map(|file| audit::ChangedFile {
            at: utc(file.at),
            path: file.path.clone(),
            workspace: (file.workspace.as_deref()).map(|it| it.to_string_lossy().into_owned()),
        });
        audit::ChangedFiles {
            count: self.count(),
            latest: latest.collect(),
            more: self.more,
            unknown: self.unknown,
        }
    }
}

/// Returns the changes that an apply has made: all that were reviewed, but for those that a person
/// left out.
pub fn made<'a>(
    effects: &'a Effects,
    part: Option<&'a AppliedPart>,
) -> impl Iterator<Item = &'a Change> {
    let left_out = part.map_or(&[][..], |part| &part.left_out);
    let is_left_out = |change: &Change| {
        left_out
            .iter()
            .any(|it| (it.kind, &it.path, &it.from) == (change.kind, &change.path, &change.from))
    };
    effects.changes.iter().filter(move |it| !is_left_out(it))
}

fn is_directory(change: &Change) -> bool {
    let facts = change.after.as_ref().or(change.before.as_ref());
    facts.is_some_and(|it| it.object == ObjectKind::Directory)
}

/// Identifies a file. Machines that share a store may have different files at the same path.
fn hash(action: &PendingAction, path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let machine = action.workspace_identity.as_ref().map(|it| &it.machine);
    (machine, &action.workspace, path).hash(&mut hasher);
    hasher.finish()
}

/// Returns the kind of actor that decided. A rule is recorded as a program that has its name.
fn kind(by: &DecidedBy) -> &'static str {
    match &by.actor {
        Actor::Program { name } if name.starts_with("rule ") || name.starts_with("rules ") => {
            "rule"
        }
        actor => actor.kind(),
    }
}

/// Returns decisions in words, such as `3 (2 by the model, 1 by a person)`.
pub fn in_words(decisions: &Decisions) -> String {
    let by = decisions.by.iter().map(|(kind, count)| match *kind {
        "model" => format!("{count} by the model"),
        "unknown" => format!("{count} without a question"),
        kind => format!("{count} by a {kind}"),
    });
    let by: Vec<String> = by.collect();
    match &by[..] {
        [] => decisions.count.to_string(),
        by => format!("{} ({})", decisions.count, by.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use airlock_host::Policy;
    use airlock_host::digest::Digest;
    use airlock_host::effects::ChangeKind;
    use airlock_host::store::{ActionRecord, ResolvedRecord};

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// An action that was pushed at this time.
    fn pushed(time: u64, state: ActionState) -> ActionOutline {
        let digest = Digest::of(b"");
        let policy = Policy::default();
        let mut action = PendingAction::new(time.to_string(), "", digest, "one", policy, at(time));
        action.workspace = Some(Path::new("/photos").into());
        ActionOutline::new(ActionRecord::new("s".into(), action, state), 0)
    }

    /// An action that was decided 10 seconds later.
    fn decided(time: u64, decision: Decision, by: Actor) -> ActionOutline {
        let state = match decision {
            Decision::Apply => ActionState::Applied,
            Decision::Discard => ActionState::Discarded,
        };
        let mut outline = pushed(time, state);
        let resolved = ResolvedRecord::new(decision, at(time + 10), by.into());
        outline.record.resolved = Some(resolved);
        outline
    }

    fn effects(paths: &[&str]) -> Effects {
        let changes = paths.iter().map(|it| Change::new(ChangeKind::Created, *it));
        Effects::verified(changes.collect())
    }

    fn applied(time: u64, paths: &[&str]) -> Activity {
        let mut activity = Activity::default();
        let outline = decided(time, Decision::Apply, Actor::Model);
        activity.add(&outline, Some(&effects(paths)));
        activity
    }

    fn latest(activity: &Activity) -> Vec<&str> {
        let latest = activity.files.latest.iter();
        latest.map(|it| it.path.as_str()).collect()
    }

    #[test]
    fn actions_are_counted_by_state_and_decider() {
        let mut activity = Activity::default();
        activity.add(&pushed(5, ActionState::Pending), None);
        activity.add(&pushed(3, ActionState::Interrupted), None);
        let rule = Actor::program("rule `docs`");
        let by = [
            Actor::Model,
            rule,
            Actor::program("airlock"),
            Actor::person("ann"),
        ];
        for actor in by {
            let mut outline = decided(4, Decision::Discard, actor);
            outline.denials = 2;
            activity.add(&outline, None);
        }
        assert_eq!(
            (activity.actions, activity.pending, activity.interrupted),
            (6, 2, 1)
        );
        assert_eq!((activity.discarded.count, activity.denied), (4, 8));
        assert_eq!(
            in_words(&activity.discarded),
            "4 (1 by the model, 1 by a person, 1 by a program, 1 by a rule)"
        );
        assert_eq!(in_words(&activity.applied), "0");
        assert_eq!((activity.first, activity.last), (Some(at(3)), Some(at(14))));
    }

    #[test]
    fn files_are_counted_once_and_named_latest_first() {
        let activity = applied(1, &["a", "b"]).and(applied(9, &["b", "c"]));
        let activity = activity.and(applied(5, &["d"]));
        assert_eq!(activity.files.count(), 4);
        assert_eq!(latest(&activity), ["b", "c", "d"]);
        assert_eq!((activity.applied.count, activity.files.more), (3, false));
    }

    #[test]
    fn files_that_a_person_left_out_were_not_changed() {
        let effects = effects(&["a", "b"]);
        let part = r#"{"leftOut": [{"kind": "created", "path": "a"}]}"#;
        let part: AppliedPart = serde_json::from_str(part).unwrap();
        let made: Vec<&str> = made(&effects, Some(&part)).map(|it| &*it.path).collect();
        assert_eq!(made, ["b"]);
    }

    #[test]
    fn an_apply_without_known_effects_is_counted_as_unknown() {
        let mut activity = Activity::default();
        activity.add(&decided(1, Decision::Apply, Actor::Model), None);
        assert_eq!((activity.files.count(), activity.files.unknown), (0, 1));
    }
}
