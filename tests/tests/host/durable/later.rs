//! What one host previewed, resolved by another.

use std::fs;

use airlock_host::policy::WorkspaceGrant;
use airlock_host::{Error, Plugin, Policy, Resolution, Session};
use airlock_tests::{Backend, Tester, component, durable, engine, push as volatile_or_durable};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::conversation::{Conversation, DEADLINE, ledger, push};

pub async fn the_bytes_that_pushed_apply_whatever_has_become_of_their_file<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("tool.wasm");
    fs::copy(component("puppet"), &file).unwrap();
    let host = conversation.backend.host().await;
    {
        let before = Plugin::load(engine(), &file).await.unwrap();
        let session = conversation.bare(&host).bind(&before).open().unwrap();
        push(&session, durable("Third", json!([ledger("third")]))).await;
        push(&session, durable("Second", json!([ledger("second")]))).await;
        push(&session, durable("First", json!([ledger("first")]))).await;
    }
    drop(host);

    // Upgraded: the new bytes don't know what the old ones' state means.
    fs::copy(component("sdk_tools"), &file).unwrap();
    let host = conversation.backend.host().await;
    let after = Plugin::load(engine(), &file).await.unwrap();
    let session = conversation.bare(&host).bind(&after).open().unwrap();
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(conversation.ledger(), "first\n");

    // Deleted, and the session has loaded nothing at all.
    fs::remove_file(&file).unwrap();
    let session = conversation.bare(&host).open().unwrap();
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(conversation.ledger(), "first\nsecond\nthird\n");
    assert!(session.pending().await.unwrap().is_empty());
}

pub async fn an_apply_has_what_was_granted_both_when_it_was_pushed_and_now<B: Backend>() {
    use WorkspaceGrant::{None as Nothing, Read, ReadWrite};
    for (pushed_under, now_under, may_write) in [
        (ReadWrite, Some(ReadWrite), true),
        (Read, Some(ReadWrite), false),
        (ReadWrite, Some(Read), false),
        (Nothing, Some(ReadWrite), false),
        (ReadWrite, Some(Nothing), false),
        // Not bound now: what was granted then.
        (ReadWrite, None, true),
        (Read, None, false),
    ] {
        let conversation = Conversation::<B>::new().await;
        let policy = |grant| Policy::default().with_workspace(grant);
        let host = conversation.backend.host().await;
        let session = conversation
            .session_under(&host, policy(pushed_under))
            .await;
        push(&session, durable("Write", json!([ledger("written")]))).await;

        let host = conversation.backend.host().await;
        let session: Session = match now_under {
            Some(grant) => conversation.session_under(&host, policy(grant)).await,
            None => conversation.bare(&host).open().unwrap(),
        };
        let told = session
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap()
            .text();
        let case = format!("pushed under {pushed_under:?}, applied under {now_under:?}: {told}");
        assert_eq!(told == "ok", may_write, "{case}");
        assert_eq!(!conversation.ledger().is_empty(), may_write, "{case}");
    }
}

pub async fn another_workspace_is_refused<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let elsewhere = TempDir::new().unwrap();
    let host = conversation.backend.host().await;
    let session = conversation.session(&host).await;
    push(&session, durable("Here", json!([ledger("applied")]))).await;
    let there = conversation.bare(&host).workspace(elsewhere.path());
    let error = there
        .open()
        .unwrap()
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    match error.root() {
        Error::OtherWorkspace {
            previewed,
            session: there,
        } => {
            assert_eq!(previewed.as_deref(), session.workspace());
            let elsewhere = elsewhere.path().canonicalize().unwrap();
            assert_eq!(there.as_deref(), Some(&*elsewhere));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(conversation.ledger(), "");
    // It is still there for a session on the right one.
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(conversation.ledger(), "applied\n");
}

pub async fn of_many_who_resolve_in_two_hosts_one_does<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let hosts = [
        conversation.backend.host().await,
        conversation.backend.host().await,
    ];
    let sessions = [
        conversation.session(&hosts[0]).await,
        conversation.session(&hosts[1]).await,
    ];
    for round in 0..3 {
        let line = format!("round {round}");
        let id = push(&sessions[0], durable("Prize", json!([ledger(&line)]))).await;
        let mut racers = JoinSet::new();
        for racer in 0..50 {
            let session = sessions[racer % 2].clone();
            let resolution = Resolution::apply("mine").with_id(id.clone());
            racers.spawn(async move { session.resolve(resolution, Tester).await });
        }
        let mut won = 0;
        for answer in racers.join_all().await {
            match answer {
                Ok(_) => won += 1,
                Err(Error::ResolutionInProgress(_) | Error::AlreadyResolved { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(won, 1);
    }
    assert_eq!(conversation.ledger(), "round 0\nround 1\nround 2\n");
}

pub async fn a_change_in_another_host_wakes_who_waits<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let hosts = [
        conversation.backend.host().await,
        conversation.backend.host().await,
    ];
    let here = conversation.session(&hosts[0]).await;
    let there = conversation.session(&hosts[1]).await;
    let woken = async |waiting| {
        let woken = timeout(DEADLINE, waiting).await;
        assert!(woken.is_ok(), "nobody was woken");
    };
    // What happens between the call and the wait counts too.
    let pushed = here.pending_changed();
    let step = volatile_or_durable("Seen", json!({"apply": [], "details": "{}"}));
    push(&there, step).await;
    woken(tokio::spawn(pushed)).await;
    assert!(here.has_pending().await.unwrap());
    let resolved = here.pending_changed();
    there
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap();
    woken(tokio::spawn(resolved)).await;
}
