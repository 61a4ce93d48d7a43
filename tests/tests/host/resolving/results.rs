//! Rules 2 and 3: what the guest is told, and what its result becomes.

use airlock_host::Resolution;
use airlock_host::pending::Decision;
use airlock_tests::{Puppet, push};
use serde_json::{Value, json};

// Rule 2.

#[tokio::test]
async fn the_guest_is_told_the_decision_and_given_its_state_back() {
    let puppet = Puppet::new().await;
    let extra = json!({"title": "a plan"}).as_object().unwrap().clone();
    for (decision, volatile, extra) in [
        (Decision::Apply, false, Some(extra.clone())),
        (Decision::Apply, true, None),
        (Decision::Discard, false, None),
        (Decision::Discard, true, Some(extra)),
    ] {
        let tell = json!([{"do": "resolution"}]);
        let fields =
            json!({"source": "writer", "volatile": volatile, "apply": tell, "reject": tell});
        let id = puppet.push(push("Write: 1 file", fields)).await;
        // Not trimmed, and no word of it is taken for anything.
        let reason = " discard\n\"apply\" \t";
        let mut resolution = Resolution::new(decision, reason);
        resolution.extra.clone_from(&extra);
        let outcome = puppet.resolve(resolution).await.unwrap();
        let seen: Value = serde_json::from_str(&outcome.text()).unwrap();
        let extra = extra.map(|extra| Value::from(extra).to_string());
        let expected = json!({
            "actionId": id, "label": "Write: 1 file", "sourceToolName": "writer", "hasState": !volatile,
            "reason": reason, "extra": extra, "attempt": 1,
        });
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn an_empty_result_is_a_result_and_only_no_result_gives_the_default_text() {
    let puppet = Puppet::new().await;
    let default = json!([{"type": "text", "text": "Discarded: Write: 1 file. Reason: no"}]);
    let said = json!([{"do": "text", "text": "said"}]);
    for (volatile, has_reject, steps, content) in [
        (false, true, json!([]), json!([])),
        (true, true, json!([]), json!([])),
        (
            false,
            true,
            json!([{"do": "text", "text": ""}]),
            json!([{"type": "text", "text": ""}]),
        ),
        (false, true, Value::Null, default.clone()),
        // It is not asked where it was not announced.
        (false, false, said.clone(), default.clone()),
        (true, false, said, default),
    ] {
        let fields = json!({"volatile": volatile, "hasReject": has_reject, "reject": steps});
        puppet.push(push("Write: 1 file", fields)).await;
        let outcome = puppet.resolve(Resolution::discard("no")).await.unwrap();
        assert_eq!(json!(outcome.content), content, "{steps}");
    }
}

// Rule 3.

#[tokio::test]
async fn the_guests_details_are_added_where_they_are_not_null() {
    let puppet = Puppet::new().await;
    for (returned, kept) in [
        (None, None),
        (Some("null"), None),
        (Some(" null\n"), None),
        (Some("false"), Some(json!(false))),
        (Some("0"), Some(json!(0))),
        (Some(r#""""#), Some(json!(""))),
        (Some("[null]"), Some(json!([null]))),
        (Some(r#"{"label":"mine"}"#), Some(json!({"label": "mine"}))),
    ] {
        for decision in [Decision::Apply, Decision::Discard] {
            let details = returned.map(|json| json!({"do": "details", "json": json}));
            let steps: Value = details.into_iter().collect();
            let fields =
                json!({"details": r#"{"not":"forwarded"}"#, "apply": steps, "reject": steps});
            puppet.push(push("Write: 1 file", fields)).await;
            let resolution = Resolution::new(decision, "why not");
            let outcome = puppet.resolve(resolution).await.unwrap();
            let mut expected = json!({
                "action": decision, "reason": "why not", "sourceToolName": "custom_tool", "label": "Write: 1 file",
            });
            if let Some(kept) = &kept {
                expected["sourceResultDetails"] = kept.clone();
            }
            let found = serde_json::to_value(&outcome.details).unwrap();
            assert_eq!(found, expected, "{returned:?}");
        }
    }
}
