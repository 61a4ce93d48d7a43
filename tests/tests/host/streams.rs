//! Events are read as streams, of a session or of one operation, at whatever speed.

use std::time::Duration;

use airlock_host::event::{Event, EventStream};
use airlock_host::limits::LimitKind;
use airlock_host::policy::Rehearse;
use airlock_host::{Error, Limits, Resolution};
use airlock_tests::{DEADLINE, Puppet, Tester, durable, poll_once};
use serde_json::json;

/// The rest of a stream that ends, in words, without log lines' levels.
async fn rest(events: &mut EventStream) -> Vec<String> {
    let mut rest = Vec::new();
    let reading = async {
        while let Some(event) = events.recv().await {
            rest.push(in_words(&event.event));
        }
    };
    let read = tokio::time::timeout(DEADLINE, reading).await;
    read.expect("the stream ends");
    rest
}

/// What can be read now, of a stream that goes on.
async fn so_far(events: &mut EventStream) -> Vec<String> {
    let mut read = Vec::new();
    while let Some(event) = poll_once(Box::pin(events.recv())).await {
        read.push(in_words(&event.expect("the stream goes on").event));
    }
    read
}

fn in_words(event: &Event) -> String {
    match event {
        Event::Log { message, .. } | Event::Progress { message, .. } => message.clone(),
        Event::Began { function } => format!("{function} began"),
        Event::Ended {
            function, failure, ..
        } => format!("{function} ended, {}", failure.unwrap_or("well")),
        Event::Decided { decision, .. } => decision.past().to_owned(),
        Event::Staged { action } => format!("staged {}", action.label),
        Event::Pushed { action } => format!("pushed {}", action.label),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn a_session_s_events_come_with_their_source_from_the_moment_that_somebody_listens() {
    let puppet = Puppet::with(|session| session.id("heard")).await;
    puppet
        .call(json!([{"do": "log", "message": "before"}]))
        .await
        .unwrap();
    let mut events = puppet.session.events();
    let mut others = puppet.session.events();
    puppet
        .call(json!([{"do": "log", "message": "after"}]))
        .await
        .unwrap();
    let began = events.recv().await.unwrap();
    assert_eq!(in_words(&began.event), "execute began");
    assert_eq!(began.session.as_str(), "heard");
    assert_eq!(began.tool, "puppet");
    assert_eq!((began.call, began.missed), (Some(2), 0));
    let heard = ["execute began", "after", "execute ended, well"];
    assert_eq!(so_far(&mut events).await, heard[1..]);
    assert_eq!(so_far(&mut others).await, heard);
    // When nothing of the session is left, the streams end.
    drop(puppet);
    assert!(rest(&mut events).await.is_empty());
}

#[tokio::test]
async fn sessions_hear_nothing_of_each_other() {
    let (one, other) = (Puppet::new().await, Puppet::new().await);
    let (mut of_one, mut of_other) = (one.session.events(), other.session.events());
    one.call(json!([{"do": "log", "message": "one"}]))
        .await
        .unwrap();
    assert!(so_far(&mut of_other).await.is_empty());
    let heard = ["execute began", "one", "execute ended, well"];
    assert_eq!(so_far(&mut of_one).await, heard);
}

#[tokio::test]
async fn a_reader_that_does_not_keep_up_misses_the_oldest_and_stalls_nobody() {
    let limits = Limits::default().with_log_lines(5000);
    let puppet = Puppet::limited(limits).await;
    let mut events = puppet.session.events();
    let lines = json!([{"do": "log", "lines": 3000, "message": "line"}]);
    puppet.call(lines).await.unwrap();
    // 3,002 with the beginning and the end, of which 1,024 are kept.
    let first = events.recv().await.unwrap();
    assert_eq!(first.missed, 3002 - 1024);
    assert_eq!(in_words(&first.event), "line 1978");
    let next = events.recv().await.unwrap();
    assert_eq!(next.missed, 0);
    let kept = so_far(&mut events).await;
    assert_eq!(kept.len(), 1022);
    assert_eq!(kept[1021], "execute ended, well");
    // From here on it keeps up.
    puppet.call(json!([])).await.unwrap();
    let began = events.recv().await.unwrap();
    assert_eq!(
        (in_words(&began.event).as_str(), began.missed),
        ("execute began", 0)
    );
}

#[tokio::test]
async fn a_reader_may_leave_at_any_time() {
    let puppet = Puppet::new().await;
    let (gone, mut stays) = (puppet.session.events(), puppet.session.events());
    puppet.call(json!([])).await.unwrap();
    drop(gone);
    let params = json!({"steps": []});
    let mut call = puppet.session.call("puppet", &params);
    drop(call.events());
    call.await.unwrap();
    let heard = ["execute began", "execute ended, well"];
    assert_eq!(so_far(&mut stays).await, [heard, heard].concat());
}

#[tokio::test]
async fn an_operation_s_stream_has_its_own_events_and_ends_after_them() {
    let puppet = Puppet::with(|session| session.rehearse(Rehearse::Auto)).await;
    let mut all = puppet.session.events();
    let (params, others) = (
        json!({"steps": [{"do": "log", "message": "mine"}, durable("One", json!([]))]}),
        json!({"steps": [{"do": "log", "message": "another's"}]}),
    );
    let mut call = puppet.session.call("puppet", &params);
    let mut events = call.events();
    let other = puppet.session.call("puppet", &others).into_future();
    let (called, heard, other) = tokio::join!(call.into_future(), rest(&mut events), other);
    called.unwrap();
    other.unwrap();
    assert_eq!(
        heard,
        [
            "execute began",
            "mine",
            "staged One",
            "pushed One",
            "execute ended, well",
        ]
    );

    let mut resolving = puppet.session.resolve(Resolution::apply(""), Tester);
    let mut events = resolving.events();
    resolving.await.unwrap();
    let heard = rest(&mut events).await;
    assert_eq!(heard, ["apply began", "apply ended, well", "applied"]);

    // The session's stream also has the other call and the rehearsal.
    let all = so_far(&mut all).await;
    for event in ["another's", "rehearse began", "apply began"] {
        assert!(all.iter().any(|it| it == event), "{event}: {all:?}");
    }
}

#[tokio::test]
async fn a_call_s_stream_ends_however_the_call_does() {
    let limits = Limits::default().with_call_time(Duration::from_millis(500));
    let puppet = Puppet::limited(limits).await;
    let heard_of = async |params: &serde_json::Value| {
        let mut call = puppet.session.call("puppet", params);
        let mut events = call.events();
        let outcome = call.await;
        (outcome, rest(&mut events).await)
    };
    // No guest is called.
    let (refused, heard) = heard_of(&json!({"steps": 1})).await;
    assert!(matches!(refused, Err(Error::InvalidParams { .. })));
    assert!(heard.is_empty(), "{heard:?}");
    let (trapped, heard) = heard_of(&json!({"steps": [{"do": "trap"}]})).await;
    assert!(matches!(trapped, Err(Error::Trap { .. })));
    assert_eq!(heard, ["execute began", "execute ended, trap"]);
    let (stopped, heard) = heard_of(&json!({"steps": [{"do": "spin"}]})).await;
    assert!(
        matches!(&stopped, Err(Error::Limit { kind, .. }) if *kind == LimitKind::CallTime),
        "{stopped:?}"
    );
    assert_eq!(heard, ["execute began", "execute ended, limit"]);

    let params = json!({"steps": [{"do": "block"}]});
    // Dropped on its way, and before its first step.
    let mut call = puppet.session.call("puppet", &params);
    let mut events = call.events();
    let mut calling = call.into_future();
    assert!(poll_once(&mut calling).await.is_none());
    drop(calling);
    assert!(
        !rest(&mut events)
            .await
            .iter()
            .any(|it| it.contains("ended"))
    );
    let mut call = puppet.session.call("puppet", &params);
    let mut events = call.events();
    drop(call);
    assert!(rest(&mut events).await.is_empty());
}
