//! The contract's section *Steering the model*, through a session with a real guest.

use airlock_host::Resolution;
use airlock_host::pending::ActionState;
use airlock_host::steering::{
    REMINDER, ReminderKind, ToolChoice, ToolChoicePolicy, TurnReport, TurnSettings,
};
use airlock_tests::{Puppet, durable, poll_once, push};
use serde_json::json;

#[tokio::test]
async fn previews_are_told_of_in_one_reminder_and_a_decision_forced_only_after_a_turn_without_one()
{
    let puppet = Puppet::new().await;
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!(
        (turn.reminders.len(), turn.tool_choice, turn.pending),
        (0, ToolChoice::Auto, 0)
    );
    let first = push("First", json!({"source": "renamer"}));
    let outcome = puppet.call(json!([first, durable("Second", json!([]))]));
    let ids = outcome.await.unwrap().pushed;
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!(turn.tool_choice, ToolChoice::Auto);
    let reminders = serde_json::to_value(turn.reminders).unwrap();
    let actions = json!([
        {"id": ids[0].id, "label": "Second", "tool": "custom_tool"},
        {"id": ids[1].id, "label": "First", "tool": "renamer"},
    ]);
    let expected = json!({"type": "resolve-reminder", "text": REMINDER, "actions": actions});
    assert_eq!(reminders, json!([expected]));
    // The turn did something else.
    puppet.call(json!([])).await.unwrap();
    for (forced, told) in [(true, 1), (true, 0), (true, 1), (false, 0), (false, 0)] {
        let turn = puppet.session.next_turn().await.unwrap();
        assert_eq!(turn.reminders.len(), told);
        assert_eq!(turn.tool_choice.tool(), forced.then_some("resolve"));
    }
    let params = json!({"action": "discard", "reason": "no"});
    puppet.session.call("resolve", &params).await.unwrap();
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!((turn.tool_choice, turn.pending), (ToolChoice::Auto, 1));
    assert_eq!(turn.reminders[0].actions[0].label, "First");
    puppet.session.call("resolve", &params).await.unwrap();
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!((turn.tool_choice, turn.pending), (ToolChoice::Auto, 0));
    assert!(turn.reminders.is_empty());
}

/// However often the ones before were ignored.
#[tokio::test]
async fn a_new_preview_is_told_of_and_forced_again_though_others_were_ignored_for_good() {
    let puppet = Puppet::new().await;
    for label in ["First", "Second", "Third"] {
        puppet.push(durable(label, json!([]))).await;
        let mut turns = Vec::new();
        for _ in 0..24 {
            let turn = puppet.session.next_turn().await.unwrap();
            let told = turn.reminders.iter().map(|it| it.actions[0].label.clone());
            turns.push((told.collect::<String>(), turn.tool_choice.tool().is_some()));
        }
        let told = |at: usize| turns[at].0 == label;
        let forced: Vec<bool> = turns.iter().map(|turn| turn.1).collect();
        let told: Vec<usize> = (0..24).filter(|at| told(*at)).collect();
        assert_eq!(told, [0, 1, 3, 7, 15, 23], "{label}: {turns:?}");
        assert_eq!(forced[..5], [false, true, true, true, false], "{label}");
        assert!(!forced[5..].contains(&true), "{label}");
    }
}

#[tokio::test]
async fn a_lost_preview_is_told_as_what_it_is() {
    let puppet = Puppet::new().await;
    let id = puppet.push(push("Rename", json!({"volatile": true}))).await;
    puppet.session.next_turn().await.unwrap();
    puppet.call(json!([{"do": "trap"}])).await.unwrap_err();
    let turn = puppet.session.next_turn().await.unwrap();
    let [reminder] = &turn.reminders[..] else {
        panic!("{turn:?}");
    };
    assert_eq!(reminder.kind, ReminderKind::Lost);
    let expected = format!(
        "<system-reminder>\nThe preview \"Rename\" (id {id}) is lost: its tool kept it only in memory, where it no longer is. \
         Call the `resolve` tool to discard it, and preview again.\n</system-reminder>"
    );
    assert_eq!(reminder.text, expected);
    assert_eq!(turn.pending, 1);
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[0].state, ActionState::Lost);
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
    assert_eq!(turn.tool_choice, ToolChoice::Auto);
    assert_eq!(turn.reminders.len(), 1);
    assert_eq!(turn.reminders[0].text, REMINDER);
    // One that decided about another action is no turn that ignored the one on top.
    let below = puppet.push(durable("Below", json!([]))).await;
    puppet.push(durable("On top", json!([]))).await;
    puppet.session.next_turn().await.unwrap();
    let below = Resolution::apply("").with_id(&*below);
    puppet.resolve(below).await.unwrap();
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!(turn.tool_choice, ToolChoice::Auto);
    assert!(turn.reminders.is_empty(), "{turn:?}");
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
    assert_eq!(turn.reminders.len(), 1);
    assert_eq!(turn.reminders[0].kind, ReminderKind::Interrupted);
    assert_eq!(turn.reminders[0].text, expected);
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
    // Also without thinking it may have been for a passing reason.
    let turn = force.session.next_turn().await.unwrap();
    assert_eq!(turn.tool_choice, ToolChoice::Resolve);
    force.session.report_turn(TurnReport::ForcedChoiceRefused);
    let turn = force.session.next_turn().await.unwrap();
    assert_eq!(turn.tool_choice, ToolChoice::Auto);
    force.push(durable("Another", json!([]))).await;
    let turn = force.session.next_turn().await.unwrap();
    assert_eq!(turn.tool_choice, ToolChoice::Resolve);

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

#[tokio::test]
async fn a_turn_that_is_retried_is_no_ignored_one() {
    let puppet = Puppet::new().await;
    puppet.push(durable("Waits", json!([]))).await;
    for _ in 0..3 {
        let turn = puppet.session.next_turn().await.unwrap();
        assert_eq!(turn.tool_choice, ToolChoice::Auto);
        puppet.session.report_turn(TurnReport::NotSent);
    }
    // This one is sent, and ignores it.
    puppet.session.next_turn().await.unwrap();
    let turn = puppet.session.next_turn().await.unwrap();
    assert_eq!(turn.tool_choice, ToolChoice::Resolve);
}
