//! What actions look like.

use airlock_model::json::Json;
use airlock_model::pending::StackedAction;
use expect_test::expect;
use serde_json::json;

use super::*;

#[test]
fn what_is_pending() {
    let state = |state| record(action(LABEL, "ast_edit"), state);
    let mut tried = state(ActionState::Pending);
    tried.attempts = 2;
    tried.last_error = Some("Apply failed: disk on\nfire".to_owned());
    let mut interrupted = state(ActionState::Interrupted);
    interrupted.attempts = 1;
    interrupted.last_error = Some("its host stopped".to_owned());
    interrupted.lease = Some(lease("vm/7"));
    let mut resolving = state(ActionState::Resolving);
    resolving.lease = Some(lease("vm/7"));
    let all = [
        state(ActionState::Pending),
        tried,
        interrupted,
        resolving,
        state(ActionState::Lost),
    ];
    let list = all.iter().fold(Block::new(), |list, record| {
        list.block(Block::open(record, when))
    });
    check(
        list,
        expect![[r#"
            │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, at 60 s, id 5755e711
              The tool's own word, not verified by the host
            │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, at 60 s, id 5755e711
              tried 2 times, the last time: Apply failed: disk on …
              The tool's own word, not verified by the host
            │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, at 60 s, id 5755e711
              interrupted in attempt 1: its host stopped
              The tool's own word, not verified by the host
            │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, at 60 s, id 5755e711
              resolving: being applied by vm/7, started at 90 s
              The tool's own word, not verified by the host
            │ AST Edit: 2 replacements in 1 file
              from ast_edit of plugin (sha256:5e689e2b0167), durable, at 60 s, id 5755e711
              lost: its tool kept the preview only in memory; it can only be discarded
              The tool's own word, not verified by the host"#]],
    );
    let pushed = action("A label that is longer than its row", "ast_edit");
    let mut stacked = StackedAction::new(pushed, ActionState::Pending);
    stacked.attempts = 1;
    stacked.last_error = Some("cancelled".to_owned());
    check_at(
        Renderer::plain().width(30),
        Block::stacked(&stacked, when),
        expect![[r#"
            │ A label that is longer than
            │   its row
              from ast_edit of plugin
                (sha256:5e689e2b0167),
                durable, at 60 s, id
                5755e711
              tried once: cancelled
              The tool's own word, not
                verified by the host"#]],
    );
}

#[test]
fn all_that_is_known() {
    let mut pushed = action(LABEL, "ast_edit");
    let details = json!({"files": ["a.jpeg"], "evil": "\u{1b}\u{202e}"});
    pushed.details = Some(Json::of_own(&details));
    let mut pending = record(pushed, ActionState::Pending);
    pending.attempts = 1;
    pending.last_error = Some("disk on\nfire".to_owned());
    check(
        Block::record(&pending, when).block(Block::details(&pending.action)),
        expect![[r#"
            │ AST Edit: 2 replacements in 1 file
              id         01a20106-302b-74f6-9523-411f5755e711
              tool       ast_edit
              session    workspace:/home/ann/photos
              workspace  /home/ann/photos
              previewed  at 60 s
              plugin     plugin, sha256:5e689e2b01672bf33996e75d5e372ff60c536ce1599a1458e867cd8f4bef5160
              granted    workspace: read, and change while applying; scratch directory; no environment, no network, no other path
              kept       durable: it can be applied by any process
              attempts   1
              state      pending
              last error disk on
                         │ fire
              details
                │ {
                │   "evil": "\u001b\u{202e}",
                │   "files": [
                │     "a.jpeg"
                │   ]
                │ }"#]],
    );
    let mut interrupted = record(action(LABEL, "ast_edit"), ActionState::Interrupted);
    interrupted.attempts = 1;
    interrupted.last_error = Some("its host stopped".to_owned());
    interrupted.lease = Some(lease("vm/7"));
    check_at(
        Renderer::plain().width(50),
        Block::record(&interrupted, when),
        expect![[r#"
            │ AST Edit: 2 replacements in 1 file
              id         01a20106-302b-74f6-9523-411f5755e711
              tool       ast_edit
              session    workspace:/home/ann/photos
              workspace  /home/ann/photos
              previewed  at 60 s
              plugin     plugin,
                         sha256:5e689e2b01672bf33996e75d5e372f
                         f60c536ce1599a1458e867cd8f4bef5160
              granted    workspace: read, and change while
                         applying; scratch directory; no
                         environment, no network, no other
                         path
              kept       durable: it can be applied by any
                         process
              attempts   1
              state      interrupted in attempt 1: its host
                         │ stopped
              begun      at 90 s, by vm/7"#]],
    );
    let mut discarded = record(action(LABEL, "ast_edit"), ActionState::Discarded);
    discarded.resolved = Some(resolved(Decision::Discard, "not these", Some("not today")));
    check(
        Block::record(&discarded, when),
        expect![[r#"
            │ AST Edit: 2 replacements in 1 file
              id         01a20106-302b-74f6-9523-411f5755e711
              tool       ast_edit
              session    workspace:/home/ann/photos
              workspace  /home/ann/photos
              previewed  at 60 s
              plugin     plugin, sha256:5e689e2b01672bf33996e75d5e372ff60c536ce1599a1458e867cd8f4bef5160
              granted    workspace: read, and change while applying; scratch directory; no environment, no network, no other path
              kept       durable: it can be applied by any process
              attempts   0
              state      discarded
              discarded  at 120 s
              by         ann@vm, a person
              evidence   answered on the terminal
              reason     not these
              extra      {"ticket":17}
              error      not today"#]],
    );
}

#[test]
fn what_was_decided() {
    let of = |resolved: ResolvedRecord| {
        let mut ended = record(action(LABEL, "ast_edit"), ActionState::Applied);
        ended.resolved = Some(resolved);
        Block::audit(&ended, when)
    };
    check(
        of(resolved(Decision::Apply, "two\nlines", None)),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1 file
              applied by ann@vm, a person (evidence: answered on the terminal), at 120 s
              reason: two
                │ lines
              from ast_edit of plugin (sha256:5e689e2b0167), durable, id 5755e711"#]],
    );
    check_at(
        Renderer::plain().width(40),
        of(resolved(Decision::Apply, "", None)),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1
              │ file
              applied by ann@vm, a person (evidence:
                answered on the terminal), at 120 s
              from ast_edit of plugin
                (sha256:5e689e2b0167), durable, id
                5755e711"#]],
    );
    check(
        of(resolved(Decision::Discard, "no", Some("not today"))),
        expect![[r#"
            Discard: AST Edit: 2 replacements in 1 file
              discarded by ann@vm, a person (evidence: answered on the terminal), at 120 s
              reason: no
              the tool failed: not today
              from ast_edit of plugin (sha256:5e689e2b0167), durable, id 5755e711"#]],
    );
    let mut nobody = resolved(Decision::Apply, "", None);
    nobody.decided_by = Actor::Unknown { name: None }.into();
    check(
        of(nobody),
        expect![[r#"
            Accept: AST Edit: 2 replacements in 1 file
              applied by an unnamed actor (evidence: none), at 120 s
              from ast_edit of plugin (sha256:5e689e2b0167), durable, id 5755e711"#]],
    );
    check(
        Block::audit(&record(action(LABEL, "t"), ActionState::Pending), when),
        expect![[r#""#]],
    );
}

#[test]
fn of_many_details_the_beginning_is_shown_and_that_there_are_more() {
    let mut record = record(action(LABEL, "ast_edit"), ActionState::Pending);
    let details = format!("[{}0]", "0,".repeat(200_000));
    record.action.details = Some(Json::checked(&details).unwrap());
    let shown = Block::details(&record.action).to_string();
    assert!(shown.len() < 1 << 20, "{}", shown.len());
    let end = shown.lines().last().unwrap();
    assert_eq!(
        end.trim(),
        "… this is the beginning of the details, which are 400003 bytes"
    );
}
