//! Rules 1 and 8: which action is resolved.

use std::sync::Arc;

use airlock_host::store::MemoryStore;
use airlock_host::{Resolution, Session};
use airlock_tests::{Puppet, Tester, durable, plugin};
use serde_json::json;

// Rule 1.

#[tokio::test]
async fn whether_anything_is_pending_follows_from_the_stack() {
    let puppet = Puppet::new().await;
    for label in ["First", "Second"] {
        assert!(puppet.labels().await.len() < 2);
        puppet.push(durable(label, json!([]))).await;
        assert!(puppet.session.has_pending().await.unwrap());
    }
    for left in [1, 0] {
        puppet.resolve(Resolution::apply("")).await.unwrap();
        assert_eq!(puppet.session.has_pending().await.unwrap(), left > 0);
        assert_eq!(puppet.labels().await.len(), left);
    }
    let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
    let text = "No pending action to resolve. Nothing to apply or discard.";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn sessions_of_one_id_and_store_share_a_stack() {
    let puppet = plugin("puppet").await;
    let store = Arc::new(MemoryStore::new());
    let open = |id: &str| {
        let session = Session::builder()
            .model_decides()
            .id(id)
            .store(store.clone());
        session.bind(&puppet).open().unwrap()
    };
    let [one, same, another] = ["one", "one", "another"].map(open);
    let params = json!({"steps": [durable("Shared", json!([]))]});
    one.call("puppet", &params).await.unwrap();
    assert!(!another.has_pending().await.unwrap());
    let pending = same.pending().await.unwrap();
    assert_eq!(pending.len(), 1);
    let resolution = Resolution::apply("").with_id(pending[0].action.id.clone());
    another
        .resolve(resolution.clone(), Tester)
        .await
        .unwrap_err();
    same.resolve(resolution, Tester).await.unwrap();
    assert!(!one.has_pending().await.unwrap());
}

// Rule 8.

#[tokio::test]
async fn resolving_by_id_changes_no_other_action() {
    for by_id in 0..4 {
        for (resolution, fails) in [
            (Resolution::apply(""), false),
            (Resolution::apply(""), true),
            (Resolution::discard(""), false),
        ] {
            let puppet = Puppet::new().await;
            let step = if fails {
                json!({"do": "failed", "message": "no"})
            } else {
                json!({"do": "text", "text": "done"})
            };
            for label in ["a", "b", "c", "d"] {
                puppet.push(durable(label, json!([step]))).await;
            }
            let mut expected = puppet.session.pending().await.unwrap();
            let meant = expected.remove(by_id);
            let resolution = resolution.with_id(meant.action.id.clone());
            let resolved = puppet.resolve(resolution).await;
            assert_eq!(resolved.is_err(), fails);
            let mut found = puppet.session.pending().await.unwrap();
            if fails {
                // Rule 4: on top, wherever it lay before.
                assert_eq!(found.remove(0).action, meant.action);
            }
            assert_eq!(found, expected);
        }
    }
}
