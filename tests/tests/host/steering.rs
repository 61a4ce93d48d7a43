//! The contract's section *Steering the model*, through a session with a real guest.

use airlock_host::{REMINDER, Resolution, ToolChoice, ToolChoicePolicy, TurnReport, TurnSettings};
use airlock_tests::{Puppet, durable, poll_once};
use serde_json::json;

#[tokio::test]
async fn a_preview_is_told_of_once_and_a_decision_forced_only_after_a_turn_without_one() {
    let puppet = Puppet::new().await;
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!(
        (turn.reminders.len(), turn.tool_choice, turn.pending),
        (0, ToolChoice::Auto, 0)
    );
    puppet.push(durable("Preview", json!([]))).await;
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!(
        (turn.reminders, turn.tool_choice),
        (vec![REMINDER.to_owned()], ToolChoice::Auto)
    );
    // The turn did something else.
    puppet.call(json!([])).await.unwrap();
    for forced in [true, true, true, false] {
        let turn = puppet.session.next_turn().await.unwrap();
        assert!(turn.reminders.is_empty());
        assert_eq!(turn.tool_choice == ToolChoice::Resolve, forced);
    }
    let params = json!({"action": "discard", "reason": "no"});
    puppet.session.call("resolve", &params).await.unwrap();
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!((turn.tool_choice, turn.pending), (ToolChoice::Auto, 0));
}

#[test]
fn the_reminder_is_the_contracts_text() {
    let text = "<system-reminder>\n\
                This is a preview. Call the `resolve` tool to apply or discard these changes.\n\
                </system-reminder>";
    assert_eq!(REMINDER, text);
}

#[tokio::test]
async fn a_turn_that_decided_is_not_forced_though_the_apply_failed_and_it_is_told_of_again() {
    let puppet = Puppet::new().await;
    puppet
        .push(durable("Fails", json!([{"do": "failed", "message": "no"}])))
        .await;
    puppet.session.next_turn().await.unwrap();
    puppet.resolve(Resolution::apply("")).await.unwrap_err();
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!(
        (turn.reminders, turn.tool_choice),
        (vec![REMINDER.to_owned()], ToolChoice::Auto)
    );
}

#[tokio::test]
async fn an_interrupted_apply_is_told_as_what_it_is() {
    let puppet = Puppet::new().await;
    let id = puppet
        .push(durable("Write: 1 file", json!([{"do": "block"}])))
        .await;
    puppet.session.next_turn().await.unwrap();
    {
        let resolving = puppet.resolve(Resolution::apply(""));
        tokio::pin!(resolving);
        assert!(poll_once(resolving.as_mut()).await.is_none());
    }
    let turn = puppet.session.next_turn().await.unwrap();
    let expected = format!(
        "<system-reminder>\nAn apply of \"Write: 1 file\" (id {id}) was interrupted in attempt 1: it may have taken effect, wholly or in part. \
         Find out before you call the `resolve` tool to apply it again or to discard it.\n</system-reminder>"
    );
    assert_eq!(turn.reminders, [expected]);
}

#[tokio::test]
async fn a_session_keeps_to_its_policy_and_to_what_the_provider_can_do() {
    let force = Puppet::with(|session| session.tool_choice(ToolChoicePolicy::Force)).await;
    force.push(durable("Forced", json!([]))).await;
    let thinking = TurnSettings {
        extended_thinking: true,
        ..TurnSettings::default()
    };
    let turn = force.session.next_turn_with(thinking).await.unwrap();
    assert_eq!(turn.tool_choice, ToolChoice::Resolve);
    force.session.report_turn(TurnReport::ForcedChoiceRefused);
    let turn = force.session.next_turn_with(thinking).await.unwrap();
    assert_eq!(turn.tool_choice, ToolChoice::Auto);

    let off = Puppet::with(|session| session.tool_choice(ToolChoicePolicy::Off)).await;
    off.push(durable("Left alone", json!([]))).await;
    for _ in 0..3 {
        let turn = off.session.next_turn().await.unwrap();
        assert_eq!(
            (turn.reminders.len(), turn.tool_choice, turn.pending),
            (0, ToolChoice::Auto, 1)
        );
    }
}
