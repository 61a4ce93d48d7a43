//! The actions of all plugins, read from the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use airlock_desk::store::Store;
use airlock_host::Policy;
use airlock_host::digest::Digest;
use airlock_host::effects::Effects;
use airlock_host::pending::Decision;
use airlock_host::policy::{Pattern, WorkspaceGrant};
use airlock_host::store::{ActionOutline, ActionRecord, StoreStats};

use super::activity::{Activity, made};
use crate::failure::Failure;

/// The number of actions that are read at a time. Their details are not read.
const PAGE: usize = 500;

/// A plugin as actions name it: the host's name for it, and the digest of its component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Producer {
    pub name: Arc<str>,
    pub digest: Digest,
}

/// The actions of all plugins.
#[derive(Default)]
pub struct Ledger {
    pub activities: BTreeMap<Producer, Activity>,
    /// The number of actions that can't be read.
    pub unreadable: u64,
    /// The grants that no applied action is known to have used, by the plugin's name.
    unused: BTreeMap<String, Vec<Pattern>>,
}

impl Ledger {
    /// Notes what a plugin may change, to find what it never changes. Call it before
    /// [`read`](Self::read).
    pub fn watch(&mut self, name: &str, policy: &Policy) {
        if policy.workspace != WorkspaceGrant::ReadWrite {
            return;
        }
        let mut patterns: Vec<Pattern> = Vec::new();
        for pattern in policy.change.lists().flatten() {
            if !patterns.contains(pattern) {
                patterns.push(pattern.clone());
            }
        }
        self.unused.insert(name.to_owned(), patterns);
    }

    /// Reads the actions of the plugins with a name that is chosen.
    ///
    /// # Errors
    /// If the store can't be read.
    pub async fn read(
        &mut self,
        store: &Store,
        is_chosen: impl Fn(&str) -> bool,
    ) -> Result<(), Failure> {
        let before = total(&store.durable().stats().await?);
        let (mut read, mut after) = (0, None);
        loop {
            let page = store.durable().outlines(after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.record.action.id.clone());
            read += page.len() as u64;
            for outline in page {
                if is_chosen(&outline.record.action.plugin_name) {
                    self.add(&outline, store).await?;
                }
            }
        }
        // Others may push and prune in between.
        let after = total(&store.durable().stats().await?);
        self.unreadable = before.min(after).saturating_sub(read);
        Ok(())
    }

    async fn add(&mut self, outline: &ActionOutline, store: &Store) -> Result<(), Failure> {
        let record = &outline.record;
        let effects = applied_effects(record, store).await?;
        if let Some(effects) = &effects {
            self.mark_used(record, effects);
        }
        let producer = Producer {
            name: Arc::clone(&record.action.plugin_name),
            digest: record.action.plugin,
        };
        let activity = self.activities.entry(producer).or_default();
        activity.add(outline, effects.as_ref());
        Ok(())
    }

    fn mark_used(&mut self, record: &ActionRecord, effects: &Effects) {
        let Some(unused) = self.unused.get_mut(&*record.action.plugin_name) else {
            return;
        };
        let part = record.resolved.as_ref().and_then(|it| it.part.as_ref());
        for change in made(effects, part) {
            if unused.is_empty() {
                return;
            }
            let ends = || [Some(&change.path), change.from.as_ref()];
            unused.retain(|it| !ends().into_iter().flatten().any(|path| it.matches(path)));
        }
    }

    /// Returns the patterns of paths that a plugin may change, and that match no file that it is
    /// known to have changed.
    pub fn unused(&self, name: &str) -> &[Pattern] {
        self.unused.get(name).map_or(&[], Vec::as_slice)
    }

    /// Removes and returns the actions of one component under this name.
    pub fn take(&mut self, name: &str, digest: Digest) -> Option<Activity> {
        let name = name.into();
        self.activities.remove(&Producer { name, digest })
    }

    /// Removes and returns the actions of all components under this name.
    pub fn take_named(&mut self, name: &str) -> Option<Activity> {
        let named = self.activities.keys().filter(|it| &*it.name == name);
        let named: Vec<Producer> = named.cloned().collect();
        let mut all = named.iter().filter_map(|it| self.activities.remove(it));
        let first = all.next()?;
        Some(all.fold(first, Activity::and))
    }
}

fn total(stats: &StoreStats) -> u64 {
    stats.pending + stats.resolving + stats.applied + stats.discarded
}

/// Returns the effects of an applied action, if the host saw them and the store still has them.
async fn applied_effects(record: &ActionRecord, store: &Store) -> Result<Option<Effects>, Failure> {
    let decision = record.resolved.as_ref().map(|it| it.decision);
    let summary = record.effects.as_ref().filter(|it| it.verified);
    let (Some(Decision::Apply), Some(summary)) = (decision, summary) else {
        return Ok(None);
    };
    if summary.counts.total() == 0 {
        return Ok(Some(Effects::verified(Vec::new())));
    }
    let effects = store.effects(record).await?;
    Ok(effects.filter(|it| it.verified))
}
