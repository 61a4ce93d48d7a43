//! Rules 4 and 5: an apply or a reject that fails, in each way that there is.

use std::time::Duration;

use airlock_host::pending::{ActionId, Decision};
use airlock_host::{Error, Limits, Resolution};
use airlock_tests::{Puppet, durable, push};
use serde_json::{Value, json};

/// What the guest does, and how the error's text begins.
fn faults() -> Vec<(Value, &'static str)> {
    let huge = (1 << 20) + 1;
    vec![
        (
            json!({"do": "tool-error", "message": "the file is locked"}),
            "the file is locked",
        ),
        (
            json!({"do": "failed", "message": "disk on fire"}),
            "disk on fire",
        ),
        (json!({"do": "cancelled"}), "cancelled"),
        (
            json!({"do": "trap"}),
            "tool `custom_tool` crashed: wasm trap: wasm `unreachable` instruction executed",
        ),
        (
            json!({"do": "panic", "message": "oh"}),
            "tool `custom_tool` crashed: ",
        ),
        (
            json!({"do": "exit", "code": 1}),
            "tool `custom_tool` crashed: it exited",
        ),
        (
            json!({"do": "spin"}),
            "tool `custom_tool` was stopped after 0.2 s",
        ),
        (
            json!({"do": "recurse"}),
            "tool `custom_tool` used up its stack",
        ),
        (
            json!({"do": "allocate", "mib": 300}),
            "tool `custom_tool` needs more than its",
        ),
        (
            json!({"do": "result-bytes", "bytes": huge}),
            "tool `custom_tool` returned 1048577 bytes",
        ),
        (
            json!({"do": "details", "json": "{not json"}),
            "tool `custom_tool` returned details that are not JSON",
        ),
    ]
}

async fn puppet() -> Puppet {
    Puppet::limited(
        Limits::default()
            .with_call_time(Duration::from_millis(200))
            .with_result_bytes(1 << 20),
    )
    .await
}

// Rule 4.

#[tokio::test]
async fn a_failed_apply_is_on_top_again_under_its_id_and_counts_the_attempt() {
    for (fault, begin) in faults() {
        let puppet = puppet().await;
        puppet.push(durable("Below", json!([]))).await;
        let below = puppet.session.pending().await.unwrap();
        let id = puppet.push(durable("Top", json!([fault]))).await;
        let as_it_is = fault["do"] == "tool-error" || fault["do"] == "cancelled";
        let begin = if as_it_is {
            begin.to_owned()
        } else {
            format!("Apply failed: {begin}")
        };
        for attempt in 1..=3 {
            let error = puppet.resolve(Resolution::apply("try")).await.unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with(&begin), "{text}, not {begin}");
            assert_eq!(matches!(error, Error::ApplyFailed(_)), !as_it_is);
            let mut pending = puppet.session.pending().await.unwrap();
            let top = pending.remove(0);
            assert_eq!(top.action.id.as_str(), id);
            assert_eq!(top.attempts, attempt);
            assert_eq!(top.last_error, Some(text));
            assert_eq!(pending, below);
        }
        let discard = Resolution::discard("give up");
        puppet.resolve(discard).await.unwrap();
        assert_eq!(puppet.labels().await, ["Below"]);
    }
}

#[tokio::test]
async fn an_apply_may_succeed_at_a_later_attempt() {
    for volatile in [false, true] {
        let puppet = Puppet::new().await;
        let steps =
            json!([{"do": "fail-until-attempt", "n": 3}, {"do": "text", "text": "at last"}]);
        let fields = json!({"volatile": volatile, "apply": steps});
        puppet.push(push("Flaky", fields)).await;
        for _ in 0..2 {
            puppet.resolve(Resolution::apply("")).await.unwrap_err();
        }
        let outcome = puppet.resolve(Resolution::apply("")).await.unwrap();
        assert_eq!(outcome.text(), "at last");
        assert!(puppet.labels().await.is_empty());
    }
}

#[tokio::test]
async fn a_decision_about_a_review_does_not_count_after_another_attempt() {
    let puppet = Puppet::new().await;
    let steps = json!([{"do": "fail-until-attempt", "n": 2}, {"do": "text", "text": "at last"}]);
    let id: ActionId = puppet.push(durable("Flaky", steps)).await.into();
    let review = async || puppet.session.review(&id).await.unwrap().unwrap();
    let before = review().await;
    puppet.resolve(Resolution::apply("")).await.unwrap_err();
    let late = before.decided(Decision::Apply, "");
    let error = puppet.resolve(late).await.unwrap_err();
    assert_eq!(error.kind(), "refused");
    let now = review().await;
    assert_eq!(now.action.attempts, 1);
    let outcome = puppet.resolve(now.decided(Decision::Apply, "")).await;
    assert_eq!(outcome.unwrap().text(), "at last");
}

// Rule 5.

#[tokio::test]
async fn a_failed_reject_reaches_the_caller_as_it_is_and_the_action_is_gone() {
    for (fault, begin) in faults() {
        let puppet = puppet().await;
        puppet.push(durable("Below", json!([]))).await;
        let below = puppet.session.pending().await.unwrap();
        puppet.push(push("Gone", json!({"reject": [fault]}))).await;
        let resolved = puppet.resolve(Resolution::discard("")).await;
        let error = resolved.unwrap_err().to_string();
        assert!(error.starts_with(begin), "{error}, not {begin}");
        assert_eq!(puppet.session.pending().await.unwrap(), below);
    }
}

#[tokio::test]
async fn a_volatile_action_whose_instance_is_gone_can_only_be_discarded() {
    // What ends the instance: a call, its own apply, or the end of its time.
    for (fault, kills) in [
        (json!({"do": "trap"}), true),
        (json!({"do": "spin"}), true),
        (json!({"do": "tool-error", "message": "no"}), false),
        (json!({"do": "failed", "message": "no"}), false),
    ] {
        let puppet = puppet().await;
        let fields = json!({"volatile": true, "reject": [{"do": "text", "text": "let go"}]});
        puppet.push(push("Held", fields)).await;
        puppet.call(json!([fault])).await.unwrap_err();
        if !kills {
            let outcome = puppet.resolve(Resolution::discard("no")).await.unwrap();
            assert_eq!(outcome.text(), "let go");
            continue;
        }
        for _ in 0..2 {
            let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
            assert!(matches!(error.root(), Error::InstanceGone), "{error}");
            let text = error.to_string();
            let begin = "Apply failed: the tool kept this preview only in memory";
            assert!(text.starts_with(begin), "{text}");
            assert_eq!(puppet.labels().await, ["Held"]);
        }
        let outcome = puppet.resolve(Resolution::discard("gone")).await.unwrap();
        assert_eq!(outcome.text(), "Discarded: Held. Reason: gone");
    }
}
