//! What nobody decides about in time is discarded, and never applied.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use airlock_host::event::{Event, ToolFunction};
use airlock_host::pending::ActionState;
use airlock_host::store::{Claim, Claims, MemoryStore};
use airlock_host::{Error, Resolution};
use airlock_tests::{Puppet, Tester, durable, push};
use serde_json::json;

/// A puppet whose actions have expired as soon as they are pushed, beside one of the same session
/// whose actions never do.
async fn puppets() -> (Puppet, Puppet, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::new());
    let hasty = Puppet::with(|session| {
        let session = session.id("one").store(store.clone());
        session.pending_expires_after(Duration::ZERO)
    });
    let patient = Puppet::with(|session| session.id("one").store(store.clone()));
    (hasty.await, patient.await, store)
}

#[tokio::test]
async fn an_expired_action_is_discarded_in_place_of_being_applied() {
    let (hasty, _, _) = puppets().await;
    let writes = json!([{"do": "fs", "op": "write", "path": "/workspace/written", "text": ""}]);
    let outcome = hasty.call(json!([durable("One", writes)])).await.unwrap();
    let id = outcome.pushed[0].id.clone();
    let applied = hasty.session.resolve(Resolution::apply(""), Tester).await;
    assert!(matches!(applied, Err(Error::Expired(expired)) if expired == id));
    assert!(hasty.session.pending().await.unwrap().is_empty());
    assert!(!hasty.workspace().join("written").exists());
    let again = Resolution::apply("").with_id(id);
    let again = hasty.session.resolve(again, Tester).await.unwrap_err();
    assert_eq!(again.kind(), "already-resolved");
}

#[tokio::test]
async fn its_tool_hears_of_it_whoever_discards_it() {
    let heard = Arc::new(AtomicUsize::new(0));
    let hears = Arc::clone(&heard);
    let hasty = Puppet::with(|session| {
        let session = session.pending_expires_after(Duration::ZERO);
        session.observer(move |_, event| {
            let function = ToolFunction::Reject;
            if *event == (Event::Began { function }) {
                hears.fetch_add(1, Ordering::Relaxed);
            }
        })
    })
    .await;
    let pushes = json!([push("One", json!({"apply": [], "reject": []}))]);
    hasty.call(pushes.clone()).await.unwrap();
    assert_eq!(hasty.session.discard_expired().await.unwrap().len(), 1);
    assert_eq!(heard.load(Ordering::Relaxed), 1);
    hasty.call(pushes).await.unwrap();
    let turn = hasty.session.next_turn().await.unwrap();
    assert_eq!((turn.pending, turn.reminders.len()), (0, 0));
    assert_eq!(heard.load(Ordering::Relaxed), 2);
    assert!(hasty.session.pending().await.unwrap().is_empty());
}

#[tokio::test]
async fn what_has_time_and_what_was_tried_stays() {
    let (hasty, patient, store) = puppets().await;
    let says = |text: &str| durable(text, json!([{"do": "text", "text": text}]));
    patient.call(json!([says("timeless")])).await.unwrap();
    let outcome = hasty.call(json!([says("tried")])).await.unwrap();
    let id = outcome.pushed[0].id.clone();
    let first = Resolution::apply("").with_id(id.clone());
    let claim = store.claim(&"one".into(), &first, &Tester.into()).await;
    let Ok(Claim::Claimed(claimed)) = claim else {
        panic!("{claim:?}");
    };
    store.requeue(claimed.lease, "it failed").await.unwrap();
    assert!(hasty.session.discard_expired().await.unwrap().is_empty());
    let pending = hasty.session.pending().await.unwrap();
    let labels = pending
        .iter()
        .map(|it| (it.action.label.as_str(), it.state));
    let state = ActionState::Pending;
    assert_eq!(
        labels.collect::<Vec<_>>(),
        [("tried", state), ("timeless", state)]
    );
    hasty.session.resolve(first, Tester).await.unwrap();
    let timeless = patient.session.resolve(Resolution::apply(""), Tester);
    timeless.await.unwrap();
}
