//! The SDKs for C and Go: their examples, and Go's collector at work.

use std::fs;
use std::time::Duration;

use airlock_host::{Error, Limits, Plugin, Resolution, Session};
use airlock_tests::{Tester, plugin};
use serde_json::json;
use tempfile::TempDir;

const LANGUAGES: [&str; 2] = ["c", "go"];

async fn example(language: &str, name: &str) -> Plugin {
    let name = format!("{language}/{name}");
    plugin(Box::leak(name.into_boxed_str())).await
}

#[tokio::test]
async fn files_are_renamed_by_another_instance_than_the_one_that_previewed() {
    for language in LANGUAGES {
        let plugin = example(language, "batch-rename").await;
        let workspace = TempDir::new().unwrap();
        for file in ["a.jpeg", "b.jpeg", "c.txt"] {
            fs::write(workspace.path().join(file), file).unwrap();
        }
        let open = || {
            let session = Session::builder()
                .model_decides()
                .id("names")
                .workspace(workspace.path());
            session.bind(&plugin)
        };
        let store = std::sync::Arc::new(airlock_host::store::MemoryStore::new());
        let params =
            json!({"files": ["a.jpeg", "b.jpeg", "c.txt"], "find": "\\.jpeg$", "replace": ".jpg"});
        let first = open().store(store.clone()).open().unwrap();
        let preview = first.call("batch_rename", &params).await.unwrap();
        assert_eq!(
            preview.pushed[0].label, "Batch rename: 2 files",
            "{language}"
        );
        assert!(preview.text().contains("a.jpeg -> a.jpg"), "{language}");
        drop(first);

        let second = open().store(store).open().unwrap();
        let done = second
            .resolve(Resolution::apply("yes"), Tester)
            .await
            .unwrap();
        assert_eq!(done.text(), "Renamed 2 files. Reason: yes", "{language}");
        assert_eq!(
            fs::read_to_string(workspace.path().join("a.jpg")).unwrap(),
            "a.jpeg"
        );
        assert!(!workspace.path().join("b.jpeg").exists(), "{language}");

        for (wrong, said) in [
            (
                json!({"files": ["none"], "find": "a", "replace": "b"}),
                "no file `none`",
            ),
            (
                json!({"files": ["a.jpg"], "find": "(", "replace": "b"}),
                "no regular expression",
            ),
            (
                json!({"files": ["a.jpg"], "find": "a.jpg", "replace": "c.txt"}),
                "which is taken",
            ),
            (
                json!({"files": ["a.jpg"], "find": "a", "replace": "../a"}),
                "which is no file name",
            ),
        ] {
            let error = second.call("batch_rename", &wrong).await.unwrap_err();
            assert!(error.to_string().contains(said), "{language}: {error}");
        }
    }
}

#[tokio::test]
async fn a_counter_counts_in_its_live_instance() {
    for language in LANGUAGES {
        let session = Session::builder()
            .model_decides()
            .bind(&example(language, "counter").await);
        let session = session.open().unwrap();
        for (by, at) in [(2, 2), (5, 7)] {
            session.call("counter", &json!({"by": by})).await.unwrap();
            let applied = session
                .resolve(Resolution::apply(""), Tester)
                .await
                .unwrap();
            assert_eq!(
                applied.text(),
                format!("The counter is at {at}."),
                "{language}"
            );
        }
        session.call("counter", &json!({})).await.unwrap();
        let rejected = session
            .resolve(Resolution::discard("no"), Tester)
            .await
            .unwrap();
        assert_eq!(
            rejected.text(),
            "The counter stays at 7. Reason: no",
            "{language}"
        );
    }
}

#[tokio::test]
async fn a_tool_that_fails_in_every_way_is_told_of_in_each() {
    for language in LANGUAGES {
        let plugin = example(language, "failures").await;
        let limits = Limits::default().with_call_time(Duration::from_secs(5));
        let session = Session::builder()
            .model_decides()
            .bind(&plugin)
            .limits(limits)
            .open()
            .unwrap();
        for (how, kind) in [
            ("tool-error", "tool"),
            ("failed", "failed"),
            ("cancelled", "cancelled"),
            ("trap", "trap"),
            ("divide", "trap"),
            ("exit", "trap"),
            ("loop", "limit"),
        ] {
            let error = session
                .call("failures", &json!({"how": how}))
                .await
                .unwrap_err();
            assert_eq!(error.kind(), kind, "{language}: {how}: {error}");
        }
        for how in ["memory", "recursion"] {
            let error = session
                .call("failures", &json!({"how": how}))
                .await
                .unwrap_err();
            // Which of the two depends on who notices first: the language or the host.
            let stopped = matches!(error, Error::Trap { .. } | Error::Limit { .. });
            assert!(stopped, "{language}: {how}: {error}");
        }
        let error = session
            .call("failures", &json!({"how": "bad-details"}))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("JSON"), "{language}: {error}");
        // The session goes on after each of them.
        let error = session
            .call("failures", &json!({"how": "tool-error"}))
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "this is what the tool wants you to know",
            "{language}"
        );
    }
}

/// Go's collector runs every few calls here. Where it ran while the host asks for memory, the
/// instance would be lost.
#[tokio::test]
async fn a_go_instance_outlives_its_collector() {
    let plugin = plugin("conformance/go").await;
    let limits = Limits::default().with_call_time(Duration::from_secs(60));
    let session = Session::builder()
        .model_decides()
        .bind(&plugin)
        .limits(limits)
        .open()
        .unwrap();
    session
        .call("answer", &json!({"end": {"how": "count"}}))
        .await
        .unwrap();
    let text = "x".repeat(512);
    for call in 0..20_000 {
        let params = json!({"end": {"how": "text", "text": text, "times": 64}});
        let result = session.call("answer", &params).await;
        let result = result.unwrap_or_else(|error| panic!("call {call}: {error}"));
        assert_eq!(result.text().len(), 64 * text.len());
    }
    // The number is in the instance's memory: it is the same instance still.
    let counted = session
        .call("answer", &json!({"end": {"how": "count"}}))
        .await
        .unwrap();
    assert_eq!(counted.text(), "2");
}

/// Where the collector took what the host wrote before the tool has it, params would change under
/// the tool's hands.
#[tokio::test]
async fn what_the_host_writes_into_a_go_instance_outlives_a_collection() {
    let session = Session::builder()
        .model_decides()
        .bind(&plugin("go/collector").await);
    let session = session.open().unwrap();
    let result = session.call("keep", &json!({})).await.unwrap();
    assert_eq!(result.text(), "kept 200 of 200");
}

/// The heap grows while the host asks for memory, and Go's own bookkeeping then looks at the clock.
#[tokio::test]
async fn a_go_instance_takes_params_for_which_its_heap_has_to_grow() {
    let session = Session::builder()
        .model_decides()
        .bind(&plugin("conformance/go").await);
    let session = session.open().unwrap();
    for megabytes in [1, 2, 4, 6] {
        let end = json!({"how": "text", "text": "x".repeat(megabytes << 20), "times": 0});
        let result = session.call("answer", &json!({"end": end})).await;
        let result = result.unwrap_or_else(|error| panic!("{megabytes} MiB: {error}"));
        assert_eq!(result.text(), "");
    }
}
