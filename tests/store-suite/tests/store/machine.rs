//! Does to a store what was done to the model, and compares all that can be seen of the two.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use airlock_model::digest::Digest;
use airlock_model::pending::{ActionState, BriefAction, Decision, PendingAction};
use airlock_model::store::{
    ActionOutline, ActionRecord, Claim, Completion, DurableStore, Lease, Push, ResolvedQuery,
    ResolvedRecord, Scope, Spending, StoreError,
};
use airlock_store_suite::{Backend, Host};
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use tokio::runtime::Runtime;

use crate::actions::{self, ACCOUNTS, SESSIONS, TEXTS, WORKSPACES};
use crate::model::{Answer, End, Ended, Entry, Model, Step};
use crate::transitions::{self, HOSTS, Transition, Use};

/// How long a store may take for what "may take effect later".
const DEADLINE: Duration = Duration::from_secs(20);

/// The same once that was too short: what follows is proptest's search for a simpler case, of which
/// most fail too.
const LITTLE_PATIENCE: Duration = Duration::from_millis(300);

/// So many cases, or as many as `PROPTEST_CASES` says.
pub fn config(cases: u32) -> Config {
    Config {
        cases: match std::env::var_os("PROPTEST_CASES") {
            Some(_) => Config::default().cases,
            None => cases,
        },
        // A failure is told with the steps that lead to it, which is what belongs into a test.
        failure_persistence: None,
        ..Config::default()
    }
}

pub struct Reference<B>(PhantomData<B>);

impl<B: Backend> ReferenceStateMachine for Reference<B> {
    type State = Model;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model::empty()).boxed()
    }

    fn transitions(_: &Model) -> BoxedStrategy<Transition> {
        transitions::transition(B::DURABLE)
    }

    fn apply(model: Model, transition: &Transition) -> Model {
        model.apply(transition)
    }
}

/// A storage with its hosts.
pub struct Machine<B> {
    backend: B,
    hosts: Vec<Host>,
    /// As they were given.
    leases: Vec<Lease>,
    began: SystemTime,
}

/// One for all cases: stores may keep tasks on it.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

impl<B: Backend> StateMachineTest for Machine<B> {
    type SystemUnderTest = Self;
    type Reference = Reference<B>;

    fn init_test(_: &Model) -> Self {
        RUNTIME.block_on(async {
            let backend = B::new().await;
            let mut hosts = Vec::new();
            for _ in 0..HOSTS {
                hosts.push(backend.host().await);
            }
            Self {
                backend,
                hosts,
                leases: Vec::new(),
                // Some keep whole milliseconds, or ask another clock.
                began: SystemTime::now() - Duration::from_secs(60),
            }
        })
    }

    fn apply(mut machine: Self, model: &Model, _: Transition) -> Self {
        RUNTIME.block_on(machine.take(&model.step, model));
        machine
    }

    fn check_invariants(machine: &Self, model: &Model) {
        RUNTIME.block_on(async {
            for host in &machine.hosts {
                machine.compare(host, model).await;
            }
        });
    }

    fn teardown(machine: Self, _: Model) {
        RUNTIME.block_on(async {
            if let Some(store) = &machine.hosts[0].durable {
                assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
            }
        });
    }
}

impl<B: Backend> Machine<B> {
    async fn take(&mut self, step: &Step, model: &Model) {
        match step {
            Step::Nothing => {}
            Step::Push {
                host,
                session,
                number,
                specs,
                capacity,
                full,
            } => {
                let store = &self.hosts[*host].store;
                let session = actions::session(*session);
                let actions = specs.iter().zip(*number..);
                let actions = actions
                    .map(|(spec, number)| spec.new_action(number))
                    .collect();
                let push = Push::of_call(&session, actions, actions::plugin(specs[0].plugin))
                    .with_capacity(*capacity);
                match store.stacks.push(push).await {
                    Ok(()) => assert!(!full),
                    Err(StoreError::Full { capacity: told }) => {
                        assert!(full);
                        assert_eq!(told, *capacity);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            Step::Replace {
                host,
                session,
                replacement,
                number,
                specs,
                capacity,
                goes,
            } => {
                let store = &self.hosts[*host].store;
                let session = actions::session(*session);
                let plugin = specs.first().map_or(0, |spec| spec.plugin);
                let actions = specs.iter().zip(*number..);
                let actions = actions
                    .map(|(spec, number)| spec.new_action(number))
                    .collect();
                let push = Push::of_call(&session, actions, actions::plugin(plugin))
                    .with_capacity(*capacity);
                match store.stacks.replace(push, replacement.clone()).await {
                    Ok(replaced) => assert_eq!(Ok(replaced), *goes),
                    Err(StoreError::Full { capacity: told }) => {
                        assert_eq!(*goes, Err(()));
                        assert_eq!(told, *capacity);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            Step::Claim {
                host,
                session,
                resolution,
                decided_by,
                answer,
            } => {
                let store = &self.hosts[*host].store;
                let session = actions::session(*session);
                let claim = store
                    .claims
                    .claim(&session, resolution, decided_by)
                    .await
                    .unwrap();
                self.check_claim(claim, answer);
            }
            Step::Use {
                lease,
                host,
                how,
                lost,
            } => self.use_lease(*lease, *host, how, *lost).await,
            Step::Spend(expense, expected) => {
                let budgets = &self.hosts[expense.host].budgets;
                let (account, id) = (ACCOUNTS[expense.account], actions::id(expense.action));
                let spent = budgets.spend(account, &id, expense.spending, &expense.budget);
                assert_eq!(spent.await.unwrap(), *expected, "{expense:?}");
            }
            Step::Kill(host) => {
                let next = self.backend.host().await;
                let killed = std::mem::replace(&mut self.hosts[*host], next);
                self.backend.kill(killed).await;
            }
            Step::Look => {
                let host = self.backend.host().await;
                self.compare(&host, model).await;
            }
        }
        let is_done_at_once = !matches!(
            step,
            Step::Kill(_)
                | Step::Use {
                    how: Use::Abandon,
                    ..
                }
        );
        if !is_done_at_once {
            self.settle(model).await;
        }
    }

    fn check_claim(&mut self, claim: Claim, answer: &Answer) {
        match (claim, answer) {
            (
                Claim::Claimed(claimed),
                Answer::Claimed {
                    number,
                    spec,
                    attempt,
                },
            ) => {
                assert_eq!(*claimed.action, spec.action(*number));
                assert_eq!(claimed.guest_state, spec.guest_state);
                assert_eq!(claimed.attempt, *attempt);
                assert_eq!(claimed.lease.action, actions::id(*number));
                self.leases.push(claimed.lease);
            }
            (Claim::NothingPending, Answer::NothingPending) => {}
            (Claim::Unknown(id), Answer::Unknown(told))
            | (Claim::InProgress(id), Answer::InProgress(told)) => assert_eq!(id, *told),
            (Claim::Resolved(id, decision), Answer::Resolved(told, how)) => {
                assert_eq!((&id, decision), (told, *how));
            }
            (claim, answer) => panic!("claimed {claim:?} instead of {answer:?}"),
        }
    }

    async fn use_lease(&mut self, lease: usize, host: usize, how: &Use, lost: bool) {
        let given = &self.leases[lease];
        let lease = Lease {
            session: given.session.clone(),
            action: given.action.clone(),
            token: given.token,
        };
        let id = given.action.clone();
        let store = &self.hosts[host].store;
        let answer = match how {
            Use::Complete {
                text,
                reject_failed: true,
            } => {
                let completion = Completion::RejectFailed(TEXTS[*text]);
                store.claims.complete(lease, completion).await
            }
            Use::Complete { text, .. } => {
                let outcome = airlock_store_suite::outcome(TEXTS[*text]);
                let completion = Completion::Succeeded(&outcome);
                store.claims.complete(lease, completion).await
            }
            Use::Requeue { failure } => store.claims.requeue(lease, TEXTS[*failure]).await,
            Use::Release => store.claims.release(lease).await,
            Use::Recovered { what } => store.claims.recovered(lease, TEXTS[*what]).await,
            Use::Renew => store.claims.renew(&lease).await,
            Use::Abandon => return store.claims.abandon(lease),
        };
        match answer {
            Ok(()) => assert!(!lost, "{how:?} was accepted from a lease that was lost"),
            Err(StoreError::LeaseLost(of)) => {
                assert!(lost, "{how:?} was refused, though the lease was good");
                assert_eq!(of, id);
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits until each host lists what the model does.
    async fn settle(&self, model: &Model) {
        static IMPATIENT: AtomicBool = AtomicBool::new(false);
        let patience = if IMPATIENT.load(Ordering::Relaxed) {
            LITTLE_PATIENCE
        } else {
            DEADLINE
        };
        let deadline = Instant::now() + patience;
        while !self.lists_what(model).await {
            if Instant::now() > deadline {
                // What differs is told by the comparison that follows.
                IMPATIENT.store(true, Ordering::Relaxed);
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn lists_what(&self, model: &Model) -> bool {
        for host in &self.hosts {
            for (index, _) in SESSIONS.iter().enumerate() {
                let listed = host
                    .store
                    .stacks
                    .list(&actions::session(index))
                    .await
                    .unwrap();
                if listed != model.listed(index) {
                    return false;
                }
            }
        }
        true
    }

    async fn compare(&self, host: &Host, model: &Model) {
        for (index, _) in SESSIONS.iter().enumerate() {
            let session = actions::session(index);
            let expected = model.listed(index);
            assert_eq!(host.store.stacks.list(&session).await.unwrap(), expected);
            let briefly = expected.iter().cloned().map(BriefAction::from);
            let briefly: Vec<_> = briefly.collect();
            assert_eq!(
                host.store.stacks.list_briefly(&session).await.unwrap(),
                briefly
            );
            for (other, entries) in model.stacks.iter().enumerate() {
                for entry in entries {
                    let known = entry.stacked();
                    let id = known.action.id.clone();
                    let found = host.store.stacks.peek_at(&session, &id).await;
                    let is_pending = other == index && entry.claim.is_none();
                    assert_eq!(found.unwrap(), is_pending.then_some(known));
                    let standing = host.store.stacks.standing(&session, &id).await.unwrap();
                    assert_eq!(standing, model.standing(index, &id), "{id}");
                }
            }
            let topmost = expected.into_iter().next();
            assert_eq!(host.store.stacks.peek(&session).await.unwrap(), topmost);
        }
        for (account, spendings) in ACCOUNTS.iter().zip(&model.spendings) {
            let all = spendings.values();
            let all = all.fold(Spending::default(), |sum, one| sum + *one);
            let hour = Duration::from_secs(3600);
            assert_eq!(host.budgets.spent(account, hour).await.unwrap(), all);
        }
        if let Some(store) = &host.durable {
            self.compare_open(&**store, model).await;
            self.compare_ended(&**store, model).await;
            compare_outlines(&**store, model).await;
            compare_stats(&**store, model).await;
        }
    }

    async fn compare_open(&self, store: &dyn DurableStore, model: &Model) {
        let mut all = Vec::new();
        for (index, stack) in model.stacks.iter().enumerate() {
            let session = actions::session(index);
            let found = store.open_actions(Scope::Session(&session)).await.unwrap();
            assert_eq!(found.len(), stack.len(), "{found:?}");
            for (found, entry) in found.iter().zip(stack.iter().rev()) {
                assert_eq!(found.session, session);
                compare_entry(found, entry, entry.state());
                let lease = found.lease.as_ref();
                if let Some(claim) = entry.claim {
                    let lease = lease.expect("a claimed action has a lease");
                    assert_eq!(lease.decision, model.leases[claim].decision);
                    assert!(lease.since > self.began, "{lease:?}");
                    assert!(!lease.holder.is_empty());
                }
                let kept = store.plugin(found.action.plugin).await.unwrap();
                if entry.spec.guest_state.is_some() {
                    let kept = kept.expect("the plugin of a durable action is kept");
                    let pushed_by = actions::plugin(entry.spec.plugin);
                    assert_eq!(
                        (kept.name, kept.bytes),
                        (pushed_by.name.clone(), pushed_by.bytes.clone())
                    );
                }
                let alone = store.find(&found.action.id).await.unwrap();
                assert_eq!(alone.as_ref(), Some(found));
            }
            all.extend(found);
        }
        assert_eq!(store.open_actions(Scope::All).await.unwrap(), all);
        let mut sessions: Vec<_> = all.iter().map(|it| it.session.clone()).collect();
        sessions.dedup();
        let first = store.open_sessions(None, 2).await.unwrap();
        assert!(first.len() <= 2);
        let rest = match first.last() {
            Some(last) => store.open_sessions(Some(last), 10).await.unwrap(),
            None => Vec::new(),
        };
        assert_eq!([first, rest].concat(), sessions);
        let places = (0..WORKSPACES).filter_map(actions::workspace);
        for place in places.chain([Path::new("/work").into()]) {
            let there = all
                .iter()
                .filter(|it| it.action.workspace.as_ref() == Some(&place));
            let there: Vec<_> = there.cloned().collect();
            let found = store.open_actions(Scope::Workspace(&place)).await;
            assert_eq!(found.unwrap(), there, "{place:?}");
        }
    }

    async fn compare_ended(&self, store: &dyn DurableStore, model: &Model) {
        let sessions = (0..SESSIONS.len()).map(Some).chain([None]);
        for session in sessions {
            let ended: Vec<&Ended> = model
                .ended
                .iter()
                .rev()
                .filter(|ended| session.is_none_or(|session| session == ended.session))
                .collect();
            let mut query = ResolvedQuery {
                session: session.map(actions::session),
                workspace: None,
                limit: 1000,
            };
            let found = store.resolved_actions(&query).await.unwrap();
            assert_eq!(found.len(), ended.len(), "{found:?}");
            for (found, ended) in found.iter().zip(&ended) {
                self.compare_end(found, ended).await;
                let alone = store.find(&found.action.id).await.unwrap();
                assert_eq!(alone.as_ref(), Some(found));
            }
            query.limit = ended.len() / 2;
            let last = store.resolved_actions(&query).await.unwrap();
            assert_eq!(last, found[..query.limit]);
        }
    }

    async fn compare_end(&self, found: &ActionRecord, ended: &Ended) {
        assert_eq!(found.session, actions::session(ended.session));
        let state = match ended.decision {
            Decision::Apply => ActionState::Applied,
            Decision::Discard => ActionState::Discarded,
        };
        compare_entry(found, &ended.entry, state);
        let resolved = found.resolved.as_ref().expect("it was resolved");
        assert!(resolved.at > self.began, "{:?}", resolved.at);
        let (result, error) = match ended.end {
            End::RejectFailed(text) => (None, Some(text.to_owned())),
            End::Result(text) => {
                let outcome = airlock_store_suite::outcome(text);
                let json = serde_json::to_vec(&outcome).unwrap();
                (Some(Digest::of(&json)), None)
            }
            End::Replaced => (None, None),
        };
        let resolution = ended.reasons.resolution(ended.decision, None);
        let ResolvedRecord {
            decision,
            decided_by,
            reason,
            extra,
            ..
        } = resolved.clone();
        assert_eq!(decision, ended.decision);
        assert_eq!(decided_by, ended.reasons.decided_by());
        assert_eq!(reason, resolution.reason);
        assert_eq!(extra, resolution.extra);
        assert_eq!((resolved.result, &resolved.error), (result, &error));
    }
}

fn compare_entry(found: &ActionRecord, entry: &Entry, state: ActionState) {
    let expected: PendingAction = entry.spec.action(entry.number);
    assert_eq!(found.action, expected);
    assert_eq!(found.state, state);
    assert_eq!(found.attempts, entry.attempts);
    let is_open = found.resolved.is_none();
    assert_eq!(
        is_open,
        !matches!(state, ActionState::Applied | ActionState::Discarded)
    );
    if is_open {
        assert_eq!(found.last_error, entry.last_error);
    }
}

/// Compares a list of all actions, read in small pages, with each action.
async fn compare_outlines(store: &dyn DurableStore, model: &Model) {
    let mut all = Vec::new();
    loop {
        let after = all.last().map(|it: &ActionOutline| &it.record.action.id);
        let page = store.outlines(after, 3).await.unwrap();
        assert!(page.len() <= 3, "{page:?}");
        if page.is_empty() {
            break;
        }
        all.extend(page);
    }
    let open: usize = model.stacks.iter().map(Vec::len).sum();
    assert_eq!(all.len(), open + model.ended.len(), "{all:?}");
    assert!(all.is_sorted_by(|one, next| one.record.action.id < next.record.action.id));
    for outline in all {
        let ActionOutline {
            record, denials, ..
        } = outline;
        let id = &record.action.id;
        let mut found = store.find(id).await.unwrap().expect("it is listed");
        found.action.details = None;
        assert_eq!(found, record);
        let last = store.denials(&record.session, id).await.unwrap();
        assert_eq!(denials, last.last().map_or(0, |it| it.number));
    }
}

async fn compare_stats(store: &dyn DurableStore, model: &Model) {
    let stats = store.stats().await.unwrap();
    let count = |state: ActionState| {
        let entries = model.stacks.iter().flatten();
        entries.filter(|entry| entry.state() == state).count() as u64
    };
    let ended = |decision: Decision| {
        let ended = model.ended.iter();
        ended.filter(|ended| ended.decision == decision).count() as u64
    };
    let resolving = count(ActionState::Resolving);
    let open: usize = model.stacks.iter().map(Vec::len).sum();
    let busy = model.stacks.iter().filter(|stack| !stack.is_empty());
    assert_eq!(stats.resolving, resolving);
    assert_eq!(stats.pending, open as u64 - resolving);
    assert_eq!(stats.interrupted, count(ActionState::Interrupted));
    assert_eq!(stats.lost, count(ActionState::Lost));
    assert_eq!(stats.applied, ended(Decision::Apply));
    assert_eq!(stats.discarded, ended(Decision::Discard));
    assert_eq!(stats.sessions, busy.count() as u64);
}
