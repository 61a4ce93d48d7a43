//! Hosts that stop in the middle.

use airlock_host::pending::{ActionState, Actor, Decision, Evidence, StackedAction};
use airlock_host::store::{APPLY_INTERRUPTED, Claim};
use airlock_host::{Error, Resolution};
use airlock_tests::{Backend, Host, Tester, durable, push as volatile_or_durable};
use serde_json::{Value, json};

use super::conversation::{Conversation, begun, find, ledger, push, until};
use super::faulty::{Fault, with_fault};

fn assert_interrupted(stacked: &StackedAction, attempts: u32) {
    assert_eq!(stacked.state, ActionState::Interrupted);
    assert_eq!(stacked.attempts, attempts);
    assert_eq!(stacked.last_error.as_deref(), Some(APPLY_INTERRUPTED));
}

async fn claim<B: Backend>(conversation: &Conversation<B>, host: &Host) {
    let resolution = Resolution::apply("");
    let claim = host
        .store
        .claims
        .claim(&conversation.id(), &resolution, &Tester.into())
        .await;
    assert!(matches!(claim.unwrap(), Claim::Claimed(_)));
}

pub async fn the_guest_sees_the_second_attempt_after_an_interruption<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let killed = conversation.backend.host().await;
    let session = conversation.session(&killed).await;
    push(&session, durable("Again", json!([{"do": "resolution"}]))).await;
    claim(&conversation, &killed).await;
    drop(session);
    let host = conversation.backend.host().await;
    assert!(
        host.store
            .stacks
            .list(&conversation.id())
            .await
            .unwrap()
            .is_empty()
    );
    conversation.backend.kill(killed).await;

    assert_interrupted(&conversation.only(&host).await, 1);
    let session = conversation.session(&host).await;
    let told = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap()
        .text();
    let seen: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(seen["attempt"], 2);
}

pub async fn an_apply_whose_future_is_dropped_is_listed_as_interrupted<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let hosts = [
        conversation.backend.host().await,
        conversation.backend.host().await,
    ];
    let workspace = conversation.workspace();
    let (session, mut told) = conversation.session_that_tells(&hosts[0], workspace).await;
    let steps = json!([ledger("half"), begun(), {"do": "block"}]);
    push(&session, durable("Long", steps)).await;
    let resolving = tokio::spawn({
        let session = session.clone();
        async move { session.resolve(Resolution::apply(""), Tester).await }
    });
    told.recv().await.expect("the apply has begun");
    assert!(!session.has_pending().await.unwrap());
    resolving.abort();
    for host in &hosts {
        until("the claim is given back", async || {
            !host
                .store
                .stacks
                .list(&conversation.id())
                .await
                .unwrap()
                .is_empty()
        })
        .await;
        assert_interrupted(&conversation.only(host).await, 1);
    }
    assert_eq!(conversation.ledger(), "");
}

pub async fn volatile_actions_are_lost_with_their_host_and_can_only_be_discarded<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let killed = conversation.backend.host().await;
    // Killed as it is, its process can't tell that the instance is gone.
    let silent = with_fault(&killed, Fault::BrokenOnceClaimed);
    let session = conversation.session(&silent).await;
    let fields = json!({"volatile": true, "apply": [ledger("applied")]});
    let id = push(&session, volatile_or_durable("In memory", fields)).await;
    drop((session, silent));
    let host = conversation.backend.host().await;
    assert_eq!(conversation.only(&host).await.state, ActionState::Pending);
    conversation.backend.kill(killed).await;

    assert_eq!(conversation.only(&host).await.state, ActionState::Lost);
    let session = conversation.session(&host).await;
    for _ in 0..2 {
        let error = session
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap_err();
        assert!(matches!(error.root(), Error::InstanceGone), "{error}");
        assert_eq!(conversation.only(&host).await.state, ActionState::Lost);
    }
    session
        .resolve(Resolution::discard("lost"), Tester)
        .await
        .unwrap();
    assert_eq!(find(&host, &id).await.state, ActionState::Discarded);
    assert_eq!(conversation.ledger(), "");
}

pub async fn volatile_actions_are_lost_with_their_instance_as_all_hosts_see<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let (host, other) = (
        conversation.backend.host().await,
        conversation.backend.host().await,
    );
    let session = conversation.session(&host).await;
    let fields = json!({"volatile": true, "apply": [{"do": "trap"}]});
    let id = push(&session, volatile_or_durable("In memory", fields)).await;
    assert_eq!(conversation.only(&other).await.state, ActionState::Pending);
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    // Who made it happen knows at once.
    let state = session.pending().await.unwrap()[0].state;
    assert_eq!(state, ActionState::Lost);
    until("the others see it", async || {
        conversation.only(&other).await.state == ActionState::Lost
    })
    .await;
    let found = find(&other, &id).await;
    assert_eq!((found.state, found.attempts), (ActionState::Lost, 1));
    let store = other.durable.as_ref().unwrap();
    assert_eq!(store.stats().await.unwrap().lost, 1);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    session
        .resolve(Resolution::discard("lost"), Tester)
        .await
        .unwrap();
    assert_eq!(find(&other, &id).await.state, ActionState::Discarded);
}

pub async fn a_discard_that_finds_an_apply_is_recorded_as_that_apply<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let killed = conversation.backend.host().await;
    let broken = with_fault(&killed, Fault::BrokenOnceApplied);
    let session = conversation.session(&broken).await;
    push(&session, durable("Write", json!([ledger("applied")]))).await;
    let grace = Actor::person("Grace").with_evidence(Evidence::Client);
    let extra = json!({"ticket": 7}).as_object().cloned().unwrap();
    let apply = Resolution::apply("looks right").with_extra(extra.clone());
    let error = session.resolve(apply, grace.clone()).await.unwrap_err();
    assert!(matches!(error, Error::NotRecorded { .. }), "{error:?}");
    drop((session, broken));

    let host = conversation.backend.host().await;
    conversation.backend.kill(killed).await;
    let id = conversation.only(&host).await.action.id.clone();
    let session = conversation.session(&host).await;
    let extra_of_discard = json!({"other": 1}).as_object().cloned().unwrap();
    let discard = Resolution::discard("not any more").with_extra(extra_of_discard);
    let error = session.resolve(discard, Tester).await.unwrap_err();
    let is_told = matches!(
        &error,
        Error::AlreadyResolved {
            decision: Decision::Apply,
            ..
        }
    );
    assert!(is_told, "{error:?}");
    let found = find(&host, &id).await;
    assert_eq!(found.state, ActionState::Applied);
    let resolved = found.resolved.unwrap();
    assert_eq!(resolved.decision, Decision::Apply);
    assert_eq!(resolved.reason, "looks right");
    assert_eq!(resolved.extra, Some(extra));
    assert_eq!(resolved.decided_by, grace);
    assert_eq!(conversation.ledger(), "applied\n");
}

pub async fn what_could_not_be_recorded_is_told_and_listed_as_interrupted_later<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let killed = conversation.backend.host().await;
    let broken = with_fault(&killed, Fault::BrokenOnceApplied);
    let session = conversation.session(&broken).await;
    push(&session, durable("Write", json!([ledger("applied")]))).await;
    let error = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::NotRecorded {
                decision: Decision::Apply,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "the action was applied, but that could not be recorded: the pending store of a test is full"
    );
    assert_eq!(conversation.ledger(), "applied\n");
    drop((session, broken));

    let host = conversation.backend.host().await;
    conversation.backend.kill(killed).await;
    let interrupted = conversation.only(&host).await;
    assert_interrupted(&interrupted, 1);

    // The workspace knows that it was applied, so that nothing is applied again: whoever decides
    // about it gets what the tool said then, and the store is told.
    let session = conversation.session(&host).await;
    let id = interrupted.action.id.clone();
    let again = Resolution::apply("again").with_id(id.clone());
    let told = session.resolve(again, Tester).await.unwrap();
    assert_eq!(told.details.reason, "");
    assert_eq!(conversation.ledger(), "applied\n");
    assert_eq!(find(&host, &id).await.state, ActionState::Applied);
}
