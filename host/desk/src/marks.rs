//! Marks of listed actions: their relations to other actions, and to what was applied since.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use airlock_host::PendingAction;
use airlock_host::pending::{ActionId, ActionState, CallRecord, Decision, SessionId};
use airlock_host::reads::StaleFile;
use airlock_host::store::{ActionRecord, ResolvedQuery};

use crate::Error;
use crate::session::without_model;
use crate::store::Store;

/// The maximum number of decisions of a session that are inspected, latest first.
const LOOKED_AT: usize = 100;

/// The marks of the actions in a list.
#[derive(Debug, Default)]
pub struct Marks {
    same_as: HashMap<ActionId, SameAs>,
    applied_since: HashMap<ActionId, ActionId>,
    /// The changed files of the actions that could be compared.
    stale: BTreeMap<ActionId, Vec<StaleFile>>,
}

/// Another action that is equal, as far as the two were compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameAs {
    /// The other action, which was pushed earlier.
    pub id: ActionId,
    /// True if the calls that pushed them were compared too, including their results.
    pub by_call: bool,
}

impl Marks {
    /// Determines the marks of the actions. Looks at the calls that `call_of` knows, once for each
    /// session at its decisions, and once for each workspace of a session at its files. Doesn't
    /// read previews.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub async fn of<'a>(
        open: &[ActionRecord],
        store: &Store,
        call_of: impl Fn(&PendingAction) -> Option<&'a CallRecord>,
    ) -> Result<Self, Error> {
        let mut marks = Self::default();
        for records in open.chunk_by(|one, next| one.session == next.session) {
            marks.mark_the_same(records, &call_of);
            if let Some(first) = records.first() {
                let applied = applied(&first.session, store).await?;
                marks.mark_the_older(records, &applied);
                marks.mark_the_stale(records, store).await;
            }
        }
        Ok(marks)
    }

    /// Returns another action of the list that was pushed earlier, by another call, and that is
    /// equal in everything that a listing knows: its plugin's bytes, tool, label, details and
    /// workspace. If both calls are known, their params and results are equal too.
    ///
    /// Never returns a lost action, because that can't be applied.
    pub fn same_as(&self, action: &PendingAction) -> Option<&SameAs> {
        self.same_as.get(&action.id)
    }

    /// Returns the action of another call that was last applied to the action's workspace since its
    /// preview. `None` if the action's [files](Self::stale) were compared, which says more.
    pub fn applied_since(&self, action: &PendingAction) -> Option<&ActionId> {
        let latest = self.applied_since.get(&action.id);
        latest.filter(|_| !self.stale.contains_key(&action.id))
    }

    /// Returns the files that the action is about and that have changed since its preview, so that
    /// it can't be applied. Empty if its workspace is gone or elsewhere.
    pub fn stale(&self, action: &PendingAction) -> &[StaleFile] {
        self.stale.get(&action.id).map_or(&[], Vec::as_slice)
    }

    async fn mark_the_stale(&mut self, records: &[ActionRecord], store: &Store) {
        let pending = records.iter().filter(|it| it.state == ActionState::Pending);
        let places: BTreeSet<_> = pending
            .filter_map(|record| Some((&record.session, record.action.workspace.as_deref()?)))
            .collect();
        for (session, workspace) in places {
            let session = without_model().id(session.clone());
            let opened = session.store(store.shared()).workspace(workspace).open();
            let Ok(session) = opened else {
                continue;
            };
            match session.all_stale_files().await {
                Ok(stale) => self.stale.extend(stale),
                // The action can be listed anyway, and applying it reports the problem.
                Err(error) => tracing::warn!("whether anything is stale: {error}"),
            }
        }
    }

    fn mark_the_same<'a>(
        &mut self,
        records: &[ActionRecord],
        call_of: impl Fn(&PendingAction) -> Option<&'a CallRecord>,
    ) {
        let mut seen: HashMap<_, Vec<&PendingAction>> = HashMap::new();
        // The lowest action on a stack is the oldest.
        for record in records.iter().rev() {
            let action = &record.action;
            let details = action.details.as_ref().map(|details| details.as_str());
            let (tool, place) = (&action.source_tool_name, &action.workspace);
            let like = (action.plugin, tool, &action.label, details, place);
            let alike = seen.entry(like).or_default();
            let same = alike.iter().find_map(|first| {
                let by_call = match (call_of(first), call_of(action)) {
                    (Some(one), Some(other)) => is_same_call(one, other).then_some(true),
                    _ => Some(false),
                };
                let id = first.id.clone();
                by_call
                    .filter(|_| !are_of_one_call(first, action))
                    .map(|by_call| SameAs { id, by_call })
            });
            if let Some(same) = same {
                self.same_as.insert(action.id.clone(), same);
            } else if record.state != ActionState::Lost {
                alike.push(action);
            }
        }
    }

    fn mark_the_older(&mut self, records: &[ActionRecord], applied: &[ActionRecord]) {
        for action in records.iter().map(|record| &record.action) {
            let is_since = |it: &&ActionRecord| {
                let at = it.resolved.as_ref().map(|resolved| resolved.at);
                it.action.workspace == action.workspace
                    && at > Some(action.pushed_at)
                    && !are_of_one_call(&it.action, action)
            };
            if action.workspace.is_some()
                && let Some(latest) = applied.iter().find(is_since)
            {
                let latest = latest.action.id.clone();
                self.applied_since.insert(action.id.clone(), latest);
            }
        }
    }
}

/// Returns true if one call pushed both actions. They belong together and are meant to be applied
/// one after the other.
fn are_of_one_call(one: &PendingAction, other: &PendingAction) -> bool {
    one.call.is_some() && one.call == other.call
}

fn is_same_call(one: &CallRecord, other: &CallRecord) -> bool {
    one.tool == other.tool && one.params == other.params && one.content == other.content
}

/// Returns the actions that were applied in a session, latest first.
async fn applied(session: &SessionId, store: &Store) -> Result<Vec<ActionRecord>, Error> {
    let query = ResolvedQuery {
        session: Some(session.clone()),
        workspace: None,
        limit: LOOKED_AT,
    };
    let mut resolved = store.durable().resolved_actions(&query).await?;
    resolved.retain(|record| {
        let resolved = record.resolved.as_ref();
        resolved.is_some_and(|resolved| resolved.decision == Decision::Apply)
    });
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use airlock_host::Policy;
    use airlock_host::content::Content;
    use airlock_host::digest::Digest;
    use airlock_host::pending::{Actor, CallId};
    use airlock_host::store::ResolvedRecord;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// Creates an action that a separate call pushed, at the time of its id.
    fn action(id: u64) -> PendingAction {
        let (name, plugin) = (id.to_string(), Digest::of(b"plugin"));
        let mut action =
            PendingAction::new(name, "One", plugin, "plugin", Policy::default(), at(id));
        action.workspace = Some(Path::new("/w").into());
        action.call = Some(CallId::from(format!("call {id}")));
        action
    }

    fn record(action: PendingAction, state: ActionState) -> ActionRecord {
        ActionRecord::new("session".into(), action, state)
    }

    /// Checks the mark of an action with the id 2, above one with the id 1.
    #[track_caller]
    fn check_same(
        change: impl FnOnce(&mut PendingAction, &mut ActionRecord),
        calls: &[CallRecord],
        expected: Option<bool>,
    ) {
        let mut first = record(action(1), ActionState::Pending);
        let mut second = action(2);
        change(&mut second, &mut first);
        let open = [record(second, ActionState::Pending), first];
        let mut marks = Marks::default();
        let call_of = |action: &PendingAction| {
            let mut calls = calls.iter();
            calls.find(|call| Some(&call.id) == action.call.as_ref())
        };
        marks.mark_the_same(&open, call_of);
        let expected = expected.map(|by_call| SameAs {
            id: "1".into(),
            by_call,
        });
        assert_eq!(marks.same_as(&open[0].action), expected.as_ref());
        assert_eq!(marks.same_as(&open[1].action), None);
    }

    #[test]
    fn what_looks_like_an_action_of_another_call_is_marked() {
        let call = |id: &str, params: &str, text: &str| {
            let params = params.parse().unwrap();
            CallRecord::new(id.into(), "tool", params, vec![Content::text(text)], at(0))
        };
        check_same(|_, _| {}, &[], Some(false));
        check_same(|second, _| second.label = "Two".to_owned(), &[], None);
        check_same(
            |second, _| second.details = Some("[1]".parse().unwrap()),
            &[],
            None,
        );
        check_same(|second, _| second.plugin = Digest::of(b"other"), &[], None);
        check_same(|second, _| second.workspace = None, &[], None);
        check_same(|_, first| first.state = ActionState::Lost, &[], None);
        // Actions of one call are not repeated previews. Older versions kept no calls.
        check_same(
            |second, first| second.call = first.action.call.clone(),
            &[],
            None,
        );
        check_same(
            |second, first| (second.call, first.action.call) = (None, None),
            &[],
            Some(false),
        );
        // Known calls are compared too.
        let first = || call("call 1", r#"{"a": 1}"#, "shown");
        let check = |second, expected| check_same(|_, _| {}, &[first(), second], expected);
        check(call("call 2", r#"{"a": 1}"#, "shown"), Some(true));
        check(call("call 2", r#"{"a": 2}"#, "shown"), None);
        check(call("call 2", r#"{"a": 1}"#, "changed"), None);
        check(call("call 3", r#"{"a": 1}"#, "shown"), Some(false));
    }

    #[test]
    fn what_was_previewed_before_another_was_applied_there_is_marked() {
        let check = |change: fn(&mut ActionRecord), expected: Option<&str>| {
            let open = [record(action(5), ActionState::Pending)];
            let mut applied = record(action(1), ActionState::Applied);
            let by = Actor::program("test").into();
            applied.resolved = Some(ResolvedRecord::new(Decision::Apply, at(6), by));
            change(&mut applied);
            let mut marks = Marks::default();
            marks.mark_the_older(&open, &[applied]);
            let marked = marks.applied_since(&open[0].action);
            assert_eq!(marked.map(ActionId::as_str), expected);
        };
        check(|_| {}, Some("1"));
        check(|it| it.resolved.as_mut().unwrap().at = at(4), None);
        check(
            |it| it.action.workspace = Some(Path::new("/other").into()),
            None,
        );
        check(|it| it.action.call = action(5).call, None);
        check(|it| it.action.call = None, Some("1"));
    }
}
