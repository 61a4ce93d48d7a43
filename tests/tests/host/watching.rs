//! Who watches a session hears of each call and decision, by its number; a stack can be cleared.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use airlock_host::event::Event;
use airlock_host::{Error, Resolution};
use airlock_tests::{Puppet, Tester, durable, push};
use serde_json::json;

/// What was heard, without its times: by which call, and what.
type SeenEvents = Arc<Mutex<Vec<(Option<u64>, String)>>>;

async fn watched() -> (Puppet, SeenEvents) {
    let heard: SeenEvents = Arc::default();
    let hears = Arc::clone(&heard);
    let puppet = Puppet::with(|session| {
        session.observer(move |source, event| {
            let what = match event {
                Event::Began { function } => format!("{function} began"),
                Event::Ended {
                    function,
                    time,
                    failure,
                } => {
                    assert!(*time < Duration::from_secs(60));
                    format!("{function} ended, {}", failure.unwrap_or("well"))
                }
                Event::Decided { decision, .. } => decision.past().to_owned(),
                Event::Staged { action } => format!("staged {}", action.label),
                Event::Pushed { action } => format!("pushed {}", action.label),
                _ => return,
            };
            hears.lock().unwrap().push((source.call, what));
        })
    })
    .await;
    (puppet, heard)
}

#[tokio::test]
async fn calls_and_decisions_are_told_by_the_number_that_the_guest_gets_too() {
    let (puppet, heard) = watched().await;
    puppet
        .call(json!([durable("One", json!([]))]))
        .await
        .unwrap();
    let applied = puppet.session.resolve(Resolution::apply(""), Tester).await;
    applied.unwrap();
    puppet.call(json!([{"do": "trap"}])).await.unwrap_err();
    // What no guest is called for has no number.
    puppet
        .session
        .call("puppet", &json!({"steps": 1}))
        .await
        .unwrap_err();
    puppet
        .session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    puppet.call(json!([])).await.unwrap();
    let heard = heard.lock().unwrap();
    let heard: Vec<(u64, &str)> = heard
        .iter()
        .map(|(call, what)| (call.unwrap(), what.as_str()))
        .collect();
    assert_eq!(
        heard,
        [
            (1, "execute began"),
            (1, "staged One"),
            (1, "pushed One"),
            (1, "execute ended, well"),
            (2, "apply began"),
            (2, "apply ended, well"),
            (2, "applied"),
            (3, "execute began"),
            (3, "execute ended, trap"),
            (4, "execute began"),
            (4, "execute ended, well"),
        ]
    );
}

#[tokio::test]
async fn a_failed_apply_is_no_decision_and_a_discard_is_one() {
    let (puppet, heard) = watched().await;
    let action = durable("One", json!([{"do": "tool-error", "message": "no"}]));
    let pushed = puppet.call(json!([action])).await.unwrap().pushed;
    puppet
        .session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    let discard = Resolution::discard("").with_id(pushed[0].id.clone());
    puppet.session.resolve(discard, Tester).await.unwrap();
    let heard = heard.lock().unwrap();
    let decided: Vec<&str> = heard[4..].iter().map(|(_, what)| what.as_str()).collect();
    assert!(
        decided[..2] == ["apply began", "apply ended, tool"],
        "{decided:?}"
    );
    assert_eq!(decided.last(), Some(&"discarded"));
    assert!(!decided.contains(&"applied"), "{decided:?}");
}

#[tokio::test]
async fn a_stack_is_cleared_from_the_top_and_whoever_asked_for_it_hears_of_it() {
    let (puppet, heard) = watched().await;
    let none = puppet.session.clear("", Tester).await.unwrap();
    assert_eq!(none, []);
    let mut pushed = Vec::new();
    let refuses = json!([{"do": "tool-error", "message": "I won't"}]);
    for action in [
        durable("One", json!([])),
        push("Two", json!({"apply": [], "reject": refuses})),
        durable("Three", json!([])),
    ] {
        pushed.push(puppet.push(action).await);
    }
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let error = puppet
        .session
        .clear("", Tester)
        .cancelled_by(&cancelled)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(puppet.session.pending().await.unwrap().len(), 3);

    heard.lock().unwrap().clear();
    let cleared = puppet.session.clear("over", Tester).await.unwrap();
    let cleared: Vec<&str> = cleared.iter().map(|id| id.as_str()).collect();
    pushed.reverse();
    assert_eq!(cleared, pushed);
    assert!(!puppet.session.has_pending().await.unwrap());
    let heard = heard.lock().unwrap();
    let decided = heard.iter().filter(|(_, what)| what == "discarded").count();
    assert_eq!(decided, 3, "{heard:?}");
}
