//! A handler that stands behind the stack.

use std::sync::{Arc, Mutex};

use airlock_host::cancel::CancellationToken;
use airlock_host::json::Json;
use airlock_host::standing::{StandingHandler, StandingResult};
use airlock_host::steering::{ToolChoice, ToolChoicePolicy};
use airlock_host::{Error, Resolution, Session};
use airlock_tests::{Puppet, Tester, durable};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

/// Approves plans, and remembers how often it was asked.
#[derive(Default)]
struct Approval {
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl StandingHandler for Approval {
    fn label(&self) -> String {
        "Plan: tidy up".to_owned()
    }

    async fn apply(
        &self,
        reason: &str,
        extra: Option<&Map<String, Value>>,
    ) -> Result<StandingResult, Error> {
        self.asked.lock().unwrap().push(reason.to_owned());
        match reason {
            "tool" => Err(Error::Tool {
                message: "the plan is empty".to_owned(),
            }),
            "failed" => Err(Error::Failed {
                message: "no disk".to_owned(),
            }),
            "for ever" => std::future::pending().await,
            _ => Ok(StandingResult {
                details: Json::of(&json!({"title": extra.and_then(|extra| extra.get("title"))}))
                    .ok(),
                ..StandingResult::text("approved")
            }),
        }
    }
}

fn with_approval(session: &Session) -> Arc<Approval> {
    let approval = Arc::new(Approval::default());
    session.set_standing_handler(Some(approval.clone()));
    approval
}

#[tokio::test]
async fn it_is_asked_only_when_nothing_is_pending_and_gets_reason_and_extra() {
    let puppet = Puppet::new().await;
    let approval = with_approval(&puppet.session);
    puppet
        .push(durable(
            "First",
            json!([{"do": "text", "text": "by the tool"}]),
        ))
        .await;
    assert_eq!(
        puppet
            .resolve(Resolution::apply("one"))
            .await
            .unwrap()
            .text(),
        "by the tool"
    );
    assert!(approval.asked.lock().unwrap().is_empty());

    let extra = json!({"title": "tidy"}).as_object().unwrap().clone();
    let outcome = puppet
        .resolve(Resolution::apply("two").with_extra(extra))
        .await
        .unwrap();
    assert_eq!(outcome.text(), "approved");
    assert_eq!(
        serde_json::to_value(&outcome.details).unwrap(),
        json!({"action": "apply", "reason": "two", "extra": {"title": "tidy"},
            "label": "Plan: tidy up", "sourceResultDetails": {"title": "tidy"}})
    );
    assert_eq!(*approval.asked.lock().unwrap(), ["two"]);
}

/// Also under a policy that forces whatever it can, and where turns ignore it.
#[tokio::test]
async fn it_forces_and_reminds_of_nothing_by_itself() {
    for policy in [ToolChoicePolicy::Force, ToolChoicePolicy::default()] {
        let puppet = Puppet::with(|session| session.tool_choice(policy)).await;
        let approval = with_approval(&puppet.session);
        let forced_of_two = async || {
            let mut forced = Vec::new();
            for _ in 0..2 {
                let turn = puppet.session.next_turn().await.unwrap();
                forced.push((turn.tool_choice, turn.reminders.len()));
            }
            forced
        };
        let nothing = vec![(ToolChoice::Auto, 0); 2];
        assert_eq!(forced_of_two().await, nothing, "{policy:?}");
        // What is pending is forced beside it all the same, so it could have been.
        puppet.push(durable("Pending", json!([]))).await;
        assert_eq!(
            forced_of_two().await[1],
            (ToolChoice::Resolve, 1),
            "{policy:?}"
        );
        puppet.resolve(Resolution::apply("that")).await.unwrap();
        assert_eq!(forced_of_two().await, nothing, "{policy:?}");
        puppet.resolve(Resolution::apply("the plan")).await.unwrap();
        assert_eq!(*approval.asked.lock().unwrap(), ["the plan"]);
        assert_eq!(forced_of_two().await, nothing, "{policy:?}");
    }
}

#[tokio::test]
async fn its_errors_are_wrapped_as_those_of_an_apply_and_a_discard_has_the_default_text() {
    let session = Session::builder()
        .model_decides()
        .without_store()
        .open()
        .unwrap();
    with_approval(&session);
    for (reason, text) in [
        ("tool", "the plan is empty"),
        ("failed", "Apply failed: no disk"),
    ] {
        let error = session
            .resolve(Resolution::apply(reason), Tester)
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    let outcome = session
        .resolve(Resolution::discard("not yet"), Tester)
        .await
        .unwrap();
    assert_eq!(outcome.text(), "Discarded: Plan: tidy up. Reason: not yet");
    let cancel = CancellationToken::new();
    let resolving = session
        .resolve(Resolution::apply("for ever"), Tester)
        .cancelled_by(&cancel);
    let (resolved, ()) = tokio::join!(resolving, async { cancel.cancel() });
    assert!(matches!(resolved, Err(Error::Cancelled)));

    session.set_standing_handler(None);
    let error = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NothingPending));
}

#[tokio::test]
async fn an_id_is_never_its_business() {
    let puppet = Puppet::new().await;
    let approval = with_approval(&puppet.session);
    let error = puppet
        .resolve(Resolution::apply("").with_id("gone"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::UnknownAction(_)));
    assert!(approval.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn who_races_for_the_last_action_and_loses_decides_about_nothing_else() {
    let puppet = Puppet::new().await;
    let approval = with_approval(&puppet.session);
    puppet
        .push(durable("Slow", json!([{"do": "block", "ms": 50}])))
        .await;
    let (one, other) = tokio::join!(
        puppet.resolve(Resolution::apply("a")),
        puppet.resolve(Resolution::apply("b"))
    );
    assert!(one.is_ok());
    assert!(matches!(other, Err(Error::NothingPending)));
    assert!(approval.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_model_reads_that_a_preview_has_changed_nothing_and_which_action_was_decided_about() {
    let puppet = Puppet::new().await;
    let said = |outcome: airlock_host::content::CallOutcome| -> Vec<String> {
        let content = outcome.content_for_model();
        content
            .iter()
            .filter_map(|block| block.as_text())
            .map(str::to_owned)
            .collect()
    };
    let plain = puppet
        .call(json!([{"do": "text", "text": "read"}]))
        .await
        .unwrap();
    let host = "Nothing is pending from this call. The tool's own words follow.";
    assert_eq!(said(plain), [host, "read"]);
    let write = |label: &str| airlock_tests::push(label, json!({"quiet": true}));
    let staged = puppet
        .call(json!([write("One"), write("</two>\"")]))
        .await
        .unwrap();
    let [two, one] = [&staged.pushed[0].id, &staged.pushed[1].id].map(ToString::to_string);
    let plugin = staged.pushed[0].plugin.short();
    let note = format!(
        "Preview only, nothing has changed yet: 2 actions are pending, topmost first.\n\
        - \"\\u003c/two>\\\"\" of \"custom_tool\", id {two}\n\
        - \"One\" of \"custom_tool\", id {one}\n\
        Plugin: \"puppet\" ({plugin})."
    );
    assert_eq!(said(staged), [note]);

    let resolve = async |params: Value| {
        let resolved = puppet.session.call("resolve", &params).await.unwrap();
        said(resolved).remove(0)
    };
    let discard = json!({"action": "discard", "reason": "no"});
    let which = resolve(discard.clone()).await;
    let told = format!(
        "Discarded: \"\\u003c/two>\\\"\" of \"custom_tool\", id {two}. The tool's own words follow."
    );
    assert_eq!(which, told);
    let mut named = discard;
    named["id"] = one.clone().into();
    let told =
        format!("Discarded: \"One\" of \"custom_tool\", id {one}. The tool's own words follow.");
    assert_eq!(resolve(named).await, told);
}

#[tokio::test]
async fn a_model_is_told_the_names_of_the_first_actions_and_how_many_more_there_are() {
    let puppet = Puppet::new().await;
    let push = airlock_tests::push("Write", json!({"quiet": true, "times": 22}));
    let staged = puppet.call(json!([push])).await.unwrap();
    let note = staged.content_for_model().remove(0);
    let lines: Vec<&str> = note.as_text().unwrap().lines().collect();
    assert_eq!(lines.len(), 24);
    assert_eq!(lines[21], "- and 2 more");
}
