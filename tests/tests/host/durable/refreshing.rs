//! A tool is called again, and what that pushes lies where the earlier actions were.

use std::sync::{Arc, Mutex};

use airlock_host::event::Event;
use airlock_host::pending::{ActionId, ActionState, Decision};
use airlock_host::{Error, Resolution, Session};
use airlock_tests::{Backend, Host, Tester, durable, plugin, push as with_fields};
use serde_json::{Value, json};

use super::conversation::{Conversation, begun, find, ledger, push, until};
use super::faulty::{Fault, with_fault};

async fn labels(session: &Session) -> Vec<String> {
    let pending = session.pending().await.unwrap();
    pending.iter().map(|it| it.action.label.clone()).collect()
}

/// Three actions of three calls; the lowest of them has `steps` beside it in its call.
async fn three(session: &Session, steps: Value) -> ActionId {
    let mut lowest = steps.as_array().unwrap().clone();
    lowest.push(durable("Lowest", json!([ledger("lowest")])));
    let params = json!({"steps": lowest});
    let outcome = session.call("puppet", &params).await.unwrap();
    push(session, durable("Middle", json!([ledger("middle")]))).await;
    push(session, durable("Top", json!([ledger("top")]))).await;
    outcome.pushed[0].id.clone()
}

pub async fn the_lowest_of_three_stays_the_lowest<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let host = conversation.backend.host().await;
    let session = conversation.session(&host).await;
    let old = three(&session, json!([durable("Below", json!([]))])).await;

    let refreshed = session.refresh(&old, Tester).await.unwrap();
    assert_eq!(labels(&session).await, ["Top", "Middle", "Lowest", "Below"]);
    let record = find(&host, &old).await;
    assert_eq!(record.state, ActionState::Discarded);
    let resolved = record.resolved.unwrap();
    let ids: Vec<_> = refreshed
        .pushed
        .iter()
        .rev()
        .map(|it| it.id.as_str())
        .collect();
    assert_eq!(resolved.reason, format!("refreshed as {}", ids.join(", ")));
    assert_eq!(resolved.decided_by, Tester.into());

    // Another host, which loads the plugin from the store, refreshes it once more.
    let host = conversation.backend.host().await;
    let session = conversation.bare(&host).open().unwrap();
    session
        .refresh(&refreshed.pushed[0].id, Tester)
        .await
        .unwrap();
    for _ in 0..4 {
        session
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap();
    }
    assert_eq!(conversation.ledger(), "top\nmiddle\nlowest\n");
}

pub async fn one_that_the_store_refuses_leaves_what_was_pending<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let good = conversation.backend.host().await;
    let host = with_fault(&good, Fault::FullForReplacements);
    let session = conversation.session(&host).await;
    let old = three(&session, json!([])).await;
    let error = session.refresh(&old, Tester).await.unwrap_err();
    assert!(matches!(error, Error::Store(_)), "{error:?}");
    assert_eq!(labels(&session).await, ["Top", "Middle", "Lowest"]);
    for _ in 0..3 {
        session
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap();
    }
    assert_eq!(conversation.ledger(), "top\nmiddle\nlowest\n");
}

/// Another host decides about an action while its tool is called again.
async fn decided_meanwhile<B: Backend>(decision: Decision) -> (Conversation<B>, Session, Error) {
    let conversation = Conversation::<B>::new().await;
    let hosts: [Host; 2] = [
        conversation.backend.host().await,
        conversation.backend.host().await,
    ];
    let other = conversation.session(&hosts[1]).await;
    let old: Arc<Mutex<Option<ActionId>>> = Arc::default();
    let meanwhile = Arc::clone(&old);
    let puppet = plugin("puppet").await;
    let session = conversation.bare(&hosts[0]).bind(&puppet);
    let session = session.observer(move |_, event| {
        let is_begun = matches!(event, Event::Log { message, .. } if message == "begun");
        let old = meanwhile.lock().unwrap().clone();
        if let Some(id) = old.filter(|_| is_begun) {
            let resolution = Resolution::new(decision, "faster").with_id(id);
            let resolving = async { other.resolve(resolution, Tester).await.unwrap() };
            let runtime = tokio::runtime::Handle::current();
            tokio::task::block_in_place(|| runtime.block_on(resolving));
        }
    });
    let session = session.open().unwrap();
    let id = three(&session, json!([begun()])).await;
    *old.lock().unwrap() = Some(id.clone());
    let error = session.refresh(&id, Tester).await.unwrap_err();
    (conversation, session, error)
}

pub async fn what_is_decided_about_meanwhile_is_not_refreshed<B: Backend>() {
    for decision in [Decision::Apply, Decision::Discard] {
        let (conversation, session, error) = decided_meanwhile::<B>(decision).await;
        assert!(
            matches!(&error, Error::AlreadyResolved { decision: told, .. } if *told == decision),
            "{error:?}"
        );
        assert_eq!(labels(&session).await, ["Top", "Middle"]);
        let expected = match decision {
            Decision::Apply => "lowest\n",
            Decision::Discard => "",
        };
        assert_eq!(conversation.ledger(), expected);
    }
}

pub async fn a_tool_that_takes_note_of_discards_hears_of_it<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let host = conversation.backend.host().await;
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&heard);
    let puppet = plugin("puppet").await;
    let session = conversation.bare(&host).bind(&puppet);
    let session = session.observer(move |_, event| {
        if let Event::Log { message, .. } = event {
            noted.lock().unwrap().push(message.clone());
        }
    });
    let session = session.open().unwrap();
    let log = |message: &str| json!({"do": "log", "message": message});
    let mut ids = Vec::new();
    for (label, fields) in [
        ("Kept", json!({"reject": [log("kept")]})),
        (
            "Volatile",
            json!({"reject": [log("volatile")], "volatile": true}),
        ),
        ("Fails", json!({"reject": [log("fails"), {"do": "trap"}]})),
    ] {
        ids.push(push(&session, with_fields(label, fields)).await);
    }
    for id in &ids {
        session.refresh(id, Tester).await.unwrap();
    }
    assert_eq!(*heard.lock().unwrap(), ["kept", "volatile", "fails"]);
    assert_eq!(labels(&session).await, ["Fails", "Volatile", "Kept"]);
}

pub async fn what_was_cut_off_is_found_out_about_first<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let host = conversation.backend.host().await;
    let workspace = conversation.workspace();
    let (session, mut told) = conversation.session_that_tells(&host, workspace).await;
    let steps = json!([ledger("half"), begun(), {"do": "block"}]);
    let id = push(&session, durable("Long", steps)).await;
    let resolving = tokio::spawn({
        let session = session.clone();
        async move { session.resolve(Resolution::apply(""), Tester).await }
    });
    told.recv().await.expect("the apply has begun");
    resolving.abort();
    until("the claim is given back", async || {
        session.has_pending().await.unwrap()
    })
    .await;
    let state = conversation.only(&host).await.state;
    assert_eq!(state, ActionState::Interrupted);
    let refreshed = session.refresh(&id, Tester).await.unwrap();
    let only = conversation.only(&host).await;
    assert_eq!(
        (&only.action.id, only.state),
        (&refreshed.pushed[0].id, ActionState::Pending)
    );

    // Of what was applied in truth, the store is told, and nothing is previewed again.
    let faulty = with_fault(&host, Fault::BrokenOnceApplied);
    let broken = conversation.session(&faulty).await;
    let id = push(&broken, durable("It", json!([ledger("it")]))).await;
    let apply = Resolution::apply("").with_id(id.clone());
    broken.resolve(apply, Tester).await.unwrap_err();
    drop((broken, session, faulty));
    conversation.backend.kill(host).await;
    let host = conversation.backend.host().await;
    until("its claim is over", async || {
        let listed = host.store.stacks.list(&conversation.id()).await.unwrap();
        listed.iter().any(|it| it.action.id == id)
    })
    .await;
    let session = conversation.session(&host).await;
    let error = session.refresh(&id, Tester).await.unwrap_err();
    assert_eq!(error.kind(), "already-resolved");
    assert_eq!(find(&host, &id).await.state, ActionState::Applied);
    assert_eq!(conversation.ledger(), "it\n");
}
