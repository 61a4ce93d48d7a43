//! Rule 9: an action belongs to the bytes that pushed it.

use std::sync::{Arc, OnceLock};

use airlock_host::event::Event;
use airlock_host::store::MemoryStore;
use airlock_host::{Error, Plugin, Resolution, Session};
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
async fn what_a_session_has_is_replaced_at_once_and_what_is_under_way_or_pending_is_of_the_old() {
    let (files, old) = (plugin("files").await, plugin("puppet").await);
    let opened = Arc::<OnceLock<Session>>::default();
    let (rebound, others) = (Arc::clone(&opened), files.clone());
    let puppet = Puppet::with(|session| {
        session.observer(move |_, event| {
            if let (Event::Progress { .. }, Some(session)) = (event, rebound.get()) {
                assert_eq!(session.rebind([&others]).unwrap(), []);
            }
        })
    })
    .await;
    let tools = || {
        let tools = puppet.session.tools().into_iter();
        tools.map(|tool| tool.name).collect::<Vec<_>>()
    };
    let applied = json!({"volatile": true, "apply": [{"do": "text", "text": "by the old"}]});
    puppet.push(push("Volatile", applied)).await;
    opened.set(puppet.session.clone()).unwrap();
    let in_its_midst = json!([
        {"do": "progress", "message": "now"},
        {"do": "text", "text": "to its end"},
    ]);
    assert_eq!(puppet.text(in_its_midst).await, "to its end");
    assert_eq!(tools(), ["files"]);
    let gone = puppet.call(json!([])).await.unwrap_err();
    assert!(matches!(gone, Error::UnknownTool { .. }), "{gone}");
    let outcome = puppet.resolve(Resolution::apply("")).await.unwrap();
    assert_eq!(outcome.text(), "by the old");

    // In the order that is given; and what was there before keeps its memory.
    puppet.session.rebind([&old, &files]).unwrap();
    assert_eq!(tools(), ["puppet", "typed", "files"]);
    puppet.push(push("Kept", json!({"volatile": true}))).await;
    assert_eq!(puppet.session.rebind([&files, &old]).unwrap(), []);
    assert_eq!(tools(), ["files", "puppet", "typed"]);
    puppet.resolve(Resolution::apply("")).await.unwrap();
    // What can't be used is left out, and not for longer than it is bound.
    let misfits = plugin("misfits").await;
    let rejected = puppet.session.rebind([&misfits]).unwrap();
    assert!(!rejected.is_empty());
    assert_eq!(puppet.session.rejected(), rejected);
    puppet.session.rebind([&old]).unwrap();
    assert_eq!(puppet.session.rejected(), []);
}

#[tokio::test]
async fn without_the_plugin_an_action_can_only_be_discarded() {
    let store = Arc::new(MemoryStore::new());
    let puppet = Puppet::with(|session| session.id("shared").store(store.clone())).await;
    puppet
        .push(push("Orphan", json!({"hasReject": true})))
        .await;
    let workspace = puppet.session.workspace().unwrap();
    let bare = Session::builder()
        .model_decides()
        .id("shared")
        .workspace(workspace);
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
