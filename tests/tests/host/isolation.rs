//! Sessions don't see each other, and run in parallel.

use std::fs;
use std::sync::Arc;

use airlock_host::Session;
use airlock_host::pending::SessionId;
use airlock_host::store::MemoryStore;
use airlock_tests::{Puppet, durable, plugin};
use serde_json::json;
use tokio::sync::Barrier;

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sessions_are_send_and_run_in_parallel() {
    let barrier = Arc::new(Barrier::new(8));
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let barrier = Arc::clone(&barrier);
            tokio::spawn(is_send(async move {
                let puppet = Puppet::new().await;
                fs::write(puppet.workspace().join("number"), number.to_string()).unwrap();
                barrier.wait().await;
                for _ in 0..20 {
                    let steps = json!([{"do": "fs", "op": "read", "path": "number"}, durable("Mine", json!([]))]);
                    let outcome = puppet.call(steps).await.unwrap();
                    assert!(outcome.text().starts_with(&format!("ok {number}")));
                }
                assert_eq!(puppet.labels().await.len(), 20);
            }))
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn guests_share_no_memory_and_no_stack_across_sessions() {
    let store = Arc::new(MemoryStore::new());
    let open = async || Puppet::with(|session| session.store(store.clone())).await;
    let (one, other) = (open().await, open().await);
    one.text(json!([{"do": "remember", "key": "k", "value": "one"}]))
        .await;
    one.push(durable("One's", json!([]))).await;
    assert_eq!(
        other.text(json!([{"do": "recall", "key": "k"}])).await,
        "none"
    );
    assert!(other.labels().await.is_empty());
    assert_eq!(one.labels().await, ["One's"]);
}

#[tokio::test]
async fn calls_to_one_plugin_of_a_session_run_one_after_the_other() {
    let puppet = Puppet::new().await;
    let call = |value: &str| {
        puppet.text(json!([
            {"do": "remember", "key": "k", "value": value}, {"do": "block", "ms": 5}, {"do": "recall", "key": "k"}
        ]))
    };
    let said = tokio::join!(call("a"), call("b"), call("c"), call("d"));
    assert_eq!(said, ("a".into(), "b".into(), "c".into(), "d".into()));
}

#[tokio::test]
async fn thousands_of_sessions_are_open_at_one_time_and_each_works() {
    let puppet = plugin("puppet").await;
    let workspace = tempfile::TempDir::new().unwrap();
    let sessions: Vec<Session> = (0..5000)
        .map(|number| {
            let id = SessionId::from(format!("session-{number}"));
            Session::builder()
                .model_decides()
                .id(id)
                .workspace(workspace.path())
                .bind(&puppet)
                .open()
                .unwrap()
        })
        .collect();
    for session in sessions.iter().step_by(7) {
        let info = session
            .call("puppet", &json!({"steps": [{"do": "session"}]}))
            .await
            .unwrap();
        assert!(info.text().contains(session.id().as_str()));
    }
}
