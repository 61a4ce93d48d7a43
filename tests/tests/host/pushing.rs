//! The contract's section *Pushing*.

use airlock_host::{ActionState, Limits, Resolution};
use airlock_tests::{Puppet, plugin, push};
use serde_json::{Value, json};

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
            "Second",
            json!({"source": "puppet", "volatile": true, "hasReject": true}),
        ))
        .await;
    let pending = puppet.session.pending().await.unwrap();
    let top = &pending[0].action;
    assert_eq!(
        (top.label.as_str(), top.source_tool_name.as_str()),
        ("Second", "puppet")
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
            "push refused: invalid: the label has more than one line",
        ),
        (
            push("one\u{2028}two", json!({})),
            "push refused: invalid: the label has more than one line",
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
async fn the_thousandth_action_is_accepted_and_the_next_is_not() {
    let puppet = Puppet::new().await;
    let million = push("Again", json!({"times": 1_000_000, "quiet": true}));
    let text = puppet.text(json!([million])).await;
    assert!(
        text.starts_with(
            "push refused: limit-exceeded: this session already holds 1000 pending actions"
        ),
        "{text}"
    );
    assert!(text.ends_with("pushed 1000"), "{text}");
    assert_eq!(puppet.labels().await.len(), 1000);
    // One decision makes room for one more.
    puppet.resolve(Resolution::discard("enough")).await.unwrap();
    let text = puppet
        .text(json!([push("Again", json!({"times": 2, "quiet": true}))]))
        .await;
    assert!(text.ends_with("pushed 1"), "{text}");
}

/// The preview may have been shown, so what it made pending stays; but for what only the instance
/// knew.
#[tokio::test]
async fn what_a_call_pushed_before_it_crashed_or_failed_is_pending() {
    for (end, kind, volatile) in [
        (
            json!({"do": "failed", "message": "no"}),
            "failed",
            ActionState::Pending,
        ),
        (
            json!({"do": "tool-error", "message": "no"}),
            "tool",
            ActionState::Pending,
        ),
        (json!({"do": "trap"}), "trap", ActionState::Lost),
        (json!({"do": "exit", "code": 1}), "trap", ActionState::Lost),
        (json!({"do": "recurse"}), "limit", ActionState::Lost),
    ] {
        let puppet = Puppet::new().await;
        let apply = json!({"apply": [{"do": "text", "text": "applied"}]});
        let held = push("Volatile", json!({"volatile": true}));
        let called = puppet.call(json!([held, push("Durable", apply), end]));
        assert_eq!(called.await.unwrap_err().kind(), kind, "{end}");
        let pending = puppet.session.pending().await.unwrap();
        let found: Vec<_> = pending
            .iter()
            .map(|it| (it.action.label.as_str(), it.attempts, it.state))
            .collect();
        let expected = [
            ("Durable", 0, ActionState::Pending),
            ("Volatile", 0, volatile),
        ];
        assert_eq!(found, expected, "{end}");
        let outcome = puppet.resolve(Resolution::apply("")).await.unwrap();
        assert_eq!(outcome.text(), "applied");
    }
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
    let misfits = plugin("misfits").await;
    let good = misfits.tools().next().unwrap();
    let store = STORE_UNAVAILABLE.trim_start_matches("push refused: ");
    assert_eq!(good.description, format!("push: {store}; session: none"));
}
