//! The contract's section *Resolving*, rule by rule.

use std::sync::Arc;

use airlock_host::{
    ActionId, CancellationToken, Content, Engine, Error, Event, MemoryStore, Plugin, Policy,
    Resolution, Session,
};
use airlock_tests::{Puppet, component, durable, plugin, poll_once, push};
use serde_json::{Value, json};

fn extra(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}

// Rule 1.

#[tokio::test]
async fn the_topmost_action_is_taken_and_with_none_the_error_is_the_contracts() {
    let puppet = Puppet::new().await;
    puppet
        .push(durable("First", json!([{"do": "text", "text": "one"}])))
        .await;
    puppet
        .push(durable("Second", json!([{"do": "text", "text": "two"}])))
        .await;
    assert!(puppet.session.has_pending().await.unwrap());
    assert_eq!(
        puppet.resolve(Resolution::apply("")).await.unwrap().text(),
        "two"
    );
    assert_eq!(
        puppet.resolve(Resolution::apply("")).await.unwrap().text(),
        "one"
    );
    assert!(!puppet.session.has_pending().await.unwrap());
    for resolution in [Resolution::apply(""), Resolution::discard("")] {
        let error = puppet.resolve(resolution).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "No pending action to resolve. Nothing to apply or discard."
        );
    }
}

// Rules 2 and 3.

#[tokio::test]
async fn apply_returns_what_the_guest_returns_and_the_details_of_the_decision() {
    let puppet = Puppet::new().await;
    puppet
        .push(push(
            "Write: 1 file",
            json!({
                "source": "writer", "details": r#"{"not":"forwarded"}"#,
                "apply": [{"do": "resolution"}, {"do": "image", "bytes": 3, "mime": "image/png"},
                    {"do": "link", "uri": "file:///x", "name": "x"}, {"do": "details", "json": r#"{"written":1}"#}],
            }),
        ))
        .await;
    let resolution = Resolution::apply("looks right").with_extra(extra(json!({"title": "a plan"})));
    let outcome = puppet.resolve(resolution).await.unwrap();
    let seen: Value = serde_json::from_str(outcome.content[0].as_text().unwrap()).unwrap();
    assert_eq!(seen["label"], "Write: 1 file");
    assert_eq!(seen["sourceToolName"], "writer");
    assert_eq!(seen["reason"], "looks right");
    assert_eq!(seen["extra"], r#"{"title":"a plan"}"#);
    assert_eq!(seen["attempt"], 1);
    assert_eq!(seen["hasState"], true);
    assert_eq!(
        serde_json::to_value(&outcome.content[1..]).unwrap(),
        json!([
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///x", "name": "x"},
        ])
    );
    assert_eq!(
        serde_json::to_value(&outcome.details).unwrap(),
        json!({
            "action": "apply", "reason": "looks right", "extra": {"title": "a plan"},
            "sourceToolName": "writer", "label": "Write: 1 file", "sourceResultDetails": {"written": 1},
        })
    );
}

#[tokio::test]
async fn null_details_are_left_out() {
    let puppet = Puppet::new().await;
    for apply in [json!([]), json!([{"do": "details", "json": "null"}])] {
        let outcome = puppet.apply(apply).await.unwrap();
        let details = serde_json::to_value(&outcome.details).unwrap();
        let keys: Vec<&str> = details
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(keys, ["action", "label", "reason", "sourceToolName"]);
    }
}

#[tokio::test]
async fn discard_says_what_reject_says_and_else_the_contracts_text() {
    let puppet = Puppet::new().await;
    let check = async |fields: Value, text: &str| {
        puppet.push(push("Rename: 2 files", fields)).await;
        let outcome = puppet
            .resolve(Resolution::discard("not now"))
            .await
            .unwrap();
        assert_eq!(outcome.text(), text);
        let details = serde_json::to_value(&outcome.details).unwrap();
        assert_eq!(details["action"], "discard");
        assert_eq!(details["label"], "Rename: 2 files");
        assert!(puppet.labels().await.is_empty());
    };
    let default = "Discarded: Rename: 2 files. Reason: not now";
    check(
        json!({"reject": [{"do": "text", "text": "cleaned up"}]}),
        "cleaned up",
    )
    .await;
    check(json!({"hasReject": true}), default).await;
    check(json!({}), default).await;
    check(
        json!({"volatile": true, "reject": [{"do": "text", "text": "forgotten"}]}),
        "forgotten",
    )
    .await;
    check(json!({"volatile": true}), default).await;
}

// Rule 4.

#[tokio::test]
async fn a_failed_apply_is_on_top_again_under_its_id_and_counts_the_attempt() {
    let puppet = Puppet::new().await;
    for (fault, text) in [
        (
            json!({"do": "tool-error", "message": "the file is locked"}),
            "the file is locked",
        ),
        (
            json!({"do": "failed", "message": "disk on fire"}),
            "Apply failed: disk on fire",
        ),
        (
            json!({"do": "trap"}),
            "Apply failed: tool `custom_tool` crashed: wasm trap: wasm `unreachable` instruction executed",
        ),
    ] {
        puppet.push(durable("Below", json!([]))).await;
        let id = puppet.push(durable("Top", json!([fault]))).await;
        for attempt in 1..=3 {
            let error = puppet.resolve(Resolution::apply("try")).await.unwrap_err();
            assert_eq!(error.to_string(), text);
            let pending = puppet.session.pending().await.unwrap();
            assert_eq!(pending[0].action.id.as_str(), id);
            assert_eq!(pending[0].attempts, attempt);
            assert_eq!(pending[0].last_error.as_deref(), Some(text));
            assert_eq!(pending.len(), 2);
        }
        puppet
            .resolve(Resolution::discard("give up"))
            .await
            .unwrap();
        puppet
            .resolve(Resolution::discard("give up"))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn an_apply_may_succeed_at_a_later_attempt() {
    let puppet = Puppet::new().await;
    let steps = json!([{"do": "fail-until-attempt", "n": 3}, {"do": "text", "text": "at last"}]);
    puppet.push(durable("Flaky", steps)).await;
    for _ in 0..2 {
        puppet.resolve(Resolution::apply("")).await.unwrap_err();
    }
    assert_eq!(
        puppet.resolve(Resolution::apply("")).await.unwrap().text(),
        "at last"
    );
    assert!(puppet.labels().await.is_empty());
}

#[tokio::test]
async fn an_action_that_fails_out_of_order_goes_back_on_top() {
    let puppet = Puppet::new().await;
    let below = puppet
        .push(durable("Below", json!([{"do": "failed", "message": "no"}])))
        .await;
    puppet.push(durable("Above", json!([]))).await;
    let resolution = Resolution::apply("").with_id(below.as_str());
    puppet.resolve(resolution).await.unwrap_err();
    assert_eq!(puppet.labels().await, ["Below", "Above"]);
}

// Rule 5.

#[tokio::test]
async fn a_failed_reject_reaches_the_caller_as_it_is_and_the_action_is_gone() {
    let puppet = Puppet::new().await;
    for (fault, text) in [
        (
            json!({"do": "tool-error", "message": "still in use"}),
            "still in use",
        ),
        (
            json!({"do": "failed", "message": "could not clean up"}),
            "could not clean up",
        ),
        (
            json!({"do": "panic", "message": "oh"}),
            "tool `custom_tool` crashed: ",
        ),
    ] {
        puppet.push(push("Gone", json!({"reject": [fault]}))).await;
        let error = puppet
            .resolve(Resolution::discard(""))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(text), "{error}");
        assert!(puppet.labels().await.is_empty());
    }
}

#[tokio::test]
async fn a_volatile_action_lives_and_dies_with_its_instance() {
    let puppet = Puppet::new().await;
    let told = json!({"volatile": true, "apply": [{"do": "text", "text": "from memory"}]});
    puppet.push(push("Alive", told.clone())).await;
    assert_eq!(
        puppet.resolve(Resolution::apply("")).await.unwrap().text(),
        "from memory"
    );

    puppet.push(push("Lost", told)).await;
    puppet.call(json!([{"do": "trap"}])).await.unwrap_err();
    for _ in 0..2 {
        let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
        assert!(matches!(error.root(), Error::InstanceGone), "{error}");
        assert!(
            error
                .to_string()
                .starts_with("Apply failed: the tool kept this preview in memory only"),
            "{error}"
        );
        assert_eq!(puppet.labels().await, ["Lost"]);
    }
    let outcome = puppet
        .resolve(Resolution::discard("it is gone"))
        .await
        .unwrap();
    assert_eq!(outcome.text(), "Discarded: Lost. Reason: it is gone");
}

#[tokio::test]
async fn a_volatile_action_whose_apply_failed_without_harm_can_be_tried_again() {
    let puppet = Puppet::new().await;
    let apply = json!([{"do": "fail-until-attempt", "n": 2}, {"do": "text", "text": "second try"}]);
    puppet
        .push(push("Volatile", json!({"volatile": true, "apply": apply})))
        .await;
    puppet.resolve(Resolution::apply("")).await.unwrap_err();
    assert_eq!(
        puppet.resolve(Resolution::apply("")).await.unwrap().text(),
        "second try"
    );
}

// Rule 6.

#[tokio::test]
async fn cancelling_before_a_resolution_leaves_the_action_untouched() {
    let puppet = Puppet::new().await;
    puppet.push(durable("Waits", json!([]))).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = puppet
        .session
        .resolve_with(Resolution::apply(""), Some(&cancel))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "cancelled");
    assert_eq!(puppet.session.pending().await.unwrap()[0].attempts, 0);
    let error = puppet
        .session
        .call_with("puppet", &json!({"steps": []}), Some(&cancel))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Cancelled));
}

#[tokio::test]
async fn an_apply_that_is_cancelled_while_it_runs_has_failed() {
    for step in ["spin", "block", "spin-until-cancelled"] {
        // Cancelled from inside the call, when the guest says that it has begun.
        let cancel = CancellationToken::new();
        let trigger = cancel.clone();
        let puppet = Puppet::with(|session| {
            session.observer(move |_, event| {
                if matches!(event, Event::Log { message, .. } if message == "begun") {
                    trigger.cancel();
                }
            })
        })
        .await;
        puppet
            .push(durable(
                "Long",
                json!([{"do": "log", "message": "begun"}, {"do": step}]),
            ))
            .await;
        let resolved = puppet
            .session
            .resolve_with(Resolution::apply(""), Some(&cancel))
            .await;
        assert_eq!(resolved.unwrap_err().to_string(), "cancelled", "{step}");
        let pending = puppet.session.pending().await.unwrap();
        assert_eq!(pending[0].attempts, 1);
        // The session goes on.
        assert_eq!(
            puppet.text(json!([{"do": "text", "text": "on"}])).await,
            "on"
        );
    }
}

#[tokio::test]
async fn an_apply_whose_future_is_dropped_is_pending_again() {
    let puppet = Puppet::new().await;
    puppet
        .push(durable("Dropped", json!([{"do": "block"}])))
        .await;
    {
        let resolving = puppet.resolve(Resolution::apply(""));
        tokio::pin!(resolving);
        // The first poll claims the action and enters the guest, which blocks.
        assert!(poll_once(resolving.as_mut()).await.is_none());
        assert!(puppet.labels().await.is_empty());
    }
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[0].action.label, "Dropped");
    assert_eq!(pending[0].attempts, 1);
}

// Rule 7.

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_action_is_consumed_once_however_many_race_for_it() {
    let puppet = Puppet::new().await;
    let id = puppet
        .push(durable("Prize", json!([{"do": "text", "text": "won"}])))
        .await;
    let racers: Vec<_> = (0..50)
        .map(|_| {
            let session = puppet.session.clone();
            let resolution = Resolution::apply("mine").with_id(id.as_str());
            tokio::spawn(async move { session.resolve(resolution).await })
        })
        .collect();
    let mut won = 0;
    for racer in racers {
        match racer.await.unwrap() {
            Ok(outcome) => {
                assert_eq!(outcome.text(), "won");
                won += 1;
            }
            Err(Error::ResolutionInProgress(_)) => {}
            Err(error) => assert_eq!(
                error.to_string(),
                format!("Pending action {id} was already applied.")
            ),
        }
    }
    assert_eq!(won, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racers_without_an_id_share_out_the_stack() {
    let puppet = Puppet::new().await;
    puppet
        .text(json!([push("Many", json!({"times": 100, "quiet": true}))]))
        .await;
    let racers: Vec<_> = (0..150)
        .map(|_| {
            let session = puppet.session.clone();
            tokio::spawn(async move { session.resolve(Resolution::discard("next")).await })
        })
        .collect();
    let mut won = 0;
    for racer in racers {
        match racer.await.unwrap() {
            Ok(_) => won += 1,
            Err(error) => assert!(matches!(error, Error::NothingPending), "{error}"),
        }
    }
    assert_eq!(won, 100);
}

#[tokio::test]
async fn an_id_that_was_resolved_before_is_answered_with_how() {
    let puppet = Puppet::new().await;
    for (resolution, past) in [
        (Resolution::apply(""), "applied"),
        (Resolution::discard(""), "discarded"),
    ] {
        let id = puppet.push(durable("Once", json!([]))).await;
        let resolution = resolution.with_id(id.as_str());
        puppet.resolve(resolution.clone()).await.unwrap();
        let error = puppet.resolve(resolution).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("Pending action {id} was already {past}.")
        );
    }
    let error = puppet
        .resolve(Resolution::apply("").with_id("nobody"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "There is no pending action nobody in this session."
    );
}

// Rule 8.

#[tokio::test]
async fn resolving_by_id_changes_no_other_action() {
    let puppet = Puppet::new().await;
    let mut ids = Vec::new();
    for label in ["a", "b", "c", "d"] {
        ids.push(
            puppet
                .push(durable(label, json!([{"do": "text", "text": label}])))
                .await,
        );
    }
    let before = puppet.session.pending().await.unwrap();
    let outcome = puppet
        .resolve(Resolution::apply("").with_id(ids[1].as_str()))
        .await
        .unwrap();
    assert_eq!(outcome.text(), "b");
    let after = puppet.session.pending().await.unwrap();
    let others: Vec<_> = before
        .into_iter()
        .filter(|it| it.action.id.as_str() != ids[1])
        .collect();
    assert_eq!(after, others);
    assert_eq!(puppet.labels().await, ["d", "c", "a"]);
}

// Rule 9.

#[tokio::test]
async fn an_action_is_applied_by_the_bytes_that_pushed_it_also_after_an_upgrade() {
    let puppet = Puppet::new().await;
    puppet
        .push(durable(
            "Old",
            json!([{"do": "text", "text": "by the old bytes"}]),
        ))
        .await;
    // A newer build of the same plugin: the same tools under another digest.
    let newer = with_custom_section(std::fs::read(component("puppet")).unwrap());
    let newer = Plugin::from_bytes(airlock_tests::engine(), "puppet", newer)
        .await
        .unwrap();
    let older = plugin("puppet").await.digest();
    assert_ne!(newer.digest(), older);
    puppet.session.unbind(older);
    assert_eq!(puppet.session.bind(&newer, Policy::default()).unwrap(), []);
    puppet.push(durable("New", json!([]))).await;
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[0].action.plugin, newer.digest());
    assert_eq!(pending[1].action.plugin, older);
    puppet.resolve(Resolution::apply("")).await.unwrap();
    assert_eq!(
        puppet.resolve(Resolution::apply("")).await.unwrap().text(),
        "by the old bytes"
    );
}

#[tokio::test]
async fn without_the_plugin_an_action_can_only_be_discarded() {
    let store = Arc::new(MemoryStore::new());
    let puppet = Puppet::with(|session| session.id("shared").store(store.clone())).await;
    puppet
        .push(push("Orphan", json!({"hasReject": true})))
        .await;
    let bare = Session::builder().id("shared").store(store).open().unwrap();
    let error = bare
        .resolve(Resolution::apply(""))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("Apply failed: the plugin that pushed this action (sha256:"),
        "{error}"
    );
    let outcome = bare.resolve(Resolution::discard("unknown")).await.unwrap();
    assert_eq!(outcome.text(), "Discarded: Orphan. Reason: unknown");
}

fn with_custom_section(mut component: Vec<u8>) -> Vec<u8> {
    component.extend([0, 2, 1, b'v']);
    component
}

// The hidden tool.

#[tokio::test]
async fn resolve_can_be_called_like_a_tool_and_is_in_no_listing() {
    let puppet = Puppet::new().await;
    let names = |tools: Vec<airlock_host::ToolDefinition>| -> Vec<String> {
        tools.into_iter().map(|tool| tool.name).collect()
    };
    assert_eq!(names(puppet.session.tools()), ["puppet", "typed"]);
    assert_eq!(
        names(puppet.session.tools_named(&["resolve", "typed"])),
        ["typed"]
    );
    assert_eq!(airlock_host::resolve_tool().name, "resolve");
    assert!(airlock_host::resolve_tool().traits.hidden);

    let id = puppet
        .push(durable("By name", json!([{"do": "text", "text": "done"}])))
        .await;
    let params = json!({"action": "apply", "reason": "as a tool", "id": id, "extra": {"a": 1}});
    let outcome = puppet.session.call("resolve", &params).await.unwrap();
    assert_eq!(outcome.content, [Content::text("done")]);
    assert_eq!(
        outcome.details,
        Some(
            json!({"action": "apply", "reason": "as a tool", "extra": {"a": 1},
            "sourceToolName": "custom_tool", "label": "By name"})
        )
    );
}

#[tokio::test]
async fn sessions_of_one_id_and_store_share_a_stack() {
    let engine = Engine::new().unwrap();
    let puppet = Plugin::load(&engine, component("puppet")).await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let open = || {
        Session::builder()
            .id("one")
            .store(store.clone())
            .plugin(&puppet)
            .open()
            .unwrap()
    };
    let (one, other) = (open(), open());
    one.call("puppet", &json!({"steps": [durable("Shared", json!([]))]}))
        .await
        .unwrap();
    let pending = other.pending().await.unwrap();
    assert_eq!(pending.len(), 1);
    let resolution = Resolution::apply("").with_id(ActionId::from(pending[0].action.id.as_str()));
    other.resolve(resolution).await.unwrap();
    assert!(!one.has_pending().await.unwrap());
}
