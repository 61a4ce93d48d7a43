//! What a guest did is told apart, in words that help: whatever it did, the session goes on.

use airlock_host::Error;
use airlock_tests::Puppet;
use serde_json::{Value, json};

#[tokio::test]
async fn each_end_of_a_call_is_a_variant_of_its_own_with_a_readable_text() {
    let puppet = Puppet::new().await;
    let check = async |step: Value, kind: &str, text: &str| {
        let error = puppet.call(json!([step])).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(error.to_string(), text);
        assert_eq!(
            puppet.text(json!([{"do": "text", "text": "on"}])).await,
            "on"
        );
    };
    check(
        json!({"do": "tool-error", "message": "no such song"}),
        "tool",
        "no such song",
    )
    .await;
    check(
        json!({"do": "failed", "message": "broken\npipe"}),
        "failed",
        "broken\npipe",
    )
    .await;
    check(json!({"do": "cancelled"}), "cancelled", "cancelled").await;
    check(
        json!({"do": "trap"}),
        "trap",
        "tool `puppet` crashed: wasm trap: wasm `unreachable` instruction executed",
    )
    .await;
    check(
        json!({"do": "exit", "code": 0}),
        "trap",
        "tool `puppet` crashed: it exited with status 0",
    )
    .await;
    check(
        json!({"do": "exit", "code": 3}),
        "trap",
        "tool `puppet` crashed: it exited with status 1",
    )
    .await;
}

#[tokio::test]
async fn a_panic_names_the_tool_the_place_and_the_message() {
    let puppet = Puppet::new().await;
    let error = puppet
        .call(json!([{"do": "panic", "message": "index 7 of 3"}]))
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Trap { .. }), "{text}");
    assert!(
        text.starts_with("tool `puppet` crashed: panicked at "),
        "{text}"
    );
    assert!(text.contains("run.rs"), "{text}");
    assert!(text.ends_with("index 7 of 3"), "{text}");
    assert!(!text.contains("RUST_BACKTRACE"), "{text}");
    // The last words of one call are not another's.
    let text = puppet
        .call(json!([{"do": "trap"}]))
        .await
        .unwrap_err()
        .to_string();
    assert!(!text.contains("index 7"), "{text}");
}

#[tokio::test]
async fn details_that_are_not_json_are_the_tools_failure() {
    let puppet = Puppet::new().await;
    let error = puppet
        .call(json!([{"do": "details", "json": "{"}]))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("tool `puppet` returned details that are not JSON"),
        "{error}"
    );
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let error = puppet
        .call(json!([{"do": "details", "json": deep}]))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("recursion limit"), "{error}");
    let outcome = puppet
        .call(json!([{"do": "details", "json": "[1]"}]))
        .await
        .unwrap();
    assert_eq!(outcome.details.unwrap(), json!([1]));
}

#[tokio::test]
async fn after_a_trap_the_instance_is_never_used_again() {
    let puppet = Puppet::new().await;
    let remember = json!([{"do": "remember", "key": "k", "value": "kept"}]);
    let recall = json!([{"do": "recall", "key": "k"}]);
    puppet.text(remember.clone()).await;
    assert_eq!(puppet.text(recall.clone()).await, "kept");
    // A tool's own error is no reason to drop it, nor is that it noticed a cancellation.
    for end in [
        json!({"do": "failed", "message": ""}),
        json!({"do": "cancelled"}),
    ] {
        puppet.call(json!([end])).await.unwrap_err();
        assert_eq!(puppet.text(recall.clone()).await, "kept", "{end}");
    }
    for end in [
        json!({"do": "trap"}),
        json!({"do": "exit", "code": 0}),
        json!({"do": "recurse"}),
    ] {
        puppet.text(remember.clone()).await;
        puppet.call(json!([end])).await.unwrap_err();
        assert_eq!(puppet.text(recall.clone()).await, "none", "{end}");
    }
}
