//! The Rust SDK, from a component's definitions to its resolutions: several tools in one plugin.

use airlock_host::{Error, Resolution, Session};
use airlock_tests::{Tester, plugin};
use serde_json::{Value, json};
use tempfile::TempDir;

async fn open() -> (Session, TempDir) {
    let workspace = TempDir::new().unwrap();
    let plugin = plugin("sdk_tools").await;
    let session = Session::builder()
        .model_decides()
        .id("sdk")
        .workspace(workspace.path())
        .bind(&plugin);
    (session.open().unwrap(), workspace)
}

#[tokio::test]
async fn definitions_and_schemas_come_from_the_types() {
    let plugin = plugin("sdk_tools").await;
    assert!(plugin.rejected().is_empty(), "{:?}", plugin.rejected());
    let facts: Vec<_> = plugin
        .tools()
        .map(|tool| (tool.name.as_str(), tool.label.as_str(), tool.traits.names()))
        .collect();
    assert_eq!(
        facts,
        [
            (
                "write_note",
                "Write note",
                vec!["deferrable", "destructive"]
            ),
            ("count_down", "Count down", vec!["deferrable"]),
            ("divide", "Divide", vec!["read-only"]),
        ]
    );
    let note = plugin.tools().next().unwrap().parameters.value();
    assert_eq!(
        note["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(note["required"], json!(["path", "text"]));
    assert_eq!(
        note["properties"]["path"]["description"],
        "The file's path."
    );
    let divide = plugin.tools().nth(2).unwrap().output.as_ref();
    let divide = divide.unwrap().value();
    assert_eq!(divide["properties"]["quotient"]["type"], "integer");
}

#[tokio::test]
async fn an_effect_in_preview_fails_and_the_plan_comes_back_to_apply() {
    let (session, workspace) = open().await;
    let params = json!({"path": "note.txt", "text": "hello"});
    let preview = session.call("write_note", &params).await.unwrap();
    assert!(
        preview
            .text()
            .starts_with("write_note: writing `note.txt`: Read-only file system"),
        "{}",
        preview.text()
    );
    let action = &preview.pushed[0];
    assert_eq!(
        (action.label.as_str(), action.source_tool_name.as_str()),
        ("Write: note.txt", "write_note")
    );
    assert_eq!(action.details.as_ref().unwrap(), &json!("for reviewers"));
    assert!(action.durable && !action.has_reject);
    assert!(!workspace.path().join("note.txt").exists());
    let applied = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(applied.text(), "wrote note.txt in attempt 1");
    assert_eq!(
        std::fs::read_to_string(workspace.path().join("note.txt")).unwrap(),
        "hello"
    );
}

#[tokio::test]
async fn each_action_goes_to_the_tool_that_staged_it() {
    let (session, _workspace) = open().await;
    session
        .call("count_down", &json!({"from": 3}))
        .await
        .unwrap();
    session
        .call("write_note", &json!({"path": "n", "text": ""}))
        .await
        .unwrap();
    assert_eq!(
        session
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap()
            .text(),
        "wrote n in attempt 1"
    );
    // A fresh instance applies as well as the one that previewed.
    session.drop_idle_instances();
    let extra = |refuse: bool| json!({"refuse": refuse}).as_object().unwrap().clone();
    let refused = session
        .resolve(Resolution::apply("").with_extra(extra(true)), Tester)
        .await
        .unwrap_err();
    assert_eq!(refused.to_string(), "3 was refused");
    assert_eq!(
        session
            .resolve(Resolution::discard("no"), Tester)
            .await
            .unwrap()
            .text(),
        "stopped at 3"
    );
    let default = session
        .resolve(Resolution::discard("no"), Tester)
        .await
        .unwrap();
    assert_eq!(default.text(), "Discarded: Count: 2. Reason: no");
    let applied = session
        .resolve(Resolution::apply("").with_extra(extra(false)), Tester)
        .await
        .unwrap();
    assert_eq!(applied.text(), "1");
}

#[tokio::test]
async fn a_panic_is_an_error_that_names_the_tool_and_nothing_of_the_machine() {
    let (session, _workspace) = open().await;
    let error = session
        .call("divide", &json!({"dividend": 1, "divisor": 0}))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Trap { .. }));
    let text = error.to_string();
    let place = "tool `divide` crashed: panicked at sdk-tools/src/lib.rs:";
    assert!(text.starts_with(place), "{text}");
    assert!(text.ends_with("attempt to divide by zero"), "{text}");
    let outcome = session
        .call("divide", &json!({"dividend": 7, "divisor": 2}))
        .await
        .unwrap();
    assert_eq!(
        outcome.details.unwrap(),
        json!({"quotient": 3, "session": "sdk"})
    );
}

#[tokio::test]
async fn a_refused_push_is_the_tools_error_word_for_word() {
    let plugin = plugin("sdk_tools").await;
    let session = Session::builder()
        .model_decides()
        .without_store()
        .bind(&plugin)
        .open()
        .unwrap();
    let error = session
        .call("count_down", &json!({"from": 1}))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Pending action store unavailable for custom tools in this runtime."
    );
    let violations: Value = json!({"from": 9});
    let error = session.call("count_down", &violations).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("/from: 9 is greater than the maximum of 5"),
        "{error}"
    );
}
