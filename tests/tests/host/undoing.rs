//! What an embedder gets of an undo.

use std::fs;

use airlock_host::effects::ChangeKind;
use airlock_host::native::Undo;
use airlock_host::pending::{ActionId, Decision};
use airlock_host::policy::Rehearse;
use airlock_host::{Error, Resolution, SessionBuilder, UndoRetention};
use airlock_tests::{Puppet, Tester};
use serde_json::json;

/// A puppet, with `undo`, whose workspace has a file that an applied action has rewritten.
async fn rewritten(retention: Option<UndoRetention>) -> (Puppet, ActionId) {
    let settings = |session: SessionBuilder| {
        session
            .bind(&Undo::producer())
            .rehearse(Rehearse::Auto)
            .undo_retention(retention)
    };
    let puppet = Puppet::with(settings).await;
    fs::write(puppet.workspace().join("a.txt"), "one").unwrap();
    let steps = json!([{"do": "fs", "op": "write", "path": "a.txt", "text": "two"}]);
    let push = airlock_tests::durable("Rewrite", steps);
    let id = ActionId::from(puppet.push(push).await);
    puppet.resolve(Resolution::apply("")).await.unwrap();
    (puppet, id)
}

fn text(puppet: &Puppet) -> String {
    fs::read_to_string(puppet.workspace().join("a.txt")).unwrap()
}

#[tokio::test]
async fn an_undo_is_reviewed_and_decided_like_any_action() {
    let (puppet, id) = rewritten(Some(UndoRetention::default())).await;
    let session = &puppet.session;
    let staged = session.undo(Some(&id)).await.unwrap();
    assert_eq!(text(&puppet), "two", "nothing changes before the decision");
    let undo = &staged.pushed[0];
    assert_eq!(undo.label, "Undo: Rewrite");
    let review = session.review(&undo.id).await.unwrap().unwrap();
    let effects = review.effects.as_ref().unwrap();
    assert!(effects.verified);
    let kinds: Vec<_> = effects.changes.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [ChangeKind::Modified]);
    let diff = effects.unified_diff();
    assert!(diff.contains("-two") && diff.contains("+one"), "{diff}");
    let decided = review.decided(Decision::Apply, "it was right before");
    session.resolve(decided, Tester).await.unwrap();
    assert_eq!(text(&puppet), "one");
    // Without an id: the last one that was applied, which is the undo.
    session.undo(None).await.unwrap();
    puppet.resolve(Resolution::apply("")).await.unwrap();
    assert_eq!(text(&puppet), "two");
}

#[tokio::test]
async fn an_undo_of_what_has_changed_since_names_it_and_pushes_nothing() {
    let (puppet, id) = rewritten(Some(UndoRetention::default())).await;
    fs::write(puppet.workspace().join("a.txt"), "three").unwrap();
    let refused = puppet.session.undo(Some(&id)).await.unwrap_err();
    assert!(matches!(&refused, Error::Tool { message } if message.contains("a.txt has changed")));
    assert!(puppet.session.pending().await.unwrap().is_empty());
    assert_eq!(text(&puppet), "three");
}

#[tokio::test]
async fn an_undo_is_merged_with_later_edits_and_names_lines_that_can_not_be() {
    let (puppet, id) = rewritten(Some(UndoRetention::default())).await;
    let path = puppet.workspace().join("a.txt");
    fs::write(&path, "two\nthree\nfour\n").unwrap();
    let refused = puppet.session.undo(Some(&id)).await.unwrap_err();
    let expected = "a.txt has changed at lines 1–3, where the undo changes it too";
    assert!(matches!(&refused, Error::Tool { message } if message.contains(expected)));

    fs::write(&path, "1\n2\n3\n4\n").unwrap();
    let steps = json!([{"do": "fs", "op": "write", "path": "a.txt", "text": "one\n2\n3\n4\n"}]);
    let id = ActionId::from(puppet.push(airlock_tests::durable("Edit", steps)).await);
    puppet.resolve(Resolution::apply("")).await.unwrap();
    fs::write(&path, "one\n2\n3\nfour\n").unwrap();
    puppet.session.undo(Some(&id)).await.unwrap();
    puppet.resolve(Resolution::apply("")).await.unwrap();
    assert_eq!(text(&puppet), "1\n2\n3\nfour\n");
}

/// A file that changes between the preview of an undo and its apply.
#[tokio::test]
async fn an_undo_never_overwrites_what_came_after_its_review() {
    let (puppet, id) = rewritten(Some(UndoRetention::default())).await;
    puppet.session.undo(Some(&id)).await.unwrap();
    fs::write(puppet.workspace().join("a.txt"), "three").unwrap();
    let refused = puppet.resolve(Resolution::apply("")).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(text(&puppet), "three");
}

#[tokio::test]
async fn without_originals_there_is_no_undo() {
    let (puppet, id) = rewritten(None).await;
    let refused = puppet.session.undo(Some(&id)).await.unwrap_err();
    assert!(matches!(refused, Error::Tool { .. }), "{refused:?}");
    assert!(!puppet.workspace().join(".airlock/originals").exists());
}

#[tokio::test]
async fn a_session_without_the_tool_has_no_undo() {
    let puppet = Puppet::new().await;
    let refused = puppet.session.undo(None).await.unwrap_err();
    assert!(matches!(refused, Error::UnknownTool { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_review_says_that_an_apply_is_too_large_to_be_undone() {
    for (bytes, is_beyond) in [(99, true), (100, false)] {
        let retention = UndoRetention {
            bytes,
            ..UndoRetention::default()
        };
        let settings = |session: SessionBuilder| {
            session
                .rehearse(Rehearse::Auto)
                .undo_retention(Some(retention))
        };
        let puppet = Puppet::with(settings).await;
        fs::write(puppet.workspace().join("a.txt"), [b'a'; 100]).unwrap();
        let steps = json!([{"do": "fs", "op": "unlink", "path": "a.txt"}]);
        let id = ActionId::from(puppet.push(airlock_tests::durable("Delete", steps)).await);
        let review = puppet.session.review(&id).await.unwrap().unwrap();
        let effects = review.effects.unwrap();
        assert_eq!(effects.beyond_undo, is_beyond);
        let summary = effects.summary().to_string();
        assert_eq!(summary.contains("too large to be undone"), is_beyond);
    }
}
