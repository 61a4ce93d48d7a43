//! Records of calls: what their actions are decided by.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::call_record::CallRecord;
use airlock_model::content::Content;
use airlock_model::json::Json;
use airlock_model::pending::{ActionId, Resolution, SessionId};
use airlock_model::store::{Claim, Completion, Lease, NewAction, PendingStore, Push, StoreError};
use airlock_store_suite::{Backend, Tester};
use serde_json::json;

use crate::actions::{Spec, id, plugin};

pub fn record(name: &str, text: String) -> CallRecord {
    let params = Json::of_own(&json!({"files": ["*.jpeg"], "größe": "\u{0}"}));
    let called_at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_760_000_000_123);
    let content = vec![Content::text(text)];
    CallRecord::new(name.into(), "rename", params, content, called_at)
}

pub async fn push(store: &PendingStore, session: &SessionId, numbers: &[usize], of: &CallRecord) {
    let actions = numbers.iter().map(|number| {
        let new = Spec::plain().new_action(*number);
        let mut action = new.action.as_ref().clone();
        action.call = Some(of.id.clone());
        NewAction {
            action: Arc::new(action),
            ..new
        }
    });
    let push = Push::of_call(session, actions.collect(), plugin(0)).with_call(of.pack());
    store.stacks.push(push).await.unwrap();
}

async fn claim(store: &PendingStore, session: &SessionId, id: &ActionId) -> Lease {
    let discard = Resolution::discard("").with_id(id.clone());
    let claim = store.claims.claim(session, &discard, &Tester.into()).await;
    let Ok(Claim::Claimed(claimed)) = claim else {
        panic!("{claim:?}");
    };
    claimed.lease
}

async fn resolve(store: &PendingStore, session: &SessionId, id: &ActionId) {
    let lease = claim(store, session, id).await;
    let outcome = airlock_store_suite::outcome("");
    let completion = Completion::Succeeded(&outcome);
    store.claims.complete(lease, completion).await.unwrap();
}

/// In the session that has the call's actions; no other has any.
async fn lowest_is(store: &PendingStore, of: &CallRecord, expected: Option<&ActionId>) {
    let session = SessionId::from("calls");
    let lowest = store.stacks.lowest_of_call(&session, &of.id).await.unwrap();
    assert_eq!(lowest.as_ref().map(|it| &it.action.id), expected);
    let elsewhere = SessionId::from("elsewhere");
    let lowest = store.stacks.lowest_of_call(&elsewhere, &of.id).await;
    assert_eq!(lowest.unwrap(), None);
}

/// Small ones, ones that are compressed, and ones of several pieces.
pub fn texts() -> [String; 3] {
    let mut random = 1_u64;
    let noise = (0..700_000).map(|_| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(b' ' + (random >> 57) as u8 % 94)
    });
    [
        "a preview".to_owned(),
        "-a\n+b\n".repeat(9_000),
        noise.collect(),
    ]
}

pub async fn are_kept_once_and_read_by_each_action<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let (store, session) = (&host.store, SessionId::from("calls"));
    for (round, text) in texts().into_iter().enumerate() {
        let record = record(&format!("call {round}"), text);
        let numbers = [round * 10, round * 10 + 1];
        let before = store.stacks.room(&session, 0).await.unwrap().held.bytes;
        push(store, &session, &numbers, &record).await;
        let [bottom, top] = numbers.map(id);
        for action in [&bottom, &top] {
            let found = store.records.call_record(&session, action).await.unwrap();
            assert_eq!(found.as_ref(), Some(&record));
            let elsewhere = SessionId::from("elsewhere");
            assert_eq!(
                store.records.call_record(&elsewhere, action).await.unwrap(),
                None
            );
        }
        let listed = store.stacks.list(&session).await.unwrap();
        assert_eq!(listed[0].action.call.as_ref(), Some(&record.id));
        // It counts once, with the lowest action.
        let held = store.stacks.room(&session, 0).await.unwrap().held.bytes - before;
        let alone = 2 * Spec::plain().new_action(0).bytes();
        assert_eq!(held, alone + record.pack().bytes());
        lowest_is(store, &record, Some(&bottom)).await;
        let lease = claim(store, &session, &bottom).await;
        lowest_is(store, &record, Some(&top)).await;
        store.claims.release(lease).await.unwrap();
        lowest_is(store, &record, Some(&bottom)).await;
        resolve(store, &session, &top).await;
        let held = store.stacks.room(&session, 0).await.unwrap().held.bytes - before;
        assert_eq!(held, alone / 2 + record.pack().bytes());
        let found = store.records.call_record(&session, &bottom).await.unwrap();
        assert_eq!(found.as_ref(), Some(&record));

        resolve(store, &session, &bottom).await;
        lowest_is(store, &record, None).await;
        assert_eq!(
            store.stacks.room(&session, 0).await.unwrap().held.bytes,
            before
        );
        // Who looks at what was decided sees what it was decided by, as long as that is kept.
        let found = store.records.call_record(&session, &bottom).await.unwrap();
        assert_eq!(found.is_some(), B::DURABLE);
        let Some(durable) = &host.durable else {
            continue;
        };
        assert_eq!(durable.check().await.unwrap(), [""; 0]);
        assert!(durable.forget(&top).await.unwrap());
        assert!(!durable.forget(&top).await.unwrap());
        let found = store.records.call_record(&session, &bottom).await.unwrap();
        assert_eq!(found.as_ref(), Some(&record));
        assert!(durable.forget(&bottom).await.unwrap());
        assert_eq!(durable.find(&bottom).await.unwrap(), None);
        assert_eq!(
            store.records.call_record(&session, &bottom).await.unwrap(),
            None
        );
    }
    assert_eq!(
        store.stacks.room(&session, 0).await.unwrap().held.actions,
        0
    );
}

pub async fn count_as_what_the_session_may_hold<B: Backend>() {
    let backend = B::new().await;
    let store = &backend.host().await.store;
    let session = SessionId::from("full");
    let [.., noise] = texts();
    let call = record("large", noise).pack();
    let new = Spec::plain().new_action(1);
    let all = new.bytes() + call.bytes();
    let push = Push::of_call(&session, vec![new], plugin(0)).with_call(call);
    let full = store
        .stacks
        .push(push.clone().with_capacity_bytes(all - 1))
        .await;
    assert!(
        matches!(full, Err(StoreError::SessionFull { pushed, .. }) if pushed == all),
        "{full:?}"
    );
    store
        .stacks
        .push(push.with_capacity_bytes(all))
        .await
        .unwrap();
}

pub async fn are_found_by_a_part_of_an_id<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let Some(durable) = &host.durable else {
        return;
    };
    let session = SessionId::from("ids");
    for (number, text) in ["ab-12", "ab-13", "c%_-12"].into_iter().enumerate() {
        let new = Spec::plain().new_action(number);
        let mut action = new.action.as_ref().clone();
        action.id = text.into();
        let push = Push::new(&session, action, plugin(0)).with_guest_state(new.guest_state);
        host.store.stacks.push(push).await.unwrap();
    }
    let check = async |part: &str, most: usize, expected: &[&str]| {
        let found = durable.ids_like(part, most).await.unwrap();
        let found: Vec<_> = found.iter().map(ActionId::as_str).collect();
        assert_eq!(found, expected, "{part}");
    };
    check("ab-13", 9, &["ab-13"]).await;
    check("ab", 9, &["ab-13", "ab-12"]).await;
    check("ab", 1, &["ab-13"]).await;
    check("12", 9, &["c%_-12", "ab-12"]).await;
    check("%", 9, &[]).await;
    check("c%_", 9, &["c%_-12"]).await;
    check("b-1", 9, &[]).await;
}
