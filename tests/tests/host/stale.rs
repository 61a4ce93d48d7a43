//! What an action is about has changed since it was previewed: then nothing runs, and its tool can
//! be called again.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use airlock_host::approval::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
use airlock_host::event::{Event, ToolFunction};
use airlock_host::pending::{ActionId, ActionState};
use airlock_host::policy::Rehearse;
use airlock_host::store::{MemoryStore, PendingStore};
use airlock_host::{Error, Limits, Resolution, SessionBuilder};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Puppet, Tester, durable, push};
use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::rehearsing::{effects, files, fill, lines, puppet, step, to, write};

fn append(path: &str) -> Value {
    json!({"do": "fs", "op": "append", "path": path, "text": "more\n"})
}

/// Pushes an action after having read `a.txt`, and lets somebody else change the workspace.
async fn after(puppet: &Puppet, steps: Value, change: impl FnOnce(&Path)) -> Result<(), Error> {
    let read = step("read", "a.txt");
    puppet
        .call(json!([read, durable("It", steps)]))
        .await
        .unwrap();
    change(puppet.workspace());
    puppet.resolve(Resolution::apply("")).await.map(drop)
}

#[tokio::test]
async fn what_is_stale_is_told_of_each_of_many_actions() {
    told_of_each(Arc::new(MemoryStore::new())).await;
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path().join("pending.db")).await;
    told_of_each(Arc::new(store.unwrap())).await;
}

async fn told_of_each(store: impl Into<PendingStore>) {
    let without_rehearsals =
        |session: SessionBuilder| session.store(store).rehearse(Rehearse::Never);
    let puppet = Puppet::with(without_rehearsals).await;
    fill(puppet.workspace());
    for (label, reads) in [("A", "a.txt"), ("B", "b.txt")] {
        let mut steps = vec![step("read", reads)];
        steps.extend((0..150).map(|_| durable(label, json!([write("new", "x")]))));
        puppet.call(Value::from(steps)).await.unwrap();
    }
    fs::write(puppet.workspace().join("a.txt"), "two\n").unwrap();
    let pending = puppet.session.pending().await.unwrap();
    let stale = puppet.session.all_stale_files().await.unwrap();
    assert_eq!((pending.len(), stale.len()), (300, 300));
    for action in pending.iter().map(|stacked| &stacked.action) {
        let told: Vec<_> = stale[&action.id].iter().map(|it| it.to_string()).collect();
        let expected: &[&str] = match &*action.label {
            "A" => &["a.txt has changed"],
            _ => &[],
        };
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn nothing_runs_where_a_file_that_it_is_about_has_changed() {
    let put = |path: &'static str, text: &'static str| {
        move |workspace: &Path| fs::write(workspace.join(path), text).unwrap()
    };
    let make_executable = |workspace: &Path| {
        fs::set_permissions(workspace.join("a.txt"), Permissions::from_mode(0o755)).unwrap();
    };
    // Too long to read.
    let grow = |path: &'static str| {
        move |workspace: &Path| {
            let file = fs::File::options().write(true).open(workspace.join(path));
            file.unwrap().set_len(8 << 40).unwrap();
        }
    };
    let remove =
        |path: &'static str| move |workspace: &Path| fs::remove_file(workspace.join(path)).unwrap();
    let link = |workspace: &Path| {
        fs::remove_file(workspace.join("b.txt")).unwrap();
        std::os::unix::fs::symlink("a.txt", workspace.join("b.txt")).unwrap();
    };
    let appends = || json!([append("b.txt")]);
    let renames = || json!([to("rename", "b.txt", "c.txt")]);
    type Change = Box<dyn Fn(&Path)>;
    let cases: Vec<(Value, Change, &[&str])> = vec![
        // What it has read.
        (
            appends(),
            Box::new(put("a.txt", "two\n")),
            &["a.txt has changed"],
        ),
        (appends(), Box::new(make_executable), &["a.txt has changed"]),
        (appends(), Box::new(grow("a.txt")), &["a.txt has changed"]),
        (appends(), Box::new(remove("a.txt")), &["a.txt is gone"]),
        // What it changes.
        (
            appends(),
            Box::new(put("b.txt", "two\n")),
            &["b.txt has changed"],
        ),
        (appends(), Box::new(grow("b.txt")), &["b.txt has changed"]),
        (appends(), Box::new(remove("b.txt")), &["b.txt is gone"]),
        (appends(), Box::new(link), &["b.txt has changed"]),
        (
            renames(),
            Box::new(put("c.txt", "")),
            &["c.txt is there now"],
        ),
        (
            json!([write("new", "x")]),
            Box::new(put("new", "")),
            &["new is there now"],
        ),
        // The same again, and what it has nothing to do with.
        (appends(), Box::new(put("a.txt", "one\ntwo\n")), &[]),
        (appends(), Box::new(put("b.txt", "bee\n")), &[]),
        (appends(), Box::new(put("other", "")), &[]),
        (renames(), Box::new(remove("src/deep/main.rs")), &[]),
    ];
    for mode in [Rehearse::Auto, Rehearse::Never] {
        for (steps, change, expected) in &cases {
            let calls: Arc<Mutex<Vec<ToolFunction>>> = Arc::default();
            let noted = Arc::clone(&calls);
            let puppet = Puppet::with(|session| {
                session.rehearse(mode).observer(move |_, event| {
                    if let Event::Began { function } = event {
                        noted.lock().unwrap().push(*function);
                    }
                })
            })
            .await;
            fill(puppet.workspace());
            let resolved = after(&puppet, steps.clone(), change).await;
            let calls = std::mem::take(&mut *calls.lock().unwrap());
            let was_run = calls.contains(&ToolFunction::Apply);
            // Of what it would change nothing is known where nobody has rehearsed it.
            let is_read = expected.iter().any(|line| line.starts_with("a.txt"));
            if expected.is_empty() || (mode == Rehearse::Never && !is_read) {
                assert!(was_run, "{steps}: {resolved:?}");
                continue;
            }
            let Err(Error::Stale { files, .. }) = &resolved else {
                panic!("{steps}: {resolved:?}");
            };
            let told: Vec<_> = files.iter().map(|it| it.to_string()).collect();
            assert_eq!(told, *expected);
            assert!(!was_run, "{calls:?}");
            let listed = puppet.session.pending().await.unwrap();
            let state = (listed[0].state, listed[0].attempts);
            assert_eq!(state, (ActionState::Pending, 0));
            puppet.resolve(Resolution::discard("")).await.unwrap();
        }
    }
}

#[tokio::test]
async fn what_depends_on_a_listing_that_has_changed_is_shown_again_before_it_happens() {
    let puppet = puppet().await;
    let steps = json!([step("ls", "."), {"do": "write-said", "path": "names.txt"}]);
    let id: ActionId = puppet.push(durable("It", steps)).await.into();
    fs::write(puppet.workspace().join("one-more"), "").unwrap();
    let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
    assert_eq!(error.kind(), "stale");
    let Error::Different { difference, .. } = &error else {
        panic!("{error:?}");
    };
    let diff = |effects: &airlock_host::effects::Effects| effects.changes[0].diff.clone().unwrap();
    assert!(!diff(&difference.reviewed).contains("one-more"));
    assert!(diff(&difference.now).contains("one-more"));
    assert!(!files(puppet.workspace()).contains_key("names.txt"));
    assert_eq!(
        effects(&puppet.session, &id).await.changes,
        difference.now.changes
    );
    let unseen = puppet.resolve(Resolution::apply("")).await.unwrap_err();
    assert_eq!(unseen.kind(), "not-reviewed");
    assert!(!files(puppet.workspace()).contains_key("names.txt"));
    let seen = Resolution::apply("").with_review(difference.now.digest());
    puppet.resolve(seen).await.unwrap();
    assert!(files(puppet.workspace())["names.txt"].contains("one-more"));
}

/// Of five actions each lists the folder, and changes a file of its own; all were previewed before
/// any was applied.
#[tokio::test]
async fn five_actions_over_one_folder_are_applied_one_after_another() {
    let work = |n: u8| {
        durable(
            "It",
            json!([
                step("ls", "."),
                append(&format!("{n}")),
                write(&format!("new-{n}"), "x")
            ]),
        )
    };
    let read = |n: u8| step("read", &n.to_string());
    let apart: Vec<Value> = (0..5)
        .map(|n| json!([step("ls", "."), read(n), work(n)]))
        .collect();
    let reads = (0..5).map(read);
    let together: Vec<Value> = reads.chain((0..5).map(work)).collect();
    for calls in [apart, vec![Value::Array(together)]] {
        let puppet = puppet().await;
        for n in 0..5 {
            fs::write(puppet.workspace().join(n.to_string()), "first\n").unwrap();
        }
        for call in calls {
            puppet.call(call).await.unwrap();
        }
        for _ in 0..5 {
            puppet.resolve(Resolution::apply("")).await.unwrap();
        }
        let files = files(puppet.workspace());
        for n in 0..5 {
            assert_eq!(files[&n.to_string()], "first\nmore\n");
            assert_eq!(files[&format!("new-{n}")], "x");
        }
    }
}

#[tokio::test]
async fn what_is_stale_is_previewed_again_and_takes_the_place_of_what_was_pending() {
    let puppet = puppet().await;
    let other: ActionId = puppet.push(durable("Other", json!([]))).await.into();
    let steps = json!([
        step("read", "a.txt"),
        durable("First", json!([append("a.txt")])),
        durable("Second", json!([step("unlink", "b.txt")])),
        push("Third", json!({"volatile": true})),
    ]);
    let outcome = puppet.call(steps).await.unwrap();
    let [third, second, first] = &outcome.pushed[..] else {
        panic!("{outcome:?}");
    };
    // What was decided meanwhile stays so.
    let discard = Resolution::discard("").with_id(third.id.clone());
    puppet.resolve(discard).await.unwrap();
    fs::write(puppet.workspace().join("a.txt"), "changed\n").unwrap();
    puppet.resolve(Resolution::apply("")).await.unwrap_err();

    let refreshed = puppet.session.refresh(&first.id, Tester).await.unwrap();
    let labels: Vec<_> = refreshed
        .pushed
        .iter()
        .map(|it| it.label.as_str())
        .collect();
    assert_eq!(labels, ["Third", "Second", "First"]);
    assert!(refreshed.text().contains("changed"), "{}", refreshed.text());
    let ids: Vec<_> = refreshed.pushed.iter().map(|it| it.id.clone()).collect();
    let pending = puppet.session.pending().await.unwrap();
    let pending: Vec<_> = pending.iter().map(|it| it.action.id.clone()).collect();
    assert_eq!(pending, [&ids[..], &[other]].concat());
    for old in [&second.id, &first.id, &third.id] {
        let error = puppet
            .resolve(Resolution::apply("").with_id(old.clone()))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), "already-resolved");
        let error = puppet.session.refresh(old, Tester).await.unwrap_err();
        assert_eq!(error.kind(), "already-resolved");
    }
    for _ in 0..3 {
        puppet.resolve(Resolution::apply("")).await.unwrap();
    }
    let files = files(puppet.workspace());
    assert_eq!(files["a.txt"], "changed\nmore\n");
    assert!(!files.contains_key("b.txt"));
}

#[tokio::test]
async fn a_tool_that_fails_when_it_is_called_again_leaves_everything_as_it_was() {
    let puppet = puppet().await;
    let steps = json!([
        step("read", "a.txt"),
        durable("It", json!([step("unlink", "b.txt")])),
    ]);
    let id: ActionId = puppet.call(steps).await.unwrap().pushed[0].id.clone();
    let too_long = "x".repeat(Limits::default().result_bytes);
    fs::write(puppet.workspace().join("a.txt"), too_long).unwrap();
    let error = puppet.session.refresh(&id, Tester).await.unwrap_err();
    assert_eq!(error.kind(), "limit");
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[0].action.id, id);
    assert_eq!(
        lines(&effects(&puppet.session, &id).await),
        ["deleted b.txt"]
    );
}

/// Sees what an apply has done, and lets only deletions happen.
#[derive(Default)]
struct Confirms(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Approver for Confirms {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Allow
    }

    async fn confirm(&self, request: &ConfirmRequest<'_>) -> Confirmation {
        let told = lines(request.effects);
        let is_deletion = told.iter().all(|line| line.starts_with("deleted"));
        self.0.lock().unwrap().extend(told);
        if is_deletion {
            Confirmation::Commit
        } else {
            Confirmation::Drop {
                reason: "it is no deletion".to_owned(),
            }
        }
    }
}

#[tokio::test]
async fn what_the_host_has_not_seen_before_is_confirmed_between_the_apply_and_the_commit() {
    let volatile = |apply: Value| push("It", json!({"volatile": true, "apply": apply}));
    let kept = |apply: Value| durable("It", apply);
    let deletes = || json!([step("unlink", "b.txt")]);
    let writes = || json!([write("a.txt", "x")]);
    for (mode, pushed, asked, applied) in [
        (
            Rehearse::Never,
            kept(deletes()),
            &["deleted b.txt"][..],
            true,
        ),
        (Rehearse::Never, kept(writes()), &["modified a.txt"], false),
        (
            Rehearse::Auto,
            volatile(writes()),
            &["modified a.txt"],
            false,
        ),
        // There is nothing to ask about.
        (Rehearse::Auto, kept(writes()), &[], true),
        (Rehearse::Never, kept(json!([])), &[], true),
    ] {
        let confirms = Confirms::default();
        let told = Arc::clone(&confirms.0);
        let puppet = Puppet::with(|session| session.rehearse(mode).approver(confirms)).await;
        fill(puppet.workspace());
        let before = files(puppet.workspace());
        puppet.push(pushed.clone()).await;
        let resolved = puppet.resolve(Resolution::apply("")).await;
        assert_eq!(*told.lock().unwrap(), asked, "{pushed}");
        let pending = puppet.session.pending().await.unwrap();
        if applied {
            resolved.unwrap();
            assert_eq!(pending.len(), 0);
            continue;
        }
        let error = resolved.unwrap_err();
        assert_eq!(error.kind(), "refused");
        assert!(error.to_string().contains("it is no deletion"), "{error}");
        assert_eq!(files(puppet.workspace()), before);
        let state = (pending[0].state, pending[0].attempts);
        assert_eq!(state, (ActionState::Pending, 0));
    }
}

/// Says, with what it sees, that nothing may be committed any more.
#[derive(Default)]
struct ChangesItsMind(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Approver for ChangesItsMind {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Allow
    }

    async fn recheck(&self, request: &ConfirmRequest<'_>) -> Confirmation {
        self.0.lock().unwrap().extend(lines(request.effects));
        Confirmation::Drop {
            reason: "there is a link to it by now".to_owned(),
        }
    }
}

#[tokio::test]
async fn what_was_decided_is_judged_once_more_right_before_the_commit() {
    let mind = ChangesItsMind::default();
    let told = Arc::clone(&mind.0);
    let puppet = Puppet::with(|session| session.rehearse(Rehearse::Auto).approver(mind)).await;
    fill(puppet.workspace());
    let before = files(puppet.workspace());
    puppet
        .push(durable("It", json!([write("a.txt", "x")])))
        .await;
    let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
    assert_eq!(error.kind(), "refused");
    assert!(error.to_string().contains("a link to it by now"), "{error}");
    assert_eq!(*told.lock().unwrap(), ["modified a.txt"]);
    assert_eq!(files(puppet.workspace()), before);
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[0].state, ActionState::Pending);
}
