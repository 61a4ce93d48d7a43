//! Several actions are reviewed as one and applied in one commit, or not at all.

use std::fs;
use std::sync::Arc;

use airlock_host::effects::ChangeKind;
use airlock_host::native::Undo;
use airlock_host::pending::{ActionId, JointReview, StackedAction, Together};
use airlock_host::policy::Rehearse;
use airlock_host::store::MemoryStore;
use airlock_host::{Error, Policy, Resolution, Session, UndoRetention};
use airlock_tests::{Puppet, Tester, durable, plugin, push};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rehearsing::{files, step, to, write};

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// A puppet in a folder with a few files, where applies can be undone.
async fn puppet() -> Puppet {
    let settings = |session: airlock_host::SessionBuilder| {
        let session = session.bind(&Undo::producer()).rehearse(Rehearse::Auto);
        session.undo_retention(Some(UndoRetention::default()))
    };
    let puppet = Puppet::with(settings).await;
    for (name, text) in [("a.txt", "a\n"), ("b.txt", "b\n"), ("lines", LINES)] {
        fs::write(puppet.workspace().join(name), text).unwrap();
    }
    puppet
}

fn edit(path: &str, find: &str, text: &str) -> Value {
    json!({"do": "fs", "op": "replace", "path": path, "find": find, "text": text})
}

/// Returns all pending actions in the order in which they were pushed.
async fn waiting(session: &Session) -> Vec<StackedAction> {
    let mut pending = session.pending().await.unwrap();
    pending.reverse();
    pending
}

/// Reviews all that is pending as one.
async fn reviewed(puppet: &Puppet) -> JointReview {
    let waiting = waiting(&puppet.session).await;
    match puppet.session.review_together(&waiting).await.unwrap() {
        Together::Reviewed(review) => *review,
        Together::Apart { action, reason } => panic!("{action}: {reason}"),
    }
}

#[tokio::test]
async fn actions_are_applied_in_the_order_of_their_pushes_in_one_commit() {
    let puppet = puppet().await;
    let before = files(puppet.workspace());
    let calls = [
        durable("One", json!([step("mkdir", "new"), write("new/x", "x\n")])),
        durable(
            "Two",
            json!([to("rename", "a.txt", "c.txt"), edit("lines", "2", "two")]),
        ),
        durable(
            "Three",
            json!([step("unlink", "b.txt"), edit("lines", "8", "eight")]),
        ),
    ];
    for push in calls {
        puppet.push(push).await;
    }
    let review = reviewed(&puppet).await;
    let labels = review.actions.iter().map(|it| &*it.action.label);
    assert_eq!(labels.collect::<Vec<_>>(), ["One", "Two", "Three"]);
    let changes = review.effects.changes.iter();
    let changes: Vec<_> = changes.map(|it| (it.kind, &*it.path)).collect();
    let expected = [
        (ChangeKind::Deleted, "b.txt"),
        (ChangeKind::Renamed, "c.txt"),
        (ChangeKind::Modified, "lines"),
        (ChangeKind::Created, "new"),
        (ChangeKind::Created, "new/x"),
    ];
    assert_eq!(changes, expected);
    assert_eq!(review.effects.changes[2].hunks().len(), 2);
    assert_eq!(
        files(puppet.workspace()),
        before,
        "a review changes nothing"
    );

    let applying = review.apply("all of it", Tester);
    let outcomes = applying.await.unwrap();
    let ids = outcomes
        .iter()
        .map(|it| it.action.as_ref().unwrap().id.clone());
    let ids: Vec<ActionId> = ids.collect();
    assert!(ids.iter().eq(review.actions.iter().map(|it| &it.action.id)));
    let after = files(puppet.workspace());
    let lines = LINES.replace('2', "two").replace('8', "eight");
    assert_eq!(after["lines"], lines);
    assert_eq!(after["c.txt"], "a\n");
    assert!(!after.contains_key("b.txt") && after.contains_key("new/x"));
    assert!(waiting(&puppet.session).await.is_empty());
    assert!(puppet.session.recover().await.unwrap().is_empty());

    // The commit is one, whatever names it.
    for (at, id) in ids.iter().map(Some).chain([None]).enumerate() {
        let undone = puppet.session.undo(id).await.unwrap();
        assert_eq!(undone.pushed[0].label, "Undo: One and 2 more");
        let undo = Resolution::apply("").with_id(undone.pushed[0].id.clone());
        let decision = if at < 3 {
            Resolution::discard("").with_id(undone.pushed[0].id.clone())
        } else {
            undo
        };
        puppet.resolve(decision).await.unwrap();
    }
    assert_eq!(files(puppet.workspace()), before);
}

#[tokio::test]
async fn actions_that_get_in_each_others_way_are_not_applied_together() {
    let check = async |calls: Value, label: &str, says: &str| {
        let puppet = puppet().await;
        let before = files(puppet.workspace());
        for call in calls.as_array().unwrap() {
            puppet.call(call.clone()).await.unwrap();
        }
        let waiting = waiting(&puppet.session).await;
        match puppet.session.review_together(&waiting).await.unwrap() {
            Together::Apart { action, reason } => {
                assert_eq!((&*action.label, &*reason), (label, says));
            }
            Together::Reviewed(review) => panic!("{says}: {:#?}", review.effects),
        }
        assert_eq!(files(puppet.workspace()), before);
    };
    let one = durable("One", json!([edit("lines", "5", "five")]));
    let read = |path: &str| step("read", path);
    check(
        json!([[one], [durable("Two", json!([edit("lines", "6", "six")]))]]),
        "Two",
        r#"its change of lines can't be combined with that of "One""#,
    )
    .await;
    check(
        json!([[one], [durable("Two", json!([write("lines", LINES)]))]]),
        "One",
        "together with the others, it would change lines differently from its preview",
    )
    .await;
    check(
        json!([[one], [durable("Two", json!([step("unlink", "lines")]))]]),
        "Two",
        r#"its change of lines can't be combined with that of "One""#,
    )
    .await;
    check(
        json!([
            [one],
            [read("lines"), durable("Two", json!([write("x", "")]))]
        ]),
        "Two",
        r#"its preview read lines, which "One" changes"#,
    )
    .await;
    let rename = durable("One", json!([to("rename", "a.txt", "c.txt")]));
    check(
        json!([
            [rename],
            [read("a.txt"), durable("Two", json!([write("x", "")]))]
        ]),
        "Two",
        r#"its preview read a.txt, which "One" changes"#,
    )
    .await;
    let gone = "together with the others, it would change x differently from its preview";
    check(
        json!([
            [durable("One", json!([step("unlink", "lines")]))],
            [durable("Two", json!([to("rename", "lines", "x")]))]
        ]),
        "Two",
        gone,
    )
    .await;
    check(
        json!([
            [one],
            [push(
                "Two",
                json!({"volatile": true, "apply": [write("x", "")]})
            )]
        ]),
        "Two",
        "its tool keeps the preview only in memory",
    )
    .await;
    check(
        json!([
            [durable("One", json!([{"do": "failed", "message": "no"}]))],
            [one]
        ]),
        "One",
        "its effects couldn't be verified",
    )
    .await;
}

#[tokio::test]
async fn actions_of_one_call_may_build_on_one_another() {
    let puppet = puppet().await;
    let pushes = json!([
        durable(
            "Write",
            json!([write("lines", "new\n"), write("a.txt", "other\n")])
        ),
        durable(
            "Write again",
            json!([write("lines", LINES), write("x", "x\n")])
        ),
    ]);
    puppet.call(pushes).await.unwrap();
    let review = reviewed(&puppet).await;
    // A change that the second one takes back is not shown.
    let changes = review.effects.changes.iter().map(|it| &*it.path);
    assert_eq!(changes.collect::<Vec<_>>(), ["a.txt", "x"]);
    let applying = review.apply("", Tester);
    applying.await.unwrap();
    let after = files(puppet.workspace());
    assert_eq!((&*after["lines"], &*after["a.txt"]), (LINES, "other\n"));

    // The second one fails without the first one.
    let pushes = json!([
        durable("Folder", json!([step("mkdir", "new")])),
        durable("File", json!([write("new/x", "x\n"), write("y", "y\n")])),
    ]);
    puppet.call(pushes).await.unwrap();
    let review = reviewed(&puppet).await;
    assert_eq!(review.effects.changes.len(), 3);
    let applying = review.apply("", Tester);
    let outcomes = applying.await.unwrap();
    let shares = outcomes.iter().map(|it| {
        let effects = &it.effects.as_ref().unwrap().effects;
        let paths = effects.changes.iter().map(|it| &*it.path);
        paths.collect::<Vec<_>>()
    });
    assert!(shares.eq([vec!["new"], vec!["new/x", "y"]]));
}

#[tokio::test]
async fn where_one_of_them_can_not_be_applied_none_is_and_all_stay_in_their_order() {
    let check = async |is_discarded: bool, kind: &str, left: &[&str]| {
        let puppet = puppet().await;
        puppet
            .push(durable("One", json!([write("a.txt", "A\n")])))
            .await;
        puppet
            .push(durable("Two", json!([write("b.txt", "B\n")])))
            .await;
        puppet
            .push(durable("Three", json!([write("c.txt", "C\n")])))
            .await;
        let review = reviewed(&puppet).await;
        if is_discarded {
            let id = review.actions[1].action.id.clone();
            let discard = Resolution::discard("").with_id(id);
            puppet.resolve(discard).await.unwrap();
        } else {
            fs::write(puppet.workspace().join("b.txt"), "changed\n").unwrap();
        }
        let before = files(puppet.workspace());
        let applying = review.apply("", Tester);
        let error = applying.await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(files(puppet.workspace()), before);
        let waiting = waiting(&puppet.session).await;
        let labels = waiting.iter().map(|it| &*it.action.label);
        assert_eq!(labels.collect::<Vec<_>>(), left);
        assert!(waiting.iter().all(|it| it.attempts == 0));
    };
    check(false, "stale", &["One", "Two", "Three"]).await;
    check(true, "already-resolved", &["One", "Three"]).await;
}

#[tokio::test]
async fn time_of_its_own_keeps_an_action_apart() {
    let plugin = plugin("puppet").await;
    let workspace = tempfile::tempdir().unwrap();
    let session = Session::builder()
        .model_decides()
        .workspace(workspace.path());
    let session = session.bind(plugin.under(Policy::default().with_real_time()));
    let session = session.open().unwrap();
    for label in ["One", "Two"] {
        let push = durable(label, json!([write(label, "")]));
        session
            .call("puppet", &json!({ "steps": [push] }))
            .await
            .unwrap();
    }
    let waiting = waiting(&session).await;
    let together = session.review_together(&waiting).await.unwrap();
    let Together::Apart { action, reason } = together else {
        panic!("{together:#?}");
    };
    assert_eq!(&*action.label, "One");
    assert_eq!(reason, "its tool was granted real time or fresh randomness");
}

#[tokio::test]
async fn nothing_is_applied_that_was_not_in_the_review() {
    let puppet = puppet().await;
    puppet
        .push(durable("One", json!([write("a.txt", "A\n")])))
        .await;
    puppet
        .push(durable("Two", json!([write("b.txt", "B\n")])))
        .await;
    let mut review = reviewed(&puppet).await;
    review.effects.changes.pop();
    let error = review.apply("", Tester).await.unwrap_err();
    assert!(matches!(error, Error::Different { .. }), "{error}");
    assert_eq!(files(puppet.workspace())["a.txt"], "a\n");
    assert_eq!(waiting(&puppet.session).await.len(), 2);
}

#[tokio::test]
async fn sessions_of_one_workspace_are_committed_together_and_those_of_others_are_not() {
    let (plugin, store) = (plugin("puppet").await, Arc::new(MemoryStore::new()));
    let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let open = |folder: &TempDir| {
        let session = Session::builder().model_decides().workspace(folder.path());
        let session = session.store(Arc::clone(&store)).bind(&plugin);
        session
            .undo_retention(Some(UndoRetention::default()))
            .open()
    };
    let sessions = [open(&here), open(&here), open(&there)].map(Result::unwrap);
    for (session, file) in sessions.iter().zip(["a", "b", "c"]) {
        let push = durable(file, json!([write(file, file)]));
        let params = json!({ "steps": [push] });
        session.call("puppet", &params).await.unwrap();
    }
    let mut waiting = Vec::new();
    for session in &sessions {
        let pending = session.pending().await.unwrap();
        waiting.push((session.clone(), pending[0].clone()));
    }

    match JointReview::of(waiting.clone()).await.unwrap() {
        Together::Apart { action, reason } => {
            assert_eq!(&*action.label, "c");
            assert_eq!(reason, "its session is in another workspace");
        }
        Together::Reviewed(review) => panic!("{:#?}", review.effects),
    }
    waiting.pop();
    // An action that is resolved since the review keeps all of them back.
    let Together::Reviewed(review) = JointReview::of(waiting.clone()).await.unwrap() else {
        panic!("they are in one workspace");
    };
    let discard = Resolution::discard("").with_id(waiting[1].1.action.id.clone());
    sessions[1].resolve(discard, Tester).await.unwrap();
    let error = review.apply("", Tester).await.unwrap_err();
    assert_eq!(error.kind(), "already-resolved", "{error}");
    assert!(files(here.path()).is_empty());
    assert_eq!(sessions[0].pending().await.unwrap().len(), 1);

    let params = json!({ "steps": [durable("b", json!([write("b", "b")]))] });
    sessions[1].call("puppet", &params).await.unwrap();
    waiting[1].1 = sessions[1].pending().await.unwrap()[0].clone();
    let Together::Reviewed(review) = JointReview::of(waiting).await.unwrap() else {
        panic!("they are in one workspace");
    };
    let outcomes = review.apply("", Tester).await.unwrap();
    assert_eq!(outcomes.len(), 2);
    assert!(files(here.path()).into_keys().eq(["a", "b"]));
    assert!(files(there.path()).is_empty());
    let originals = fs::read_dir(here.path().join(".airlock/originals"));
    assert_eq!(originals.unwrap().count(), 1, "one commit");
    for (session, left) in sessions.iter().zip([0, 0, 1]) {
        assert_eq!(session.pending().await.unwrap().len(), left);
        assert!(session.recover().await.unwrap().is_empty());
    }
}
