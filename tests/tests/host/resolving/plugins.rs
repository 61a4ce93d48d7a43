//! Rule 9: an action belongs to the bytes that pushed it.

use std::sync::Arc;

use airlock_host::store::MemoryStore;
use airlock_host::{Plugin, Resolution, Session};
use airlock_tests::{Puppet, Tester, component, durable, engine, plugin, push};
use serde_json::json;

#[tokio::test]
async fn an_action_is_applied_by_the_bytes_that_pushed_it_also_after_an_upgrade() {
    let puppet = Puppet::new().await;
    let steps = json!([{"do": "text", "text": "by the old bytes"}]);
    puppet.push(durable("Old", steps)).await;
    // A newer build of the same plugin: the same tools under another digest.
    let newer = with_custom_section(std::fs::read(component("puppet")).unwrap());
    let newer = Plugin::from_bytes(engine(), "puppet", newer).await.unwrap();
    let older = plugin("puppet").await.digest();
    assert_ne!(newer.digest(), older);
    puppet.session.unbind(older);
    assert_eq!(puppet.session.bind(&newer).unwrap(), []);
    puppet.push(durable("New", json!([]))).await;
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[0].action.plugin, newer.digest());
    assert_eq!(pending[1].action.plugin, older);
    puppet.resolve(Resolution::apply("")).await.unwrap();
    let outcome = puppet.resolve(Resolution::apply("")).await.unwrap();
    assert_eq!(outcome.text(), "by the old bytes");
}

#[tokio::test]
async fn without_the_plugin_an_action_can_only_be_discarded() {
    let store = Arc::new(MemoryStore::new());
    let puppet = Puppet::with(|session| session.id("shared").store(store.clone())).await;
    puppet
        .push(push("Orphan", json!({"hasReject": true})))
        .await;
    let workspace = puppet.session.workspace().unwrap();
    let bare = Session::builder().id("shared").workspace(workspace);
    let bare = bare.store(store).open().unwrap();
    let error = bare
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    let text = error.to_string();
    let begin = "Apply failed: the plugin that pushed this action (sha256:";
    assert!(text.starts_with(begin), "{text}");
    let outcome = bare
        .resolve(Resolution::discard("unknown"), Tester)
        .await
        .unwrap();
    assert_eq!(outcome.text(), "Discarded: Orphan. Reason: unknown");
}

fn with_custom_section(mut component: Vec<u8>) -> Vec<u8> {
    component.extend([0, 2, 1, b'v']);
    component
}
