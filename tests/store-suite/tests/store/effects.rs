//! What the host saw actions do.

use airlock_model::effects::{Change, ChangeKind, Effects, EffectsRecord, Seed};
use airlock_model::pending::{Resolution, SessionId};
use airlock_model::reads::Fingerprints;
use airlock_model::store::{Claim, Completion, PendingStore, StoreError};
use airlock_store_suite::{Backend, Tester};

use crate::actions::{self, Spec};

pub fn record(changes: usize, seed: u8) -> EffectsRecord {
    let changes = (0..changes).map(|index| {
        let mut change = Change::new(ChangeKind::Modified, format!("path {index}\u{0}"));
        // What compresses badly, so that there are several pieces.
        change.diff = Some(format!(
            "{:x}",
            (index as u128 + 7)
                .wrapping_pow(9)
                .wrapping_mul(0x9e37_79b9)
        ));
        change
    });
    let effects = Effects::verified(changes.collect());
    let read = Fingerprints([("path".to_owned(), u64::from(seed))].into());
    EffectsRecord::new(effects, Seed::new([seed; 32])).with_read(Some(read))
}

async fn held(store: &PendingStore, session: &SessionId) -> u64 {
    store.stacks.room(session, 0).await.unwrap().held.bytes
}

pub async fn are_kept_and_replaced_and_counted<B: Backend>() {
    let backend = B::new().await;
    let hosts = [backend.host().await, backend.host().await];
    let (store, session) = (&hosts[0].store, SessionId::from("effects"));
    Spec::plain().push(store, &session, 0, 9).await.unwrap();
    Spec::plain().push(store, &session, 1, 9).await.unwrap();
    let (id, other) = (actions::id(0), actions::id(1));
    let before = held(store, &session).await;
    assert_eq!(store.records.effects(&session, &id).await.unwrap(), None);
    let unverified = Effects::unverified("it failed\u{0}");
    let unverified = EffectsRecord::new(unverified, Seed::new([0; 32]));
    for record in [record(20_000, 1), record(3, 2), record(0, 3), unverified] {
        let packed = record.pack();
        let kept = store.records.keep_effects(&session, &id, &packed, u64::MAX);
        kept.await.unwrap();
        for host in &hosts {
            let store = &host.store;
            let found = store.records.effects(&session, &id).await.unwrap();
            assert_eq!(found.as_ref(), Some(&record));
            assert_eq!(store.records.effects(&session, &other).await.unwrap(), None);
            let listed = store.stacks.list(&session).await.unwrap();
            let summary = listed.iter().find(|it| it.action.id == id).unwrap();
            assert_eq!(summary.effects, Some(record.effects.summary()));
        }
        assert_eq!(held(store, &session).await, before + packed.bytes());
    }
    let elsewhere = SessionId::from("elsewhere");
    assert_eq!(store.records.effects(&elsewhere, &id).await.unwrap(), None);

    // One that finds no room leaves what was kept before.
    let last = store.records.effects(&session, &id).await.unwrap();
    let most = held(store, &session).await + 100;
    let large = record(20_000, 4).pack();
    let refused = store
        .records
        .keep_effects(&session, &id, &large, most)
        .await;
    assert!(
        matches!(refused, Err(StoreError::SessionFull { .. })),
        "{refused:?}"
    );
    assert_eq!(store.records.effects(&session, &id).await.unwrap(), last);
    let exactly = before + large.bytes();
    store
        .records
        .keep_effects(&session, &id, &large, exactly)
        .await
        .unwrap();

    // They go where the record of a call goes.
    let discard = Resolution::discard("").with_id(id.clone());
    let Claim::Claimed(claimed) = store
        .claims
        .claim(&session, &discard, &Tester.into())
        .await
        .unwrap()
    else {
        panic!("it is on the stack");
    };
    let outcome = airlock_store_suite::outcome("");
    let completion = Completion::Succeeded(&outcome);
    store
        .claims
        .complete(claimed.lease, completion)
        .await
        .unwrap();
    let half = before / 2;
    assert_eq!(held(store, &session).await, half);
    let found = store.records.effects(&session, &id).await.unwrap();
    assert_eq!(found.is_some(), B::DURABLE);
    // What is resolved can't be changed any more.
    let late = record(1, 5).pack();
    store
        .records
        .keep_effects(&session, &id, &late, u64::MAX)
        .await
        .unwrap();
    assert_eq!(store.records.effects(&session, &id).await.unwrap(), found);
    let Some(durable) = &hosts[0].durable else {
        return;
    };
    assert_eq!(durable.check().await.unwrap(), [""; 0]);
    assert!(durable.forget(&id).await.unwrap());
    assert_eq!(store.records.effects(&session, &id).await.unwrap(), None);
}

/// The state is read without a claim.
pub async fn need_a_state_that_nobody_has_claimed<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let (store, session) = (&host.store, SessionId::from("state"));
    let states = [Some(b"small".to_vec()), Some(vec![7; 100_000]), None];
    for (number, guest_state) in states.into_iter().enumerate() {
        let spec = Spec {
            guest_state: guest_state.clone(),
            ..Spec::plain()
        };
        spec.push(store, &session, number, 9).await.unwrap();
        let found = store
            .records
            .guest_state(&session, &actions::id(number))
            .await;
        assert_eq!(found.unwrap(), guest_state);
    }
    let listed = store.stacks.list(&session).await.unwrap();
    assert!(listed.iter().all(|it| it.attempts == 0));
    let unknown = store.records.guest_state(&session, &actions::id(9)).await;
    assert_eq!(unknown.unwrap(), None);
}
