//! Denials of actions.

use airlock_model::actor::{Actor, Evidence};
use airlock_model::denial::{Denial, DenialRecord, DeniedBy};
use airlock_model::pending::{ActionId, Decision, Resolution, SessionId};
use airlock_model::store::{
    Claim, Completion, DENIALS_KEPT, DurableStore, PendingStore, ResolvedQuery,
};
use airlock_store_suite::{Backend, Tester};
use tokio::task::JoinSet;

use crate::actions::{self, Spec, TEXTS};

/// The `number`th denial: by a rule if the number is even, else by a person.
fn denial(number: usize) -> Denial {
    let text = format!("{} {number}", TEXTS[number % TEXTS.len()]);
    let asked = match number % 3 {
        0 => Resolution::discard(&*text),
        _ => Resolution::apply(&*text),
    };
    let person = Actor::person(&*text).with_evidence(Evidence::Client);
    let denied_by = match number % 2 {
        0 => DeniedBy::Rule,
        _ => DeniedBy::Person(person),
    };
    Denial::new(&asked, Actor::Model.into(), denied_by, &text)
}

fn numbers(denials: &[DenialRecord]) -> Vec<u64> {
    denials.iter().map(|denied| denied.number).collect()
}

async fn deny(store: &PendingStore, session: &SessionId, id: &ActionId, number: usize) {
    let denial = denial(number);
    store
        .denials
        .record_denial(session, id, &denial)
        .await
        .unwrap();
}

async fn discard(store: &PendingStore, session: &SessionId, id: &ActionId) {
    let discard = Resolution::discard("").with_id(id.clone());
    let claim = store.claims.claim(session, &discard, &Tester.into()).await;
    let Claim::Claimed(claimed) = claim.unwrap() else {
        panic!("it is on the stack");
    };
    let outcome = airlock_store_suite::outcome("");
    let completion = Completion::Succeeded(&outcome);
    store
        .claims
        .complete(claimed.lease, completion)
        .await
        .unwrap();
}

/// The log of these, as ids and numbers.
async fn logged(store: &dyn DurableStore, query: &ResolvedQuery) -> Vec<(ActionId, u64)> {
    let denied = store.denied_actions(query).await.unwrap();
    let logged = denied.into_iter();
    logged
        .map(|it| (it.record.action.id, it.denied.number))
        .collect()
}

pub async fn are_kept_with_their_action_and_the_last_ones_only<B: Backend>() {
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    let (store, session) = (&hosts[0].store, SessionId::from("denials"));
    Spec::plain().push(store, &session, 0, 9).await.unwrap();
    Spec::plain().push(store, &session, 1, 9).await.unwrap();
    let (id, other) = (actions::id(0), actions::id(1));
    let kept = usize::try_from(DENIALS_KEPT).unwrap();
    for number in 1..=kept + 3 {
        let host = &hosts[number % 2].store;
        deny(host, &session, &id, number).await;
        for host in &hosts {
            let found = host.store.denials.denials(&session, &id).await.unwrap();
            let first = (number + 1).saturating_sub(kept).max(1);
            let expected: Vec<u64> = (first as u64..=number as u64).collect();
            assert_eq!(numbers(&found), expected);
            let numbered = found.iter().zip(first..);
            for (found, number) in numbered {
                assert_eq!(found.denial, denial(number));
            }
        }
    }
    let found = store.denials.denials(&session, &id).await.unwrap();
    let times = found.iter().map(|denied| denied.at);
    assert!(times.is_sorted());
    // Another's, and none at all.
    assert_eq!(store.denials.denials(&session, &other).await.unwrap(), []);
    let elsewhere = SessionId::from("elsewhere");
    for (session, id) in [(&elsewhere, &id), (&session, &actions::id(7))] {
        deny(store, session, id, 1).await;
        assert_eq!(store.denials.denials(session, id).await.unwrap(), []);
    }
    // A denial leaves the action as it was.
    let listed = store.stacks.list(&session).await.unwrap();
    assert!(listed.iter().all(|it| it.attempts == 0));

    // They stay with the record of how it ended, and there are no more of them.
    discard(store, &session, &id).await;
    deny(store, &session, &id, 1).await;
    let after = store.denials.denials(&session, &id).await.unwrap();
    assert_eq!(after, if B::DURABLE { found } else { Vec::new() });
    let Some(durable) = &hosts[1].durable else {
        return;
    };
    assert_eq!(durable.check().await.unwrap(), [""; 0]);
    assert!(durable.forget(&id).await.unwrap());
    assert_eq!(store.denials.denials(&session, &id).await.unwrap(), []);
    assert_eq!(durable.check().await.unwrap(), [""; 0]);
}

pub async fn are_listed_the_last_one_first<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let Some(durable) = &host.durable else {
        return;
    };
    let (store, session) = (&host.store, SessionId::from("denials"));
    let elsewhere = SessionId::from("elsewhere");
    let placed = Spec {
        workspace: 1,
        ..Spec::plain()
    };
    Spec::plain().push(store, &session, 0, 9).await.unwrap();
    placed.push(store, &session, 1, 9).await.unwrap();
    placed.push(store, &elsewhere, 2, 9).await.unwrap();
    let sessions = [&session, &session, &elsewhere];
    for (time, number) in [0, 1, 0, 2, 1].into_iter().enumerate() {
        let id = actions::id(number);
        deny(store, sessions[number], &id, time).await;
        // The clock of a store may tell milliseconds.
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    }
    let query = |session: Option<&SessionId>, workspace: usize, limit| ResolvedQuery {
        session: session.cloned(),
        workspace: placed_at(workspace),
        limit,
    };
    let entries = |of: &[(usize, u64)]| -> Vec<_> {
        let entries = of.iter();
        entries
            .map(|(number, of)| (actions::id(*number), *of))
            .collect()
    };
    let all = entries(&[(1, 2), (2, 1), (0, 2), (1, 1), (0, 1)]);
    let everything = query(None, 0, 9);
    assert_eq!(logged(&**durable, &everything).await, all);
    for limit in 0..=5 {
        let some = logged(&**durable, &query(None, 0, limit)).await;
        assert_eq!(some, all[..limit]);
    }
    let of_session = query(Some(&session), 0, 9);
    let expected = entries(&[(1, 2), (0, 2), (1, 1), (0, 1)]);
    assert_eq!(logged(&**durable, &of_session).await, expected);
    let of_workspace = query(None, 1, 9);
    let expected = entries(&[(1, 2), (2, 1), (1, 1)]);
    assert_eq!(logged(&**durable, &of_workspace).await, expected);
    let of_both = query(Some(&elsewhere), 1, 9);
    assert_eq!(logged(&**durable, &of_both).await, entries(&[(2, 1)]));
    // With what became of the action since.
    discard(store, &session, &actions::id(1)).await;
    let denied = durable.denied_actions(&everything).await.unwrap();
    let ended = denied[0].record.resolved.as_ref().unwrap();
    assert_eq!(ended.decision, Decision::Discard);
    assert_eq!(denied[0].denied.denial, denial(4));
    durable.prune(std::time::Duration::ZERO).await.unwrap();
    let left = entries(&[(2, 1), (0, 2), (0, 1)]);
    assert_eq!(logged(&**durable, &everything).await, left);
    let outlines = durable.outlines(None, 9).await.unwrap();
    let counted = outlines
        .iter()
        .map(|it| (it.record.action.id.clone(), it.denials));
    assert_eq!(counted.collect::<Vec<_>>(), entries(&[(0, 2), (2, 1)]));
    assert_eq!(durable.check().await.unwrap(), [""; 0]);
}

/// The path of a choice; none for the first one.
fn placed_at(workspace: usize) -> Option<std::path::PathBuf> {
    let spec = Spec {
        workspace,
        ..Spec::plain()
    };
    let path = spec.action(0).workspace;
    path.filter(|_| workspace > 0)
        .map(|path| path.to_path_buf())
}

/// Hosts that record at the same time get a number each, and no more are kept in the end.
pub async fn are_counted_whoever_records_them<B: Backend>() {
    const MANY: u64 = 60;
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    let (store, session) = (&hosts[0].store, SessionId::from("denials"));
    Spec::plain().push(store, &session, 0, 9).await.unwrap();
    let id = actions::id(0);
    let mut racers = JoinSet::new();
    for number in 0..MANY {
        let store = hosts[(number % 2) as usize].store.clone();
        let (session, id) = (session.clone(), id.clone());
        racers.spawn(async move {
            deny(&store, &session, &id, number as usize).await;
        });
    }
    racers.join_all().await;
    deny(store, &session, &id, 0).await;
    let found = store.denials.denials(&session, &id).await.unwrap();
    let last = MANY + 1;
    let expected: Vec<u64> = (last - DENIALS_KEPT + 1..=last).collect();
    assert_eq!(numbers(&found), expected);
}
