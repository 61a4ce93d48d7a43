//! The tool `resolve` itself: hidden from every listing, called like any other, with params of its
//! own.

use airlock_host::{Content, Error, Session, ToolDefinition, resolve_tool};
use airlock_tests::{Puppet, durable, plugin, push};
use serde_json::json;

fn names(tools: Vec<ToolDefinition>) -> Vec<String> {
    tools.into_iter().map(|tool| tool.name).collect()
}

async fn session() -> Session {
    let puppet = Puppet::new().await;
    // It brings a hidden tool of its own.
    let suite = plugin("conformance/rust").await;
    puppet.session.bind(&suite).unwrap();
    puppet.session
}

#[tokio::test]
async fn listing_shows_neither_resolve_nor_hidden_tools_whatever_is_pending() {
    let session = session().await;
    let listed = [
        "puppet",
        "typed",
        "answer",
        "stage",
        "stage_quietly",
        "hold",
        "surroundings",
    ];
    assert_eq!(names(session.tools()), listed);
    session
        .call("stage", &json!({"label": "Pending"}))
        .await
        .unwrap();
    assert_eq!(names(session.tools()), listed);
    // It is added apart.
    assert_eq!(resolve_tool().name, "resolve");
    assert!(resolve_tool().traits.hidden);
}

#[tokio::test]
async fn filtering_by_requested_names_gives_those_that_are_bound_and_never_resolve() {
    let session = session().await;
    for (requested, given) in [
        (&[] as &[&str], &[] as &[&str]),
        (&["resolve"], &[]),
        (&["resolve", "typed"], &["typed"]),
        (&["typed", "puppet", "resolve"], &["puppet", "typed"]),
        (&["whisper"], &["whisper"]),
        (&["whisper", "whisper", "stage"], &["stage", "whisper"]),
        (&["nobody", "Typed"], &[]),
    ] {
        assert_eq!(names(session.tools_named(requested)), given);
    }
    // What is filtered out, or hidden, can be called all the same.
    let said = session.call("whisper", &json!({"text": "psst"})).await;
    assert_eq!(said.unwrap().text(), "PSST");
}

#[tokio::test]
async fn resolve_is_called_like_a_tool_with_action_reason_extra_and_id() {
    let puppet = Puppet::new().await;
    let steps = json!([{"do": "text", "text": "done"}]);
    let id = puppet.push(durable("By name", steps)).await;
    puppet.push(push("Above", json!({}))).await;
    let params = json!({"action": "apply", "reason": "as a tool", "id": id, "extra": {"a": 1}});
    let outcome = puppet.session.call("resolve", &params).await.unwrap();
    assert_eq!(outcome.content, [Content::text("done")]);
    let details = json!({"action": "apply", "reason": "as a tool", "extra": {"a": 1},
        "sourceToolName": "custom_tool", "label": "By name"});
    assert_eq!(outcome.details.unwrap(), details);
    let params = json!({"action": "discard", "reason": "and this"});
    let outcome = puppet.session.call("resolve", &params).await.unwrap();
    assert_eq!(outcome.text(), "Discarded: Above. Reason: and this");
}

#[tokio::test]
async fn params_of_resolve_that_do_not_fit_decide_nothing() {
    let puppet = Puppet::new().await;
    puppet.push(durable("Waits", json!([]))).await;
    for (params, problem) in [
        (json!({}), r#""action" is a required property"#),
        (
            json!({"action": "apply"}),
            r#""reason" is a required property"#,
        ),
        (
            json!({"reason": "no action"}),
            r#""action" is a required property"#,
        ),
        (
            json!({"action": "approve", "reason": ""}),
            r#"/action: "approve" is not one of"#,
        ),
        (
            json!({"action": "Apply", "reason": ""}),
            r#"/action: "Apply" is not one of"#,
        ),
        (
            json!({"action": "apply", "reason": 1}),
            "/reason: 1 is not of type",
        ),
        (
            json!({"action": "apply", "reason": null}),
            "/reason: null is not of type",
        ),
        (
            json!({"action": "apply", "reason": "", "extra": "text"}),
            r#"/extra: "text" is not of type"#,
        ),
        (
            json!({"action": "apply", "reason": "", "extra": []}),
            "/extra: [] is not of type",
        ),
        (
            json!({"action": "apply", "reason": "", "id": 7}),
            "/id: 7 is not of type",
        ),
        (
            json!({"action": "apply", "reason": "", "why": 1}),
            "'why' was unexpected",
        ),
        (json!(["apply", ""]), r#"is not of type "object""#),
        (json!("apply"), r#"is not of type "object""#),
    ] {
        let error = puppet.session.call("resolve", &params).await.unwrap_err();
        assert!(matches!(error, Error::InvalidParams { .. }), "{params}");
        let text = error.to_string();
        let begin = "the params of `resolve` don't fit its schema: ";
        assert!(text.starts_with(begin) && text.contains(problem), "{text}");
    }
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[0].attempts, 0);
}

#[tokio::test]
async fn its_id_names_another_action_than_the_topmost() {
    let puppet = Puppet::new().await;
    let below = puppet.push(durable("Below", json!([]))).await;
    puppet.push(durable("Topmost", json!([]))).await;
    let params = json!({"action": "discard", "reason": "no", "id": below});
    let outcome = puppet.session.call("resolve", &params).await.unwrap();
    assert_eq!(outcome.text(), "Discarded: Below. Reason: no");
    assert_eq!(puppet.labels().await, ["Topmost"]);
    let error = puppet.session.call("resolve", &params).await.unwrap_err();
    let said = format!("Pending action {below} was already discarded.");
    assert_eq!(error.to_string(), said);
}
