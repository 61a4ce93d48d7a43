//! What several actions were made from.

use std::sync::Arc;

use airlock_model::call_record::CallRecord;
use airlock_model::pending::{ActionId, SessionId};
use airlock_model::reads::ReadFile;
use airlock_model::store::{ActionBasis, BASES_BYTES, PendingStore};
use airlock_store_suite::Backend;

use crate::actions::{self, Spec};
use crate::{calls, effects};

/// One that has read a file of its name.
fn call(name: &str, text: String) -> CallRecord {
    let mut call = calls::record(name, text);
    let file = ReadFile::new(7, 0o644, None);
    call.read.files.insert(name.to_owned(), file);
    call
}

/// All of them, and how many each answer had.
async fn asked_until_all_are_known(
    store: &PendingStore,
    session: &SessionId,
    ids: &[ActionId],
) -> (Vec<ActionBasis>, Vec<usize>) {
    let (mut all, mut answers) = (Vec::new(), Vec::new());
    while all.len() < ids.len() {
        let more = store
            .records
            .bases(session, &ids[all.len()..])
            .await
            .unwrap();
        assert!(!more.is_empty());
        answers.push(more.len());
        all.extend(more);
    }
    assert_eq!(all.len(), ids.len());
    (all, answers)
}

pub async fn are_those_of_each_action_and_no_more_than_is_well_held<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let (store, session) = (&host.store, SessionId::from("bases"));
    for (round, text) in calls::texts().into_iter().enumerate() {
        let call = call(&format!("call {round}"), text);
        let numbers = [round * 10, round * 10 + 1];
        calls::push(store, &session, &numbers, &call).await;
    }
    Spec::plain().push(store, &session, 30, 99).await.unwrap();
    // More than is answered at a time, by itself.
    let large = effects::record(200_000, 1).pack();
    assert!(large.bytes() > BASES_BYTES);
    for (number, packed) in [
        (1, effects::record(3, 2).pack()),
        (10, large),
        (20, effects::record(0, 3).pack()),
    ] {
        let id = actions::id(number);
        let kept = store.records.keep_effects(&session, &id, &packed, u64::MAX);
        kept.await.unwrap();
    }

    let order = [98, 0, 1, 10, 11, 21, 20, 30, 99].map(actions::id);
    let (known, answers) = asked_until_all_are_known(store, &session, &order).await;
    for (id, known) in order.iter().zip(&known) {
        let call = store.records.call_record(&session, id).await.unwrap();
        let read = call.map(|call| call.read).unwrap_or_default();
        assert_eq!(*known.read, read, "{id}");
        let mut effects = store.records.effects(&session, id).await.unwrap();
        if let Some(record) = &mut effects {
            record.effects = record.effects.without_contents();
        }
        assert!(known.effects == effects, "{id}");
    }
    assert_eq!(known[2].read.files.len(), 1);
    if B::DURABLE {
        assert_eq!(answers[0], 4, "up to the large one: {answers:?}");
        assert!(answers.len() <= 3, "{answers:?}");
        assert!(Arc::ptr_eq(&known[1].read, &known[2].read));
    }

    let elsewhere = SessionId::from("elsewhere");
    let (known, _) = asked_until_all_are_known(store, &elsewhere, &order).await;
    let is_known = |it: &ActionBasis| !it.read.is_empty() || it.effects.is_some();
    assert!(!known.iter().any(is_known));
    let of_none = store.records.bases(&session, &[]).await.unwrap();
    assert!(of_none.is_empty());
}

/// What calls gave counts too, though it is not answered.
pub async fn are_no_more_than_is_well_read<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let (store, session) = (&host.store, SessionId::from("large calls"));
    let [.., noise] = calls::texts();
    let calls = BASES_BYTES as usize / noise.len() * 2;
    for number in 0..calls {
        let call = call(&format!("call {number}"), noise.clone());
        calls::push(store, &session, &[number], &call).await;
    }
    let ids: Vec<_> = (0..calls).map(actions::id).collect();
    let (known, answers) = asked_until_all_are_known(store, &session, &ids).await;
    for (number, known) in known.iter().enumerate() {
        assert!(known.read.files.contains_key(&format!("call {number}")));
    }
    if B::DURABLE {
        assert_eq!(answers.len(), 2, "{answers:?}");
    }
}
