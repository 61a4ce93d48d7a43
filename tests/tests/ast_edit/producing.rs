//! A native producer keeps the rules that plugins keep.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use airlock_host::event::Event;
use airlock_host::limits::LimitKind;
use airlock_host::policy::WorkspaceGrant;
use airlock_host::store::{MemoryStore, PendingStore};
use airlock_host::{Error, Limits, Policy, Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Tester, plugin};
use serde_json::json;
use tempfile::TempDir;

use crate::ast_edit;
use crate::tree::Tree;

const FILES: &[(&str, &str)] = &[("a.js", "old(1)")];

#[tokio::test]
async fn its_tool_stands_beside_those_of_plugins() {
    let puppet = plugin("puppet").await;
    let session = Session::builder()
        .model_decides()
        .bind(&ast_edit())
        .bind(&puppet);
    let session = session.open().unwrap();
    assert_eq!(session.rejected(), puppet.rejected());
    let names: Vec<String> = session.tools().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names[0], "ast_edit");
    assert!(names.contains(&"puppet".to_owned()), "{names:?}");
    assert_eq!(session.tools_named(&["ast_edit"]).len(), 1);
    session.unbind(&ast_edit());
    let error = session.call("ast_edit", &json!({})).await.unwrap_err();
    assert!(matches!(error, Error::UnknownTool { .. }), "{error}");
    assert_eq!(session.bind(&ast_edit()).unwrap(), []);
    assert_eq!(session.tools_named(&["ast_edit"]).len(), 1);
}

#[tokio::test]
async fn bound_twice_it_is_there_once_and_nothing_is_left_out() {
    let ast_edit = ast_edit();
    let session = Session::builder()
        .model_decides()
        .bind(&ast_edit)
        .bind(&ast_edit);
    let session = session.open().unwrap();
    assert_eq!(session.rejected(), []);
    assert_eq!(session.tools().len(), 1);
}

#[tokio::test]
async fn without_a_store_or_a_workspace_it_says_what_it_lacks() {
    let tree = Tree::open(FILES, |session| session.without_store());
    let error = tree.edit("old($A)", "new($A)").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Pending action store unavailable for custom tools in this runtime."
    );
    let session = Session::builder()
        .model_decides()
        .bind(&ast_edit())
        .open()
        .unwrap();
    let ops = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]});
    let error = session.call("ast_edit", &ops).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "ast_edit needs a workspace, and this session has none"
    );
}

#[tokio::test]
async fn a_full_stack_takes_no_more() {
    let limits = Limits::default().with_pending_actions(1);
    let tree = Tree::open(FILES, |session| session.limits(limits));
    tree.edit("old($A)", "new($A)").await.unwrap();
    let error = tree.edit("old($A)", "new($A)").await.unwrap_err();
    assert!(matches!(error, Error::Tool { .. }), "{error:?}");
    assert_eq!(tree.pending().await, 1);
}

#[tokio::test]
async fn a_state_beyond_its_limit_is_refused() {
    let limits = Limits::default().with_state_bytes(50);
    let tree = Tree::open(FILES, |session| session.limits(limits));
    let error = tree
        .edit("old($A)", "new($A)")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("there would be 1 replacement in 1 file, more than one action can hold;"),
        "{error}"
    );
    assert_eq!(tree.pending().await, 0);
}

/// With a `limit` it is not the files that were found which count.
#[tokio::test]
async fn more_files_than_one_action_can_hold_are_refused_while_they_are_searched() {
    let files = ["a.js", "b.js", "c.js", "d.js"].map(|name| (name, "old(1)"));
    // 28 bytes a file, and its params.
    let limits = Limits::default().with_state_bytes(28 * 3 + 27);
    let tree = Tree::open(&files, |session| session.limits(limits));
    let error = tree.edit("old($A)", "new($A)").await.unwrap_err();
    let expected = "there would be replacements in more than 3 files, which is the limit of one action; name fewer files with `paths`, or set `limit`";
    assert_eq!(error.to_string(), expected);
    assert_eq!(tree.pending().await, 0);
    let params = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}], "limit": 1});
    let outcome = tree.session.call("ast_edit", &params).await.unwrap();
    assert_eq!(outcome.pushed.len(), 1);
}

#[tokio::test]
async fn it_gets_no_more_than_its_policy_grants_and_than_it_was_granted_when_it_pushed() {
    let granted = |grant| Policy::default().with_workspace(grant);
    let open = |policy: Policy, store: &Arc<MemoryStore>, folder: &TempDir| {
        Session::builder()
            .model_decides()
            .id("one")
            .workspace(folder.path())
            .store(store.clone())
            .bind(ast_edit().under(policy))
            .open()
            .unwrap()
    };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a.js");
    std::fs::write(&file, "old(1)").unwrap();
    let store = Arc::new(MemoryStore::new());
    let ops = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]});

    let blind = open(granted(WorkspaceGrant::None), &store, &folder);
    let error = blind.call("ast_edit", &ops).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "ast_edit needs the workspace, and is not granted to read it"
    );

    let reader = open(granted(WorkspaceGrant::Read), &store, &folder);
    reader.call("ast_edit", &ops).await.unwrap();
    let refused = "ast_edit may read the workspace, but is not granted to change it";
    let error = reader
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), refused);
    // Also where it is granted more by now.
    let writer = open(Policy::default(), &store, &folder);
    let error = writer
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), refused);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old(1)");

    writer
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap();
    writer.call("ast_edit", &ops).await.unwrap();
    let error = reader
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), refused);
    writer.resolve(Resolution::apply(""), Tester).await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new(1)");
}

#[tokio::test]
async fn a_call_that_is_cancelled_pushes_and_writes_nothing() {
    let tree = Tree::with(FILES);
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let ops = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]});
    let call = tree.session.call("ast_edit", &ops).cancelled_by(&cancelled);
    assert!(matches!(call.await, Err(Error::Cancelled)));
    assert_eq!(tree.pending().await, 0);
    tree.call(ops).await.unwrap();
    let apply = Resolution::apply("");
    let applied = tree
        .session
        .resolve(apply, Tester)
        .cancelled_by(&cancelled)
        .await;
    assert!(matches!(applied, Err(Error::Cancelled)));
    assert_eq!(tree.read("a.js"), "old(1)");
    assert_eq!(tree.pending().await, 1);
}

/// Enough that searching it takes a while.
fn big_tree(
    settings: impl FnOnce(airlock_host::SessionBuilder) -> airlock_host::SessionBuilder,
) -> Tree {
    let tree = Tree::open(&[], settings);
    let source = "old(1)\n".repeat(10_000);
    for file in 0..40 {
        tree.write(&format!("f{file:02}.js"), &source);
    }
    tree
}

#[tokio::test]
async fn cancelling_in_the_middle_ends_a_preview_between_two_files() {
    let tree = big_tree(|session| session);
    let cancel = CancellationToken::new();
    let ops = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]});
    let call = tree.session.call("ast_edit", &ops).cancelled_by(&cancel);
    let cancelling = async {
        // The first poll starts it.
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    let (called, ()) = tokio::join!(call, cancelling);
    assert!(matches!(called, Err(Error::Cancelled)), "{called:?}");
    assert_eq!(tree.pending().await, 0);
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_stopped() {
    let limits = Limits::default().with_call_time(Duration::from_millis(50));
    let tree = big_tree(|session| session.limits(limits));
    let error = tree.edit("old($A)", "new($A)").await.unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("tool `ast_edit` was stopped after 0."),
        "{message}"
    );
    assert!(message.contains("0.05 s"), "{message}");
    assert!(matches!(
        error,
        Error::Limit {
            kind: LimitKind::CallTime,
            ..
        }
    ));
    assert_eq!(tree.pending().await, 0);
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_leaves_nothing_behind_that_the_next_would_meet() {
    let tree = big_tree(|session| session);
    let ops = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]});
    {
        let call = tree.session.call("ast_edit", &ops).into_future();
        tokio::pin!(call);
        assert!(airlock_tests::poll_once(call.as_mut()).await.is_none());
    }
    assert_eq!(tree.pending().await, 0);
    let mut one = ops;
    one["paths"] = json!(["f00.js"]);
    tree.call(one).await.unwrap();
    assert_eq!(tree.pending().await, 1);
}

#[tokio::test]
async fn who_watches_hears_of_progress_and_of_what_was_pushed() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let tree = Tree::open(&[], |session| {
        session.observer(move |source, event| {
            assert_eq!((source.plugin, source.tool), ("ast_edit", "ast_edit"));
            heard.lock().unwrap().push(event.clone());
        })
    });
    for file in 0..1500 {
        tree.write(&format!("f{file:04}.js"), "old(1)");
    }
    tree.edit("old($A)", "new($A)").await.unwrap();
    let events = events.lock().unwrap();
    let progress = events.iter().find_map(|event| match event {
        Event::Progress { message, .. } => Some(message.as_str()),
        _ => None,
    });
    assert_eq!(progress, Some("Searched 1000 files"));
    let pushed = events
        .iter()
        .any(|event| matches!(event, Event::Pushed { .. }));
    assert!(pushed, "{events:?}");
}

/// A session without the producer, on a store in which an action of its waits.
async fn without(kept: bool) -> (Tree, Session, TempDir) {
    let files = TempDir::new().unwrap();
    let store: PendingStore = if kept {
        Arc::new(
            SqliteStore::open(files.path().join("pending.db"))
                .await
                .unwrap(),
        )
        .into()
    } else {
        Arc::new(MemoryStore::new()).into()
    };
    let tree = Tree::open(FILES, |session| session.store(store.clone()));
    tree.edit("old($A)", "new($A)").await.unwrap();
    let without = Session::builder()
        .model_decides()
        .id(tree.session.id().clone())
        .workspace(tree.path(""))
        .store(store)
        .open()
        .unwrap();
    (tree, without, files)
}

#[tokio::test]
async fn a_session_without_the_producer_names_it_and_leaves_the_action_pending() {
    for kept in [true, false] {
        let (tree, without, _files) = without(kept).await;
        let error = without
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "Apply failed: this action was made by the host's own `ast_edit`, with a state in format 3, \
             and this session has none; resolve it in a session that was opened with `ast_edit`, or discard it"
        );
        assert_eq!(error.kind(), "producer-gone");
        assert_eq!(tree.pending().await, 1);
        assert_eq!(tree.read("a.js"), "old(1)");
        tree.apply().await.unwrap();
        assert_eq!(tree.read("a.js"), "new(1)");
    }
}

#[tokio::test]
async fn a_session_without_the_producer_can_discard() {
    let (tree, without, _files) = without(true).await;
    without
        .resolve(Resolution::discard(""), Tester)
        .await
        .unwrap();
    assert_eq!(tree.pending().await, 0);
}

#[tokio::test]
async fn an_action_of_another_version_names_both_versions_and_stays() {
    for version in [2, 4] {
        action_of_version(version).await;
    }
}

async fn action_of_version(version: u32) {
    use airlock_host::PendingAction;
    use airlock_host::digest::Digest;
    use airlock_host::identity::WorkspaceIdentity;
    use airlock_host::store::{PluginBytes, Push, Stacks};
    let files = TempDir::new().unwrap();
    let store = Arc::new(
        SqliteStore::open(files.path().join("pending.db"))
            .await
            .unwrap(),
    );
    let tree = Tree::open(FILES, |session| session.store(store.clone()));
    let bytes = format!("airlock native producer\nname: ast_edit\nstate: {version}\n");
    let bytes = bytes.as_bytes();
    let plugin = PluginBytes {
        digest: Digest::of(bytes),
        name: "ast_edit".into(),
        bytes: bytes.to_vec().into(),
    };
    let identity = tree.session.workspace().map(WorkspaceIdentity::at);
    let identity = identity.map(|identity| Arc::new(identity.unwrap()));
    let mut action = PendingAction::new(
        "01a2005d-d50a-7498-954a-3c20d939438b",
        "AST Edit: 1 replacement in 1 file",
        plugin.digest,
        "ast_edit",
        Policy::default(),
        std::time::SystemTime::now(),
    );
    action.source_tool_name = "ast_edit".to_owned();
    action.source_is_own_tool = true;
    action.durable = true;
    action.workspace = tree.session.workspace().map(Into::into);
    action.workspace_identity = identity;
    let push = Push::new(tree.session.id(), action, &plugin)
        .with_guest_state(Vec::new())
        .with_capacity(10);
    store.push(push).await.unwrap();
    let error = tree.apply().await.unwrap_err().to_string();
    assert!(
        error.ends_with(&format!(
            "with a state in format {version}, and the `ast_edit` here reads format 3; resolve it with the version of the program that previewed it, or discard it and preview again"
        )),
        "{error}"
    );
    assert_eq!(tree.pending().await, 1);
}
