//! An apply does what was previewed, or nothing.

use airlock_tests::Tester;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use airlock_host::policy::Rehearse;
use airlock_host::store::MemoryStore;
use airlock_host::{Resolution, SessionBuilder};
use serde_json::json;

use crate::tree::Tree;

#[tokio::test]
async fn an_apply_tells_what_it_did() {
    let tree = Tree::with(&[("a.js", "old(1); old(2)"), ("b.js", "old(3)")]);
    tree.edit("old($A)", "new($A)").await.unwrap();
    let applied = tree.apply().await.unwrap();
    assert_eq!(
        applied.text(),
        "Made 3 replacements in 2 files. Reason: it is right\n\na.js: 2\nb.js: 1"
    );
    assert_eq!(
        serde_json::to_value(&applied.details).unwrap(),
        json!({
            "action": "apply", "reason": "it is right", "sourceToolName": "ast_edit",
            "label": "AST Edit: 3 replacements in 2 files",
            "sourceResultDetails": {
                "dryRun": false, "replacements": 3, "fileCount": 2,
                "files": [{"path": "a.js", "replacements": 2}, {"path": "b.js", "replacements": 1}],
            },
        })
    );
    let names: Vec<String> = tree.files().into_keys().collect();
    assert_eq!(names, ["a.js", "b.js"], "nothing is left beside them");
    assert_eq!(tree.read("a.js"), "new(1); new(2)");
}

#[tokio::test]
async fn a_discard_changes_nothing_and_says_so() {
    let tree = Tree::with(&[("a.js", "old(1)")]);
    tree.edit("old($A)", "new($A)").await.unwrap();
    let discarded = tree
        .session
        .resolve(Resolution::discard("no"), Tester)
        .await
        .unwrap();
    assert_eq!(
        discarded.text(),
        "Discarded: AST Edit: 1 replacement in 1 file. Reason: no"
    );
    assert_eq!(tree.read("a.js"), "old(1)");
}

/// What happens to the files after the preview, and what the error says of it: before anything ran,
/// or by the tool itself, which has tried.
async fn check(happens: impl FnOnce(&Tree), named: &str, tried: u32) {
    let tree = Tree::with(&[
        ("a.js", "old(1)"),
        ("b.js", "old(2)"),
        ("sub/c.js", "other()"),
    ]);
    tree.edit("old($A)", "new($A)").await.unwrap();
    happens(&tree);
    let before = tree.files();
    let error = tree.apply().await.unwrap_err();
    let nothing = match tried {
        0 => "nothing was applied: the preview is stale, since",
        _ => "nothing was written, since the preview is stale:",
    };
    assert_eq!(
        error.to_string(),
        format!("{nothing} {named}; discard it and preview again")
    );
    assert_eq!(tree.files(), before);
    let pending = tree.session.pending().await.unwrap();
    assert_eq!((pending.len(), pending[0].attempts), (1, tried), "{named}");
}

#[tokio::test]
async fn a_stale_preview_is_refused_by_the_files_names_and_nothing_is_written() {
    check(|tree| tree.write("b.js", "old(2) "), "b.js has changed", 0).await;
    check(|tree| tree.write("a.js", "new(1)"), "a.js has changed", 0).await;
    check(
        |tree| fs::remove_file(tree.path("b.js")).unwrap(),
        "b.js is gone",
        0,
    )
    .await;
    check(
        |tree| {
            tree.write("0.js", "old(0)");
            tree.write("a.js", "");
            fs::remove_file(tree.path("b.js")).unwrap();
        },
        "a.js has changed, b.js is gone",
        0,
    )
    .await;
    check(
        |tree| {
            tree.write("sub/c.js", "old(3)");
            tree.write("sub/d.js", "old(3)");
        },
        "sub/c.js has new matches, sub/d.js has new matches",
        1,
    )
    .await;
}

/// Nobody has looked at what it changes: then the tool itself compares.
#[tokio::test]
async fn an_apply_that_was_not_reviewed_is_compared_with_the_preview_too() {
    let never = |session: SessionBuilder| session.rehearse(Rehearse::Never);
    let tree = Tree::open(&[("a.js", "old(1)"), ("b.js", "old(2)")], never);
    tree.edit("old($A)", "new($A)").await.unwrap();
    // Whoever made it so was somebody else.
    tree.write("a.js", "new(1)");
    fs::remove_file(tree.path("b.js")).unwrap();
    let error = tree.apply().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing was written, since the preview is stale: a.js has changed, b.js no longer exists; discard it and preview again"
    );
    assert_eq!(tree.read("a.js"), "new(1)");
}

#[tokio::test]
async fn what_it_would_change_is_verified_by_the_host_without_another_run() {
    let tree = Tree::with(&[
        ("a.js", "old(1)\n"),
        ("sub/b.js", "old(2)\n"),
        ("c.js", "other()\n"),
    ]);
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let effects = &previewed.effects[0].effects;
    assert!(effects.verified, "{effects:?}");
    let paths: Vec<&str> = effects.changes.iter().map(|it| &*it.path).collect();
    assert_eq!(paths, ["a.js", "sub/b.js"]);
    let diff = effects.changes[0].diff.as_deref().unwrap_or_default();
    assert!(diff.contains("-old(1)\n+new(1)\n"), "{diff}");
    let applied = tree.apply().await.unwrap();
    let done = applied.effects.unwrap().effects;
    assert!(done.is_same(effects), "{done:?}");
}

#[tokio::test]
async fn other_files_may_change_meanwhile() {
    let tree = Tree::with(&[("a.js", "old(1)"), ("b.js", "other()")]);
    tree.edit("old($A)", "new($A)").await.unwrap();
    tree.write("b.js", "another()");
    tree.write("c.txt", "old(1)");
    tree.apply().await.unwrap();
    assert_eq!(tree.read("a.js"), "new(1)");
}

#[tokio::test]
async fn what_lies_behind_the_limit_may_change_meanwhile_and_what_lies_before_may_not() {
    let limited = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}], "limit": 1});
    let files = [("b.js", "old(1); old(2)"), ("c.js", "old(3)")];
    let tree = Tree::with(&files);
    tree.call(limited.clone()).await.unwrap();
    tree.write("c.js", "old(4)");
    tree.apply().await.unwrap();
    assert_eq!(tree.read("b.js"), "new(1); old(2)");

    let tree = Tree::with(&files);
    tree.call(limited).await.unwrap();
    tree.write("a.js", "old(0)");
    let error = tree.apply().await.unwrap_err().to_string();
    assert!(error.contains("a.js has new matches"), "{error}");
}

#[tokio::test]
async fn an_apply_that_was_cut_off_has_changed_nothing_and_is_found_to_have() {
    let store = Arc::new(MemoryStore::new());
    let files: Vec<String> = (0..10).map(|file| format!("f{file}.py")).collect();
    // `f(1)` becomes what matches again.
    let op = json!({"ops": [{"pat": "f($A)", "out": "f(f($A))"}]});
    let tree = Tree::open(&[], |session| session.store(store.clone()));
    for file in &files {
        tree.write(file, "f(1)\n");
    }
    tree.call(op).await.unwrap();
    interrupt(&tree, &store).await;
    let again = tree.again(&store);
    let recovered = again.recover().await.unwrap();
    assert!(
        matches!(&recovered[..], [it] if !it.applied),
        "{recovered:?}"
    );
    again
        .resolve(Resolution::apply("go on"), Tester)
        .await
        .unwrap();
    for file in &files {
        assert_eq!(tree.read(file), "f(f(1))\n", "{file}");
    }
}

/// Claims the action as an apply does, and goes away.
async fn interrupt(tree: &Tree, store: &MemoryStore) {
    use airlock_host::pending::ActionState;
    use airlock_host::store::{Claim, Claims, Stacks};
    let claim = store
        .claim(tree.session.id(), &Resolution::apply(""), &Tester.into())
        .await;
    let Claim::Claimed(claimed) = claim.unwrap() else {
        panic!("it is pending");
    };
    store.abandon(claimed.lease);
    // Not by the session, which would find out what became of it.
    let pending = store.list(tree.session.id()).await.unwrap();
    assert_eq!(pending[0].state, ActionState::Interrupted);
}

#[tokio::test]
async fn where_one_file_can_not_be_written_none_is() {
    let tree = Tree::with(&[("a.js", "old(1)"), ("locked/b.js", "old(2)")]);
    tree.edit("old($A)", "new($A)").await.unwrap();
    let locked = tree.path("locked");
    // Nothing keeps root from writing: there it is a directory of another kind.
    if is_root() {
        fs::remove_dir_all(&locked).unwrap();
        fs::write(&locked, "").unwrap();
    } else {
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap()
    }
    let error = tree.apply().await.unwrap_err().to_string();
    assert!(error.starts_with("nothing was "), "{error}");
    assert_eq!(tree.read("a.js"), "old(1)");
    if !is_root() {
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

#[tokio::test]
async fn a_file_that_was_named_and_is_gone_is_stale_and_no_mistake_of_the_params() {
    let tree = Tree::with(&[("a.js", "old(1)"), ("b.js", "other()")]);
    let params = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}], "paths": ["a.js", "b.js"]});
    tree.call(params).await.unwrap();
    fs::remove_file(tree.path("b.js")).unwrap();
    let error = tree.apply().await.unwrap_err().to_string();
    assert!(
        error.contains("the preview is stale: /paths/1: there is no \"b.js\""),
        "{error}"
    );
    assert_eq!(tree.read("a.js"), "old(1)");
}

#[tokio::test]
async fn a_retry_after_a_stale_one_works_when_the_files_are_back() {
    let tree = Tree::with(&[("a.js", "old(1)")]);
    tree.edit("old($A)", "new($A)").await.unwrap();
    tree.write("a.js", "changed()");
    tree.apply().await.unwrap_err();
    tree.write("a.js", "old(1)");
    tree.apply().await.unwrap();
    assert_eq!(tree.read("a.js"), "new(1)");
}
