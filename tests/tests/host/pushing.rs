//! The contract's section *Pushing*.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use airlock_host::event::Event;
use airlock_host::pending::SessionId;
use airlock_host::store::{MemoryStore, PluginBytes, Push, Stacks};
use airlock_host::{Limits, Resolution};
use airlock_tests::{Backend, MemoryBackend, Puppet, load_fresh, plugin, push, ready};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::durable::faulty::{Fault, with_fault};

const STORE_UNAVAILABLE: &str = "push refused: store-unavailable: Pending action store unavailable for custom tools in this runtime.";

#[tokio::test]
async fn an_action_is_pushed_with_what_the_guest_gave_and_the_defaults_for_the_rest() {
    let puppet = Puppet::new().await;
    let id = puppet
        .push(push(
            "Rename: 2 files",
            json!({"details": r#"{"files":2}"#}),
        ))
        .await;
    let pending = puppet.session.pending().await.unwrap();
    let action = &pending[0].action;
    assert_eq!(action.id.as_str(), id);
    assert_eq!(action.label, "Rename: 2 files");
    assert_eq!(action.source_tool_name, "custom_tool");
    assert_eq!(action.details.as_ref().unwrap(), &json!({"files": 2}));
    assert!(action.durable);
    assert!(!action.has_reject);
    assert_eq!(action.plugin, plugin("puppet").await.digest());
    assert_eq!(pending[0].attempts, 0);

    puppet
        .push(push(
            "Größe: 日本語",
            json!({"source": "puppet", "volatile": true, "hasReject": true}),
        ))
        .await;
    let pending = puppet.session.pending().await.unwrap();
    let top = &pending[0].action;
    assert_eq!(
        (top.label.as_str(), top.source_tool_name.as_str()),
        ("Größe: 日本語", "puppet")
    );
    assert!(!top.durable);
    assert!(top.has_reject);
}

#[tokio::test]
async fn a_push_that_a_person_could_not_read_is_refused_and_the_guest_goes_on() {
    let puppet = Puppet::new().await;
    for (step, said) in [
        (
            push("", json!({})),
            "push refused: invalid: the label is empty",
        ),
        (
            push("  ", json!({})),
            "push refused: invalid: the label is empty",
        ),
        (
            push("one\ntwo", json!({})),
            "push refused: invalid: the label has more than one line: the rest of it belongs in the action's details",
        ),
        (
            push("one\u{2028}two", json!({})),
            "push refused: invalid: the label has more than one line: the rest of it belongs in the action's details",
        ),
        (
            push("Ok", json!({"source": ""})),
            "push refused: invalid: the source tool name is empty",
        ),
        (
            push("Ok", json!({"details": "{not json"})),
            "push refused: invalid: the details are not JSON",
        ),
    ] {
        let text = puppet
            .text(json!([step, {"do": "text", "text": "went on"}]))
            .await;
        assert!(text.starts_with(said), "{text}");
        assert!(text.ends_with("went on"), "{text}");
    }
    assert!(puppet.labels().await.is_empty());
}

#[tokio::test]
async fn what_is_too_large_is_refused_with_its_size_and_the_limit() {
    let limits = Limits::default()
        .with_label_bytes(100)
        .with_details_bytes(1000)
        .with_state_bytes(10_000);
    let puppet = Puppet::limited(limits).await;
    let check = async |fields: Value, refused: Option<&str>| {
        let text = puppet.text(json!([push("L", fields)])).await;
        match refused {
            Some(what) => assert_eq!(text, format!("push refused: limit-exceeded: {what}")),
            None => assert!(!text.contains("refused"), "{text}"),
        }
    };
    check(json!({"labelBytes": 100}), None).await;
    check(
        json!({"labelBytes": 101}),
        Some("the size of the label is 101 bytes; the limit is 100"),
    )
    .await;
    check(json!({"detailsBytes": 1000}), None).await;
    check(
        json!({"detailsBytes": 1001}),
        Some("the size of the details is 1001 bytes; the limit is 1000"),
    )
    .await;
    check(json!({"stateBytes": 10_000}), None).await;
    check(
        json!({"stateBytes": 10_001}),
        Some("the size of the state is 10001 bytes; the limit is 10000"),
    )
    .await;
}

#[tokio::test]
async fn the_ten_thousandth_action_is_accepted_and_the_next_is_not() {
    let puppet = Puppet::new().await;
    let million = push("Again", json!({"times": 1_000_000, "quiet": true}));
    let text = puppet.text(json!([million])).await;
    assert!(
        text.starts_with(
            "push refused: limit-exceeded: this session already holds 10000 pending actions"
        ),
        "{text}"
    );
    assert!(text.ends_with("pushed 10000"), "{text}");
    assert_eq!(puppet.labels().await.len(), 10_000);
    // One decision makes room for one more.
    puppet.resolve(Resolution::discard("enough")).await.unwrap();
    let text = puppet
        .text(json!([push("Again", json!({"times": 2, "quiet": true}))]))
        .await;
    assert!(text.ends_with("pushed 1"), "{text}");
}

/// Nobody has its result, so nobody could say what would be decided about.
#[tokio::test]
async fn a_call_that_fails_leaves_nothing_and_takes_no_room() {
    for (end, kind) in [
        (json!({"do": "failed", "message": "no"}), "failed"),
        (json!({"do": "tool-error", "message": "no"}), "tool"),
        (json!({"do": "trap"}), "trap"),
        (json!({"do": "exit", "code": 1}), "trap"),
        (json!({"do": "recurse"}), "limit"),
        (json!({"do": "details", "json": "{"}), "failed"),
    ] {
        let limits = Limits::default()
            .with_pending_actions(2)
            .with_pending_bytes(1_300);
        let puppet = Puppet::limited(limits).await;
        let held = push("Volatile", json!({"volatile": true}));
        let steps = json!([held, push("Durable", json!({"stateBytes": 400})), end]);
        for _ in 0..2 {
            let failed = puppet.call(steps.clone()).await.unwrap_err();
            assert_eq!(failed.kind(), kind, "{end}");
            assert!(puppet.labels().await.is_empty(), "{end}");
        }
        let nothing = puppet.resolve(Resolution::apply("")).await.unwrap_err();
        assert_eq!(nothing.kind(), "nothing-pending");
        // With the record of their call they nearly fill it.
        let half = json!({"stateBytes": 497});
        let steps = json!([push("One", half.clone()), push("Two", half)]);
        puppet.call(steps).await.unwrap();
        assert_eq!(puppet.labels().await, ["Two", "One"]);
    }
}

/// A guest keeps what it made for a volatile action, though nobody will ever ask for it.
#[tokio::test]
async fn a_failed_call_that_pushed_a_volatile_action_ends_its_instance_unless_that_is_needed() {
    let volatile = || json!({"volatile": true});
    for (needed, fields, stays) in [
        (false, volatile(), false),
        (true, volatile(), true),
        (false, json!({}), true),
    ] {
        let puppet = Puppet::new().await;
        if needed {
            puppet.push(push("Held", volatile())).await;
        }
        let remember = json!({"do": "remember", "key": "it", "value": "is here"});
        puppet.text(json!([remember])).await;
        let fails = json!({"do": "tool-error", "message": "no"});
        let failed = puppet.call(json!([push("Gone", fields), fails])).await;
        assert_eq!(failed.unwrap_err().kind(), "tool");
        let recalled = puppet.text(json!([{"do": "recall", "key": "it"}])).await;
        assert_eq!(recalled == "is here", stays, "{recalled}");
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_or_dropped_leaves_nothing() {
    let puppet = Puppet::new().await;
    let params = json!({"steps": [push("One", json!({})), {"do": "spin"}]});
    let call = || puppet.session.call("puppet", &params);
    let stop = CancellationToken::new();
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    };
    let (called, ()) = tokio::join!(call().cancelled_by(&stop), stopping);
    assert_eq!(called.unwrap_err().kind(), "cancelled");
    assert!(puppet.labels().await.is_empty());

    let dropped = timeout(Duration::from_millis(50), call()).await;
    assert!(dropped.is_err(), "it spins");
    assert!(puppet.labels().await.is_empty());
}

#[tokio::test]
async fn what_a_call_pushes_is_on_the_stack_when_it_has_ended_and_not_before() {
    let store = Arc::new(MemoryStore::new());
    let (looks, session) = (Arc::clone(&store), SessionId::from("one"));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (hears, of) = (Arc::clone(&heard), session.clone());
    let puppet = Puppet::with(|builder| {
        builder.id(session).store(store).observer(move |_, event| {
            let what = match event {
                Event::Staged { .. } => "staged",
                Event::Pushed { .. } => "pushed",
                _ => return,
            };
            // This store needs no time.
            let room = ready(looks.room(&of, 0)).unwrap().held;
            hears.lock().unwrap().push((what, room.actions));
        })
    })
    .await;
    let pushes = [push("One", json!({})), push("Two", json!({}))];
    let outcome = puppet.call(json!(pushes)).await.unwrap();
    let pushed: Vec<_> = outcome.pushed.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(pushed, ["Two", "One"]);
    let heard = heard.lock().unwrap();
    assert_eq!(
        *heard,
        [("staged", 0), ("staged", 0), ("pushed", 2), ("pushed", 2)]
    );
}

#[tokio::test]
async fn what_a_call_was_and_gave_is_kept_as_its_caller_got_it_and_each_action_names_it() {
    let puppet = Puppet::new().await;
    let says = |text: &str| json!({"do": "text", "text": text});
    // It may say that it was another.
    let mut one = push("One", json!({}));
    one["source"] = json!("another");
    let steps = json!([one, push("Two", json!({})), says("the preview")]);
    let outcome = puppet.call(steps.clone()).await.unwrap();
    let [two, one] = &outcome.pushed[..] else {
        panic!("{outcome:?}");
    };
    assert!(one.call.is_some() && one.call == two.call);
    for action in [one, two] {
        let record = puppet.session.call_record(&action.id).await.unwrap();
        let record = record.expect("it is kept");
        assert_eq!(Some(&record.id), action.call.as_ref());
        assert_eq!(record.tool, "puppet");
        assert_eq!(record.params, json!({"steps": steps}));
        // Without the host's line for a model.
        assert_eq!(record.content, outcome.content);
        assert_ne!(record.content, outcome.content_for_model());
    }
    let other = puppet.push(push("Three", json!({}))).await;
    let other = puppet.session.call_record(&other.as_str().into()).await;
    assert_ne!(other.unwrap().map(|record| record.id), one.call);
    let unknown = puppet.session.call_record(&"unknown".into()).await;
    assert_eq!(unknown.unwrap(), None);
}

#[tokio::test]
async fn a_guest_is_told_at_once_where_the_store_can_not_be_asked() {
    let host = MemoryBackend::new().await.host().await;
    let faulty = with_fault(&host, Fault::UnreadableForPushes).store;
    let puppet = Puppet::with(|session| session.store(faulty)).await;
    let went_on = json!({"do": "text", "text": "went on"});
    let text = puppet
        .text(json!([push("Never", json!({})), went_on]))
        .await;
    let expected = "push refused: store-unavailable: the pending store of a test is full\nwent on";
    assert_eq!(text, expected);
    assert!(puppet.labels().await.is_empty());
}

/// Somebody else was faster with the room that was there when it was pushed.
#[tokio::test]
async fn a_call_whose_actions_the_store_does_not_take_fails_and_leaves_nothing() {
    for volatile in [false, true] {
        let store = Arc::new(MemoryStore::new());
        let (fills, session) = (Arc::clone(&store), SessionId::from("one"));
        let of = session.clone();
        let digest = plugin("puppet").await.digest();
        let puppet = Puppet::with(|builder| {
            let limits = Limits::default().with_pending_actions(2);
            let builder = builder.id(session).store(store).limits(limits);
            builder.observer(move |_, event| {
                if let Event::Staged { action } = event
                    && action.label == "Two"
                {
                    let bytes = PluginBytes {
                        digest,
                        name: "another".into(),
                        bytes: Vec::new().into(),
                    };
                    let mut faster = (**action).clone();
                    (faster.id, faster.label) = ("faster".into(), "Faster".to_owned());
                    let push = Push::new(&of, faster, &bytes);
                    ready(fills.push(push)).unwrap();
                }
            })
        })
        .await;
        let fields = json!({"volatile": volatile});
        let pushes = [push("One", fields.clone()), push("Two", fields)];
        let remember = json!({"do": "remember", "key": "it", "value": "is here"});
        puppet.text(json!([remember])).await;
        let refused = puppet.call(json!(pushes)).await.unwrap_err();
        let full = "this session already holds 2 pending actions";
        assert!(refused.to_string().contains(full), "{refused}");
        assert_eq!(puppet.labels().await, ["Faster"]);
        // What the guest keeps of volatile actions is gone with its instance.
        let recalled = puppet.text(json!([{"do": "recall", "key": "it"}])).await;
        assert_eq!(recalled == "is here", !volatile, "{recalled}");
        // The next call has what room there is.
        puppet.push(push("Three", json!({}))).await;
        assert_eq!(puppet.labels().await, ["Three", "Faster"]);
    }
}

#[tokio::test]
async fn what_one_call_pushes_is_bounded_and_the_guest_is_told() {
    let limits = Limits::default().with_staged_bytes(1000);
    let puppet = Puppet::limited(limits).await;
    let half = push("12345", json!({"stateBytes": 495}));
    let text = puppet.text(json!([half, half])).await;
    assert!(!text.contains("refused"), "{text}");
    let text = puppet
        .text(json!([half, half, push("6", json!({"volatile": true}))]))
        .await;
    let refused = "push refused: limit-exceeded: this call's pending actions would hold 1001 bytes; the limit is 1000";
    assert!(text.ends_with(refused), "{text}");
    assert_eq!(puppet.labels().await.len(), 4);
}

#[tokio::test]
async fn without_a_store_the_guest_is_told_so_in_the_contracts_words() {
    let puppet = Puppet::with(|session| session.without_store()).await;
    assert_eq!(
        puppet.text(json!([push("Never", json!({}))])).await,
        STORE_UNAVAILABLE
    );
    assert!(puppet.session.pending().await.unwrap().is_empty());
    let nothing = puppet.resolve(Resolution::apply("?")).await.unwrap_err();
    assert_eq!(
        nothing.to_string(),
        "No pending action to resolve. Nothing to apply or discard."
    );
}

/// Otherwise a discarded action could come back for ever.
#[tokio::test]
async fn what_was_decided_cannot_push_itself_again() {
    let refused = "push refused: invalid: an action can be pushed only during `execute`: what was decided can't come back by itself";
    let puppet = Puppet::new().await;
    for volatile in [false, true] {
        let again = push("Again", json!({"volatile": volatile}));
        let fields = json!({"volatile": volatile, "apply": [again.clone()], "reject": [again]});
        puppet.push(push("First", fields.clone())).await;
        let applied = puppet.resolve(Resolution::apply("yes")).await.unwrap();
        assert_eq!(applied.text(), refused);
        assert!(puppet.labels().await.is_empty());

        puppet.push(push("First", fields)).await;
        let discarded = puppet.resolve(Resolution::discard("no")).await.unwrap();
        assert_eq!(discarded.text(), refused);
        assert!(puppet.labels().await.is_empty());
    }
    // The next call may push again.
    puppet.push(push("Later", json!({}))).await;
    assert_eq!(puppet.labels().await, ["Later"]);
}

#[tokio::test]
async fn inside_definitions_there_is_no_store_and_no_session() {
    let misfits = load_fresh("misfits").await;
    let good = misfits.tools().next().unwrap();
    let store = STORE_UNAVAILABLE.trim_start_matches("push refused: ");
    assert_eq!(good.description, format!("push: {store}; session: none"));
}
