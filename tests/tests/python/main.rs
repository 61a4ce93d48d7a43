//! The examples in Python, as components: `examples/python`.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_host::event::{Event, LogLevel};
use airlock_host::{Limits, Resolution, Session};
use airlock_tests::{Tester, plugin};
use serde_json::{Value, json};
use tempfile::TempDir;

async fn open(example: &'static str, workspace: &Path) -> Session {
    // Enough for a call, even where the machine has other things to do.
    let limits = Limits::default().with_call_time(Duration::from_secs(10));
    let plugin = plugin(example).await;
    let session = Session::builder()
        .model_decides()
        .workspace(workspace)
        .bind(&plugin)
        .limits(limits);
    session.open().unwrap()
}

async fn alive(session: &Session) -> String {
    session.call("alive", &json!({})).await.unwrap().text()
}

/// How the caller reads a failure: its kind, and how its text begins.
async fn fail(session: &Session, how: &str) -> (&'static str, String) {
    let failed = session.call("failures", &json!({"how": how})).await;
    let error = failed.expect_err(how);
    (error.kind(), error.to_string())
}

#[tokio::test]
async fn whatever_python_raises_is_told_and_leaves_the_instance_alive() {
    let workspace = TempDir::new().unwrap();
    let session = open("python/failures", workspace.path()).await;
    let cases = [
        ("tool-error", "tool", "Name a file that exists."),
        ("error", "failed", "KeyError: 'no such key'"),
        ("error-with-a-cause", "failed", "the settings can't be read"),
        (
            "bad-result",
            "failed",
            "TypeError: a block of a result must be a str, not bytes",
        ),
        (
            "bad-details",
            "failed",
            "ValueError: Circular reference detected",
        ),
        (
            "bad-push",
            "failed",
            "the label has more than one line: the rest of it belongs in the action's details",
        ),
        (
            "missing-module",
            "failed",
            "ModuleNotFoundError: No module named 'numpy'; a component has the modules",
        ),
        (
            "read-only",
            "failed",
            "OSError: [Errno 69] Read-only file system: 'new.txt'",
        ),
        (
            "outside",
            "failed",
            "FileNotFoundError: [Errno 44] No such file or directory: '/etc/passwd'",
        ),
        // That `socket` is imported only then, and is found, is part of it.
        ("network", "failed", "gaierror: "),
        ("sys-exit", "failed", "it called sys.exit(3)"),
        ("interrupt", "failed", "KeyboardInterrupt"),
        (
            "recursion",
            "failed",
            "RecursionError: maximum recursion depth exceeded",
        ),
        ("memory", "failed", "MemoryError"),
        // It came to the end of the call by itself.
        ("cancelled", "cancelled", "cancelled"),
    ];
    for (calls, (how, kind, text)) in (1..).zip(cases) {
        assert_eq!((how, alive(&session).await), (how, calls.to_string()));
        let (failed_kind, failed_text) = fail(&session, how).await;
        assert_eq!((how, failed_kind), (how, kind), "{failed_text}");
        assert!(failed_text.starts_with(text), "{how}: {failed_text}");
    }
    assert_eq!(alive(&session).await, (cases.len() + 1).to_string());
    assert!(session.pending().await.unwrap().is_empty());
}

#[tokio::test]
async fn what_ends_the_instance_leaves_the_session_alive() {
    let workspace = TempDir::new().unwrap();
    let session = open("python/failures", workspace.path()).await;
    let cases = [
        ("trap", "trap", "tool `failures` crashed: it exited"),
        ("endless-loop", "limit", "tool `failures` was stopped after"),
        ("deep-json", "limit", "tool `failures` used up its stack"),
    ];
    for (how, kind, text) in cases {
        assert_eq!(alive(&session).await, "1");
        let (failed_kind, failed_text) = fail(&session, how).await;
        assert_eq!((how, failed_kind), (how, kind), "{failed_text}");
        assert!(failed_text.starts_with(text), "{how}: {failed_text}");
    }
    assert_eq!(alive(&session).await, "1");
}

#[tokio::test]
async fn an_apply_that_fails_is_pending_again_and_a_reject_that_fails_is_not() {
    let workspace = TempDir::new().unwrap();
    let session = open("python/failures", workspace.path()).await;
    let params = json!({"how": "error", "when": "apply"});
    session.call("failures", &params).await.unwrap();
    let failed = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    let failed = failed.to_string();
    let expected = "Apply failed: KeyError: 'no such key' (tool.py:";
    assert!(failed.starts_with(expected), "{failed}");
    assert_eq!(session.pending().await.unwrap().len(), 1);
    session
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap();

    let params = json!({"how": "tool-error", "when": "reject"});
    session.call("failures", &params).await.unwrap();
    let failed = session
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap_err();
    assert_eq!(failed.to_string(), "Name a file that exists.");
    assert!(session.pending().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_error_leaves_its_traceback_in_the_log() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let observer = {
        let heard = Arc::clone(&heard);
        move |_: airlock_host::event::EventSource<'_>, event: &Event| {
            if let Event::Log { level, message } = event {
                heard.lock().unwrap().push((*level, message.clone()));
            }
        }
    };
    let plugin = plugin("python/failures").await;
    let session = Session::builder()
        .model_decides()
        .bind(&plugin)
        .observer(observer);
    let session = session.open().unwrap();
    fail(&session, "error-with-a-cause").await;
    let heard = heard.lock().unwrap();
    let [(LogLevel::Error, message)] = heard.as_slice() else {
        panic!("one error is expected, not {heard:?}");
    };
    for part in [
        "ValueError: invalid literal for int() with base 10: 'twelve'",
        "The above exception was the direct cause of the following exception:",
        "File \"tool.py\"",
        "raise RuntimeError(\"the settings can't be read\") from error",
    ] {
        assert!(message.contains(part), "{part}\n{message}");
    }
    assert!(!message.contains("_dispatch.py"), "{message}");
}

/// componentize-py leaves the folders that it read in Python's search path, and below `/` is the
/// workspace.
#[tokio::test]
async fn files_of_the_workspace_are_never_imported() {
    let workspace = TempDir::new().unwrap();
    for folder in [
        "",
        "0",
        "1",
        "world",
        "bundled",
        "python",
        "python/lib/python3.14",
    ] {
        let folder = workspace.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("numpy.py"), "zeros = lambda size: 1/0\n").unwrap();
        std::fs::write(folder.join("socket.py"), "create_connection = None\n").unwrap();
    }
    let session = open("python/failures", workspace.path()).await;
    let (_, text) = fail(&session, "missing-module").await;
    assert!(text.starts_with("ModuleNotFoundError: "), "{text}");
    let (_, text) = fail(&session, "network").await;
    assert!(text.starts_with("gaierror: "), "{text}");
}

#[tokio::test]
async fn a_closure_keeps_its_increment_in_the_live_instance() {
    let workspace = TempDir::new().unwrap();
    let session = open("python/counter", workspace.path()).await;
    let count = async |by: u32| session.call("counter", &json!({"by": by})).await.unwrap();
    assert_eq!(count(2).await.text(), "The counter is 0, and would be 2.");
    assert_eq!(count(3).await.text(), "The counter is 0, and would be 3.");
    let pending = session.pending().await.unwrap();
    assert!(pending.iter().all(|stacked| !stacked.action.durable));
    // It holds what nobody else has.
    session.drop_idle_instances();
    let applied = session
        .resolve(Resolution::apply("why not"), Tester)
        .await
        .unwrap();
    assert_eq!(applied.text(), "The counter is 3. Reason: why not");
    let discarded = session
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap();
    assert_eq!(discarded.text(), "The counter stays at 3.");
    let counted = count(1).await;
    assert_eq!(counted.details.unwrap(), json!({"value": 3, "applied": 1}));
}

fn names(workspace: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(workspace).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".airlock")
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn files_are_renamed_by_another_instance_than_the_one_that_planned() {
    let workspace = TempDir::new().unwrap();
    for name in ["a.jpeg", "ü 2.jpeg", "notes.txt"] {
        std::fs::write(workspace.path().join(name), name).unwrap();
    }
    let session = open("python/batch_rename", workspace.path()).await;
    let params = json!({"files": ["*"], "find": "[.]jpeg$", "replace": ".jpg"});
    let planned = session.call("batch_rename", &params).await.unwrap();
    assert_eq!(
        planned.text(),
        "Prepared rename plan for 2 files.\n\n\
         a.jpeg -> a.jpg\nü 2.jpeg -> ü 2.jpg"
    );
    assert_eq!(names(workspace.path()), ["a.jpeg", "notes.txt", "ü 2.jpeg"]);
    let action = &planned.pushed[0];
    assert_eq!(action.source_tool_name, "batch_rename");
    assert!(action.durable && action.has_reject);

    session.drop_idle_instances();
    let applied = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(applied.text(), "Renamed 2 files.");
    assert_eq!(names(workspace.path()), ["a.jpg", "notes.txt", "ü 2.jpg"]);
}

#[tokio::test]
async fn a_schema_comes_from_the_type_hints() {
    let plugin = plugin("python/batch_rename").await;
    let tool = plugin.tools().next().unwrap();
    assert_eq!(tool.label, "Batch rename");
    assert_eq!(tool.traits.names(), ["deferrable", "destructive"]);
    let expected: Value = json!({
        "description": "Paths or globs, relative to the workspace: `*.jpeg`, `notes/**/*.md`.",
        "type": "array", "items": {"type": "string"}, "minItems": 1,
    });
    let parameters = tool.parameters.value();
    assert_eq!(parameters["properties"]["files"], expected);
    assert_eq!(parameters["required"], json!(["files", "find", "replace"]));
}
