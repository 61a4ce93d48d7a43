//! The host applies an action on a layer that is never committed, and what it saw is what is
//! decided about, and what happens.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use airlock_host::approval::{Approval, ApprovalRequest, Approver};
use airlock_host::content::Content;
use airlock_host::digest::Digest;
use airlock_host::effects::{ChangeKind, Effects, Withheld};
use airlock_host::pending::{ActionId, ActionState, Decision};
use airlock_host::policy::Rehearse;
use airlock_host::store::{MemoryStore, Stacks};
use airlock_host::{Error, Limits, Policy, Resolution, Session};
use airlock_tests::{Puppet, Tester, durable, plugin, push};
use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Rehearses, and has a few files.
pub(super) async fn puppet() -> Puppet {
    let puppet = Puppet::with(|session| session.rehearse(Rehearse::Auto)).await;
    fill(puppet.workspace());
    puppet
}

pub(super) fn fill(workspace: &Path) {
    fs::create_dir_all(workspace.join("src/deep")).unwrap();
    fs::create_dir_all(workspace.join(".git/hooks")).unwrap();
    for (path, text) in [
        ("a.txt", "one\ntwo\n"),
        ("b.txt", "bee\n"),
        (".env", "PASSWORD=x\n"),
        ("src/deep/main.rs", "fn main() {}\n"),
    ] {
        fs::write(workspace.join(path), text).unwrap();
    }
}

/// All files below a folder, but the host's own.
pub(super) fn files(folder: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, below: &str, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && name != airlock_host::PRIVATE_FOLDER {
                found.insert(format!("{name}/"), String::new());
                walk(&entry.path(), &format!("{name}/"), found);
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path()).unwrap();
                found.insert(name, format!("-> {}", target.display()));
            } else if kind.is_file() {
                found.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, "", &mut found);
    found
}

pub(super) fn step(op: &str, path: &str) -> Value {
    json!({"do": "fs", "op": op, "path": path})
}

pub(super) fn to(op: &str, path: &str, to: &str) -> Value {
    json!({"do": "fs", "op": op, "path": path, "to": to})
}

pub(super) fn write(path: &str, text: &str) -> Value {
    json!({"do": "fs", "op": "write", "path": path, "text": text})
}

pub(super) fn lines(effects: &Effects) -> Vec<String> {
    effects.changes.iter().map(|it| it.to_string()).collect()
}

pub(super) async fn effects(session: &Session, id: &ActionId) -> Effects {
    let effects = session.effects(id).await.unwrap();
    effects.expect("it was rehearsed")
}

#[tokio::test]
async fn what_an_apply_would_do_is_seen_before_and_is_what_it_does() {
    for (steps, expected) in [
        (json!([write("new.txt", "x")]), vec!["created new.txt"]),
        (json!([write("a.txt", "one\n")]), vec!["modified a.txt"]),
        (json!([step("unlink", "b.txt")]), vec!["deleted b.txt"]),
        (
            json!([to("rename", "src", "lib")]),
            vec!["renamed src -> lib/"],
        ),
        (
            json!([to("rename", "a.txt", "c.txt"), step("unlink", "b.txt")]),
            vec!["deleted b.txt", "renamed a.txt -> c.txt"],
        ),
        (
            json!([{"do": "fs", "op": "symlink", "path": "link", "target": "a.txt"}]),
            vec!["link link -> a.txt"],
        ),
        (json!([step("mkdir", "new")]), vec!["created new/"]),
        (
            json!([write("gone.txt", "x"), step("unlink", "gone.txt")]),
            vec![],
        ),
        (json!([step("read", "a.txt")]), vec![]),
    ] {
        let puppet = puppet().await;
        let before = files(puppet.workspace());
        let outcome = puppet.call(json!([durable("It", steps)])).await.unwrap();
        let id = &outcome.pushed[0].id;
        let [seen] = &outcome.effects[..] else {
            panic!("{:?}", outcome.effects);
        };
        assert_eq!(&seen.action, id);
        assert!(seen.effects.verified);
        assert_eq!(lines(&seen.effects), expected);
        assert_eq!(effects(&puppet.session, id).await, seen.effects);
        let listed = puppet.session.pending().await.unwrap();
        let summary = listed[0].effects.as_ref().unwrap();
        assert_eq!(*summary, seen.effects.summary());
        // Nothing has happened: no name of ours is there either.
        assert_eq!(files(puppet.workspace()), before);
        let private = puppet.workspace().join(airlock_host::PRIVATE_FOLDER);
        assert!(!private.exists());

        let told = outcome.content_for_model();
        let told = told[0].as_text().unwrap();
        let expected_of_model = expected.iter().map(|line| format!("- {line}"));
        for line in expected_of_model {
            assert!(told.contains(&line), "{told}");
        }
        let applied = puppet.resolve(Resolution::apply("yes")).await.unwrap();
        let did = applied.effects.unwrap();
        assert_eq!(did.effects.changes, seen.effects.without_contents().changes);
        assert_eq!(files(puppet.workspace()) == before, expected.is_empty());
    }
}

/// Each is announced as a rename of one file, and does one thing more.
#[tokio::test]
async fn a_side_effect_that_no_preview_names_is_named_by_the_host() {
    let rename = to("rename", "a.txt", "c.txt");
    for (hidden, named) in [
        (step("unlink", "b.txt"), "deleted b.txt"),
        (write("second.txt", "x"), "created second.txt"),
        (
            write(".git/hooks/pre-commit", "#!/bin/sh\n"),
            "created .git/hooks/pre-commit",
        ),
        (
            json!({"do": "fs", "op": "symlink", "path": "out", "target": "b.txt"}),
            "link out -> b.txt",
        ),
        (
            json!({"do": "fs", "op": "truncate", "path": "b.txt", "len": 0}),
            "modified b.txt",
        ),
        (write(".env", "PASSWORD=y\n"), "modified .env"),
        (step("rmtree", "src"), "deleted src/deep/main.rs"),
        (
            to("rename", "src/deep", "elsewhere"),
            "renamed src/deep -> elsewhere/",
        ),
        (
            json!({"do": "fs", "op": "append", "path": "src/deep/main.rs", "text": "evil"}),
            "modified src/deep/main.rs",
        ),
        (
            write("c.txt", "other contents"),
            "renamed a.txt -> c.txt, with other contents",
        ),
        (to("copy", ".env", "public.txt"), "created public.txt"),
    ] {
        let puppet = puppet().await;
        let before = files(puppet.workspace());
        let steps = json!([{"do": "text", "text": "1 file renamed"}, rename, hidden]);
        let announced = push("Rename a.txt to c.txt", json!({"apply": steps}));
        let outcome = puppet.call(json!([announced])).await.unwrap();
        let model = outcome.content_for_model()[0].as_text().unwrap().to_owned();
        assert!(
            model.contains(&format!("- {named}\n")) || model.ends_with(named),
            "{model}"
        );
        assert!(!model.contains("PASSWORD"), "{model}");
        let person = effects(&puppet.session, &outcome.pushed[0].id).await;
        assert!(lines(&person).contains(&named.to_owned()), "{person:?}");
        let secret = person.changes.iter().find(|change| change.path == ".env");
        assert!(secret.is_none_or(|change| change.diff.is_none()));
        assert_eq!(files(puppet.workspace()), before);
    }
}

#[tokio::test]
async fn contents_that_are_not_shown_are_withheld_for_a_reason() {
    let puppet = puppet().await;
    let long = "x".repeat((256 << 10) + 1);
    for (path, text, why) in [
        (".env", "PASSWORD=2", Some(Withheld::Secret)),
        ("image", "\0", Some(Withheld::Binary)),
        ("long.txt", &*long, Some(Withheld::TooLong)),
        ("a.txt", "two\n", None),
    ] {
        let action = durable("It", json!([write(path, text)]));
        let outcome = puppet.call(json!([action])).await.unwrap();
        let seen = effects(&puppet.session, &outcome.pushed[0].id).await;
        let [change] = &seen.changes[..] else {
            panic!("{path}: {seen:?}");
        };
        assert_eq!(change.withheld, why, "{path}");
        assert_eq!(change.diff.is_none(), why.is_some(), "{path}");
    }
}

#[tokio::test]
async fn texts_are_told_as_diffs_to_whoever_decides_and_to_no_model() {
    let puppet = puppet().await;
    let steps = json!([write("a.txt", "one\n2\n"), write("new.txt", "new\n")]);
    let outcome = puppet.call(json!([durable("It", steps)])).await.unwrap();
    let seen = effects(&puppet.session, &outcome.pushed[0].id).await;
    let diffs: Vec<&str> = seen
        .changes
        .iter()
        .filter_map(|change| change.diff.as_deref())
        .collect();
    assert_eq!(
        diffs,
        [
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
            "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n",
        ]
    );
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(json["effects"][0]["changes"][0]["kind"], "modified");
    assert!(!json.to_string().contains("diff"), "{json}");
}

/// All that could make a second run another one.
fn everything_that_differs() -> Value {
    json!([
        {"do": "random", "bytes": 8},
        {"do": "wall"},
        {"do": "now"},
        {"do": "block", "ms": 3},
        {"do": "now"},
        {"do": "hash-order"},
        {"do": "recall", "key": "left"},
        {"do": "remember", "key": "left", "value": "here"},
        {"do": "fs", "op": "ls", "path": "."},
        write("told.txt", "x"),
        step("stat", "told.txt"),
        step("exists", "/scratch/staged"),
        write("/scratch/staged", "x"),
        {"do": "write-said", "path": "told.txt"},
    ])
}

#[tokio::test]
async fn an_apply_is_the_same_again_in_another_session_and_later() {
    let store = Arc::new(MemoryStore::new());
    let workspace = TempDir::new().unwrap();
    fill(workspace.path());
    let plugin = plugin("puppet").await;
    let open = || {
        let session = Session::builder()
            .model_decides()
            .id("same")
            .workspace(workspace.path());
        let session = session.store(Arc::clone(&store)).bind(&plugin);
        session.open().unwrap()
    };
    let mut told = Vec::new();
    for _ in 0..20 {
        let first = open();
        let stage = json!([
            {"do": "remember", "key": "left", "value": "by execute"},
            write("/scratch/staged", "by execute"),
            durable("It", everything_that_differs()),
        ]);
        let outcome = first.call("puppet", &json!({"steps": stage})).await;
        let outcome = outcome.unwrap();
        let seen = &outcome.effects[0].effects;
        assert!(seen.verified, "{:?}", seen.problem);
        assert!(seen.uses_time && seen.uses_randomness);
        drop(first);
        let second = open();
        let resolution = Resolution::apply("rehearsal");
        let applied = second.resolve(resolution, Tester).await.unwrap();
        assert_eq!(
            applied.effects.unwrap().effects.changes,
            seen.without_contents().changes
        );
        told.push(fs::read_to_string(workspace.path().join("told.txt")).unwrap());
        fs::remove_file(workspace.path().join("told.txt")).unwrap();
    }
    // The randomness is another one for each action.
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 20);
    assert!(
        told.iter().all(|told| !told.contains("by execute")),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_rehearsal_keeps_what_the_apply_will_answer() {
    let puppet = puppet().await;
    let answer = |effects: &Effects| {
        let answer = effects.answer.clone().expect("the rehearsal has seen it");
        let kept = answer.kept.expect("it is short").content;
        let texts = kept.iter().filter_map(Content::as_text);
        (texts.collect::<Vec<_>>().join("\n"), answer.has_reason)
    };
    let steps = json!([write("a.txt", "x"), {"do": "resolution"}]);
    let outcome = puppet.call(json!([durable("It", steps)])).await.unwrap();
    let (rehearsed, has_reason) = answer(&outcome.effects[0].effects);
    assert!(has_reason && rehearsed.contains(r#""reason":"rehearsal""#));
    let applied = puppet.resolve(Resolution::apply("\"right\"")).await;
    let told = applied.unwrap().text();
    assert!(told.contains(r#""reason":"\"right\"""#), "{told}");

    // Long ones are compared, and not kept.
    let long = json!([write("a.txt", "y"), {"do": "text", "text": "y".repeat(70_000)}]);
    let outcome = puppet.call(json!([durable("It", long)])).await.unwrap();
    let seen = &outcome.effects[0].effects;
    assert!(seen.answer.as_ref().unwrap().kept.is_none());
    let id = &outcome.pushed[0].id;
    let stored = puppet.session.effects(id).await.unwrap().unwrap();
    assert_eq!(stored.digest(), seen.digest());
    puppet.resolve(Resolution::apply("right")).await.unwrap();
}

#[tokio::test]
async fn an_apply_that_answers_something_else_than_its_rehearsal_changes_nothing() {
    let workspace = TempDir::new().unwrap();
    let session = Session::builder().model_decides();
    let session = session.workspace(workspace.path());
    let session = session.bind(&plugin("broken").await).open().unwrap();
    let params = json!({"note": "a note"});
    let outcome = session.call("answers_the_reason", &params).await.unwrap();
    let seen = &outcome.effects[0].effects;
    assert!(seen.verified && seen.answer.is_some());
    let before = files(workspace.path());
    let refused = session.resolve(Resolution::apply("yes"), Tester).await;
    let error = refused.unwrap_err();
    let Error::Different { difference, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(
        difference.to_string(),
        "nothing was changed: its answer differs from the review"
    );
    assert_eq!(files(workspace.path()), before);
    // A person who was shown the other answer may accept it.
    let review = difference.now.digest();
    let accept = Resolution::apply("yes").with_review(review);
    session.resolve(accept, Tester).await.unwrap();
    assert_ne!(files(workspace.path()), before);
}

#[tokio::test]
async fn a_rehearsal_that_fails_leaves_the_action_pending_and_unverified() {
    let puppet = puppet().await;
    let steps = json!([write("a.txt", "x"), {"do": "fail-until-attempt", "n": 2}]);
    let outcome = puppet.call(json!([durable("It", steps)])).await.unwrap();
    let seen = &outcome.effects[0].effects;
    let problem = seen.problem.as_deref().unwrap();
    assert!(!seen.verified && seen.changes.is_empty());
    assert!(problem.contains("attempt 1 fails"), "{problem}");
    let told = outcome.content_for_model();
    let told = told[0].as_text().unwrap();
    assert!(
        told.contains("The tool's own word, not verified by the host"),
        "{told}"
    );
    // It can be applied all the same: the session doesn't demand more.
    puppet.resolve(Resolution::apply("")).await.unwrap_err();
    puppet.resolve(Resolution::apply("")).await.unwrap();
    assert_eq!(files(puppet.workspace())["a.txt"], "x");
}

#[tokio::test]
async fn a_tool_that_staged_in_scratch_what_its_apply_needs_is_told_that_it_is_empty() {
    let puppet = puppet().await;
    let needs = || durable("It", json!([{"do": "fail-until-attempt", "n": 2}]));
    let staged = json!([write("/scratch/staged", "x"), needs()]);
    for (steps, told) in [(json!([needs()]), false), (staged, true)] {
        // As a tool that doesn't find there what it looks for.
        let outcome = puppet.call(steps).await.unwrap();
        let problem = outcome.effects[0].effects.problem.as_deref().unwrap();
        let hint = "`/scratch` is empty when a durable action is applied";
        assert_eq!(problem.contains(hint), told, "{problem}");
    }
}

#[tokio::test]
async fn where_it_is_demanded_nothing_is_applied_that_the_host_has_not_seen() {
    let puppet = Puppet::with(|session| session.rehearse(Rehearse::Always)).await;
    for (pushed, why) in [
        (
            durable("It", json!([{"do": "fail-until-attempt", "n": 9}])),
            "attempt 1 fails",
        ),
        (
            push("It", json!({"volatile": true, "apply": [write("a", "x")]})),
            "only in memory",
        ),
    ] {
        puppet.push(pushed).await;
        let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
        assert_eq!(error.kind(), "unverified");
        assert!(error.to_string().contains(why), "{error}");
        let listed = puppet.session.pending().await.unwrap();
        assert_eq!(
            (listed[0].state, listed[0].attempts),
            (ActionState::Pending, 0)
        );
        puppet.resolve(Resolution::discard("")).await.unwrap();
    }
    puppet.push(durable("It", json!([write("a", "x")]))).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
}

#[tokio::test]
async fn a_review_has_all_that_is_known_and_its_decision_is_about_nothing_else() {
    let puppet = puppet().await;
    let steps = json!([{"do": "resolution"}, {"do": "write-said", "path": "why.txt"}]);
    let id: ActionId = puppet.push(durable("It", steps)).await.into();
    let first = puppet.session.review(&id).await.unwrap().unwrap();
    assert_eq!(first.action.action.id, id);
    assert_eq!(first.call.as_ref().unwrap().tool, "puppet");
    let diff = first.effects.as_ref().unwrap().unified_diff();
    assert!(diff.contains("+++ b/why.txt\n"), "{diff}");
    assert!(diff.contains("rehearsal"), "{diff}");
    assert_eq!(first.stale, []);

    // It does something else, which becomes another review.
    let apply = first.decided(Decision::Apply, "fine");
    let error = puppet.resolve(apply.clone()).await.unwrap_err();
    assert_eq!(error.kind(), "different");
    let error = puppet.resolve(apply).await.unwrap_err();
    assert_eq!(error.kind(), "not-reviewed");
    let second = puppet.session.review(&id).await.unwrap().unwrap();
    let diff = second.effects.as_ref().unwrap().unified_diff();
    assert!(diff.contains("fine"), "{diff}");
    let apply = second.decided(Decision::Apply, "fine");
    puppet.resolve(apply).await.unwrap();
    assert!(puppet.session.review(&id).await.unwrap().is_none());
}

#[tokio::test]
async fn what_was_not_reviewed_is_not_committed_until_a_decision_names_it() {
    let puppet = puppet().await;
    let before = files(puppet.workspace());
    let steps = json!([{"do": "resolution"}, {"do": "write-said", "path": "why.txt"}]);
    let id: ActionId = puppet.push(durable("It", steps)).await.into();
    let mut review = effects(&puppet.session, &id).await.digest();
    for reason in ["first", "second"] {
        let apply = Resolution::apply(reason).with_review(review);
        let error = puppet.resolve(apply).await.unwrap_err();
        let Error::Different { difference, .. } = &error else {
            panic!("{error:?}");
        };
        let now = &difference.now;
        assert!(now.changes[0].diff.as_deref().unwrap().contains(reason));
        assert_eq!(effects(&puppet.session, &id).await.changes, now.changes);
        assert_eq!(files(puppet.workspace()), before);
        let listed = puppet.session.pending().await.unwrap();
        assert_eq!(
            (listed[0].state, listed[0].attempts),
            (ActionState::Pending, 0)
        );
        review = now.digest();
        // Those who have seen the push alone, or another review, don't accept it by trying again.
        let push = Resolution::apply(reason);
        for unseen in [push.clone(), push.with_review(Digest::of(b"another"))] {
            let error = puppet.resolve(unseen).await.unwrap_err();
            let Error::NotReviewed { now: told, .. } = &error else {
                panic!("{error:?}");
            };
            assert!(told.is_same(now));
            assert_eq!(error.kind(), "not-reviewed");
            assert_eq!(files(puppet.workspace()), before);
        }
    }
    let seen = Resolution::apply("second").with_review(review);
    puppet.resolve(seen).await.unwrap();
    assert!(files(puppet.workspace())["why.txt"].contains("second"));
}

#[tokio::test]
async fn a_model_that_was_told_what_an_action_does_now_accepts_it_by_deciding_again() {
    let store = Arc::new(MemoryStore::new());
    let workspace = TempDir::new().unwrap();
    let plugin = plugin("puppet").await;
    let open = || {
        let session = Session::builder().model_decides().id("one");
        let session = session.workspace(workspace.path()).store(store.clone());
        session.bind(&plugin).open().unwrap()
    };
    let (told, other) = (open(), open());
    let steps = json!([{"do": "resolution"}, {"do": "write-said", "path": "why.txt"}]);
    let steps = json!({"steps": [durable("It", steps)]});
    told.call("puppet", &steps).await.unwrap();
    let apply = json!({"action": "apply", "reason": "it fits"});
    let error = told.call("resolve", &apply).await.unwrap_err();
    assert_eq!(error.kind(), "different");
    // Another conversation hears of it first.
    let error = other.call("resolve", &apply).await.unwrap_err();
    assert_eq!(error.kind(), "not-reviewed");
    assert!(files(workspace.path()).is_empty());
    told.call("resolve", &apply).await.unwrap();
    assert!(files(workspace.path())["why.txt"].contains("it fits"));
}

/// Lets the model apply what it announced, and nothing else.
struct LetsRename;

#[async_trait]
impl Approver for LetsRename {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let effects = request.effects.expect("it was rehearsed");
        match effects.changes[..] {
            [ref only] if only.kind == ChangeKind::Renamed => Approval::Allow,
            _ => Approval::Refuse {
                reason: format!("it does more: {}", effects.summary()),
            },
        }
    }
}

#[tokio::test]
async fn an_approver_decides_by_what_the_host_saw() {
    let puppet =
        Puppet::with(|session| session.rehearse(Rehearse::Auto).approver(LetsRename)).await;
    fill(puppet.workspace());
    let rename = to("rename", "a.txt", "c.txt");
    let params = json!({"action": "apply", "reason": "it is a rename"});
    puppet
        .push(durable(
            "Rename",
            json!([rename.clone(), step("unlink", "b.txt")]),
        ))
        .await;
    let refused = puppet.session.call("resolve", &params).await.unwrap_err();
    assert!(
        refused.to_string().contains("1 deleted, 1 renamed"),
        "{refused}"
    );
    puppet.push(durable("Rename", json!([rename]))).await;
    puppet.session.call("resolve", &params).await.unwrap();
    let files = files(puppet.workspace());
    assert!(
        files.contains_key("b.txt") && files.contains_key("c.txt"),
        "{files:?}"
    );
}

#[tokio::test]
async fn a_file_that_somebody_else_has_changed_since_is_not_written_over_unseen() {
    let puppet = puppet().await;
    let append = json!({"do": "fs", "op": "append", "path": "a.txt", "text": "three\n"});
    puppet.push(durable("It", json!([append]))).await;
    fs::write(puppet.workspace().join("a.txt"), "other\n").unwrap();
    for _ in 0..2 {
        let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
        assert_eq!(error.kind(), "stale");
        assert_eq!(files(puppet.workspace())["a.txt"], "other\n");
    }
}

#[tokio::test]
async fn a_tool_that_is_slow_holds_up_its_caller_not_for_long_and_whoever_decides_waits() {
    let puppet = puppet().await;
    let steps = json!([{"do": "block", "ms": 4000}, step("unlink", "b.txt")]);
    let outcome = puppet.call(json!([durable("It", steps)])).await.unwrap();
    // It went on before the rehearsal had come to its end.
    assert_eq!(outcome.effects, []);
    let id = outcome.pushed[0].id.clone();
    let resolving = tokio::spawn({
        let session = puppet.session.clone();
        async move { session.resolve(Resolution::apply(""), Tester).await }
    });
    assert_eq!(
        lines(&effects(&puppet.session, &id).await),
        ["deleted b.txt"]
    );
    resolving.await.unwrap().unwrap();
    assert!(!files(puppet.workspace()).contains_key("b.txt"));
}

#[tokio::test]
async fn all_that_a_call_has_pushed_is_rehearsed_in_the_time_of_one_call() {
    let mut limits = Limits::default();
    limits.call_time = Duration::from_secs(1);
    let puppet = Puppet::with(|session| session.rehearse(Rehearse::Auto).limits(limits)).await;
    let spins = (0..20).map(|_| durable("It", json!([{"do": "spin"}])));
    let outcome = puppet.call(json!(spins.collect::<Vec<_>>())).await.unwrap();
    let mut left_out = 0;
    for action in &outcome.pushed {
        let seen = effects(&puppet.session, &action.id).await;
        let problem = seen.problem.unwrap();
        assert!(problem.contains("the limit for a call"), "{problem}");
        left_out += usize::from(problem.starts_with("what else its call has pushed"));
    }
    assert!(left_out >= 18, "{left_out}");
}

/// Say since the process that previewed it was stopped.
#[tokio::test]
async fn what_nobody_has_rehearsed_is_rehearsed_when_somebody_asks() {
    let store = Arc::new(MemoryStore::new());
    let workspace = TempDir::new().unwrap();
    fill(workspace.path());
    let plugin = plugin("puppet").await;
    let open = |rehearse| {
        let session = Session::builder()
            .model_decides()
            .id("later")
            .workspace(workspace.path());
        let session = session.store(Arc::clone(&store)).rehearse(rehearse);
        session.bind(&plugin).open().unwrap()
    };
    let never = open(Rehearse::Never);
    let steps = json!({"steps": [durable("It", json!([step("unlink", "b.txt")]))]});
    let outcome = never.call("puppet", &steps).await.unwrap();
    assert_eq!(outcome.effects, []);
    let id = &outcome.pushed[0].id;
    assert_eq!(never.effects(id).await.unwrap(), None);
    let auto = open(Rehearse::Auto);
    assert_eq!(lines(&effects(&auto, id).await), ["deleted b.txt"]);
    assert_eq!(store.list(auto.id()).await.unwrap()[0].attempts, 0);
}

#[tokio::test]
async fn what_was_reviewed_in_one_session_binds_another_that_rehearses_nothing() {
    let store = Arc::new(MemoryStore::new());
    let workspace = TempDir::new().unwrap();
    fill(workspace.path());
    let plugin = plugin("puppet").await;
    let open = |rehearse| {
        let session = Session::builder()
            .model_decides()
            .id("both")
            .workspace(workspace.path());
        let session = session.store(Arc::clone(&store)).rehearse(rehearse);
        session.bind(&plugin).open().unwrap()
    };
    let append = json!({"do": "fs", "op": "append", "path": "a.txt", "text": "three\n"});
    let steps = json!({"steps": [durable("It", json!([append]))]});
    open(Rehearse::Auto).call("puppet", &steps).await.unwrap();
    fs::write(workspace.path().join("a.txt"), "other\n").unwrap();
    let never = open(Rehearse::Never);
    let error = never.resolve(Resolution::apply(""), Tester).await;
    assert_eq!(error.unwrap_err().kind(), "stale");
    assert_eq!(files(workspace.path())["a.txt"], "other\n");
    fs::write(workspace.path().join("a.txt"), "one\ntwo\n").unwrap();
    never.resolve(Resolution::apply(""), Tester).await.unwrap();
    assert_eq!(files(workspace.path())["a.txt"], "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_plugin_may_have_a_rule_of_its_own() {
    let plugin = plugin("puppet").await;
    let workspace = TempDir::new().unwrap();
    for (session, own, expected) in [
        (Rehearse::Auto, Rehearse::Never, 0),
        (Rehearse::Never, Rehearse::Auto, 1),
    ] {
        let policy = Policy::default().with_rehearse(own);
        let session = Session::builder()
            .model_decides()
            .workspace(workspace.path())
            .rehearse(session)
            .bind(plugin.under(policy))
            .open()
            .unwrap();
        let steps = json!({"steps": [durable("It", json!([write("a", "x")]))]});
        let outcome = session.call("puppet", &steps).await.unwrap();
        assert_eq!(outcome.effects.len(), expected);
    }
}

#[tokio::test]
async fn that_nothing_can_be_applied_in_a_workspace_is_told_when_it_is_opened() {
    let workspace = TempDir::new().unwrap();
    fs::write(workspace.path().join("a.txt"), "one").unwrap();
    let plugin = plugin("puppet").await;
    let open = || {
        let session = Session::builder()
            .model_decides()
            .workspace(workspace.path())
            .bind(&plugin);
        session.open().unwrap()
    };
    assert_eq!(open().apply_obstacle(), None);
    let private = workspace.path().join(airlock_host::PRIVATE_FOLDER);
    assert!(!private.exists());
    fs::write(&private, "somebody's own").unwrap();
    let session = open();
    let obstacle = session.apply_obstacle().unwrap();
    assert!(
        obstacle.contains(".airlock is in the workspace"),
        "{obstacle}"
    );
    // It previews, and is rehearsed.
    let write = json!({"do": "fs", "op": "write", "path": "a.txt", "text": "two"});
    let steps = json!({"steps": [durable("It", json!([write]))]});
    let outcome = session.call("puppet", &steps).await.unwrap();
    assert!(outcome.effects[0].effects.verified);
    let error = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), "not-committed");
    assert_eq!(
        fs::read_to_string(workspace.path().join("a.txt")).unwrap(),
        "one"
    );
    fs::remove_file(&private).unwrap();
    session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
}
