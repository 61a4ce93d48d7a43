//! What is kept, for how long, and what operators see of it.

use airlock_store_suite::Tester;
use std::time::Duration;

use airlock_model::digest::Digest;
use airlock_model::json::Json;
use airlock_model::pending::{ActionId, ActionState, Decision, Resolution};
use airlock_model::policy::Policy;
use airlock_model::store::{Claims, Completion, DurableStore, Records, ResolvedQuery, Scope};
use airlock_store_postgres::PostgresStore;

use crate::{
    action, claim, complete, connect, eventually, ids, plugin, push, push_action, server, session,
};

#[tokio::test]
async fn a_plugin_is_kept_byte_for_byte_until_no_open_action_needs_it() {
    let url = server().database_url();
    let store = connect(&url).await;
    let stack = session("plugins");
    assert!(store.plugin(plugin().digest).await.unwrap().is_none());
    push(&store, &stack, "one").await;
    push(&store, &stack, "two").await;
    let other = connect(&url).await;
    let kept = other.plugin(plugin().digest).await.unwrap().unwrap();
    assert_eq!(kept.bytes, plugin().bytes);
    assert_eq!((&kept.name, kept.digest), (&plugin().name, plugin().digest));
    let stats = store.stats().await.unwrap();
    assert_eq!(
        (stats.plugins, stats.plugin_bytes),
        (1, plugin().bytes.len() as u64)
    );
    assert!(stats.bytes > stats.plugin_bytes);

    let claimed = claim(&store, &stack, Resolution::apply("")).await;
    complete(&store, claimed).await;
    assert_eq!(other.prune(Duration::MAX).await.unwrap().plugins, 0);
    let claimed = claim(&store, &stack, Resolution::apply("")).await;
    assert_eq!(other.prune(Duration::MAX).await.unwrap().plugins, 0);
    complete(&store, claimed).await;
    assert_eq!(other.prune(Duration::MAX).await.unwrap().plugins, 1);
    assert!(other.plugin(plugin().digest).await.unwrap().is_none());
    // It comes back with the next action.
    push(&store, &stack, "three").await;
    assert!(other.plugin(plugin().digest).await.unwrap().is_some());
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn an_action_comes_back_as_it_was_pushed() {
    let store = connect(&server().database_url()).await;
    let stack = session("whole");
    let mut pushed = action("one");
    pushed.details = Json::of(&serde_json::json!({"files": [1, 2.5, null], "big": u64::MAX})).ok();
    pushed.has_reject = true;
    pushed.grants = Policy::read_only();
    pushed.workspace = Some(std::path::Path::new("/some/where").into());
    push_action(&store, &stack, pushed.clone()).await.unwrap();
    let claimed = claim(&store, &stack, Resolution::apply("")).await;
    assert_eq!(*claimed.action, pushed);
    assert_eq!(claimed.guest_state.as_deref(), Some(b"state".as_slice()));
    let record = store.find(&pushed.id).await.unwrap().unwrap();
    assert_eq!(record.action, pushed);
}

#[tokio::test]
async fn what_was_resolved_is_told_newest_first_with_who_and_why() {
    let store = connect(&server().database_url()).await;
    let (one, other) = (session("one"), session("other"));
    for (stack, id) in [(&one, "a"), (&other, "b"), (&one, "c")] {
        push(&store, stack, id).await;
        let resolution = Resolution::apply("because");
        let claimed = claim(&store, stack, resolution).await;
        complete(&store, claimed).await;
    }
    push(&store, &one, "d").await;
    let claimed = claim(&store, &one, Resolution::discard("no")).await;
    let failed = Completion::RejectFailed("it would not");
    store.complete(claimed.lease, failed).await.unwrap();
    let told = async |session, limit| {
        let query = ResolvedQuery {
            session,
            workspace: None,
            limit,
        };
        let records = store.resolved_actions(&query).await.unwrap();
        let ids = records.iter().map(|record| record.action.id.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(told(None, 10).await, ["d", "c", "b", "a"]);
    assert_eq!(told(None, 2).await, ["d", "c"]);
    assert_eq!(told(Some(one.clone()), usize::MAX).await, ["d", "c", "a"]);

    let applied = store.find(&"c".into()).await.unwrap().unwrap();
    assert_eq!((applied.state, applied.attempts), (ActionState::Applied, 1));
    let resolved = applied.resolved.unwrap();
    assert_eq!(resolved.decision, Decision::Apply);
    assert_eq!(resolved.reason, "because");
    assert_eq!(resolved.decided_by, Tester.into());
    let json = serde_json::to_vec(&airlock_store_suite::outcome("")).unwrap();
    assert_eq!(resolved.result, Some(Digest::of(&json)));
    assert!(resolved.at.elapsed().unwrap_or_default() < Duration::from_secs(60));
    let discarded = store.find(&"d".into()).await.unwrap().unwrap();
    assert_eq!(discarded.state, ActionState::Discarded);
    assert_eq!(
        discarded.resolved.unwrap().error.as_deref(),
        Some("it would not")
    );
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.applied, stats.discarded, stats.pending), (3, 1, 0));
    assert_eq!(store.find(&ActionId::from("e")).await.unwrap(), None);
}

#[tokio::test]
async fn open_actions_of_all_sessions_come_in_order() {
    let store = connect(&server().database_url()).await;
    for (stack, id) in [("b", "1"), ("a", "2"), ("b", "3"), ("ä", "4"), ("B", "5")] {
        push(&store, &session(stack), id).await;
    }
    claim(&store, &session("b"), Resolution::apply("")).await;
    let open = store.open_actions(Scope::All).await.unwrap();
    let found: Vec<_> = open
        .iter()
        .map(|record| (record.session.as_str(), record.action.id.as_str()))
        .collect();
    assert_eq!(
        found,
        [("B", "5"), ("a", "2"), ("b", "3"), ("b", "1"), ("ä", "4")]
    );
    assert_eq!(open[2].state, ActionState::Resolving);
    assert_eq!(
        store
            .open_actions(Scope::Session(&session("b")))
            .await
            .unwrap(),
        open[2..4]
    );
}

async fn resolve_many(store: &PostgresStore, prefix: &str, count: usize) {
    let stack = session(prefix);
    for number in 0..count {
        push(store, &stack, &format!("{prefix} {number}")).await;
        let claimed = claim(store, &stack, Resolution::apply("")).await;
        complete(store, claimed).await;
    }
}

#[tokio::test]
async fn pruning_forgets_what_is_old_enough_and_sessions_without_actions() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    let stack = session("pruned");
    resolve_many(&store, "old", 30).await;
    server.sql(
        &database,
        "UPDATE airlock.actions SET resolved_at = resolved_at - interval '2 days'",
    );
    resolve_many(&store, "new", 5).await;
    push(&store, &stack, "open").await;
    assert_eq!(
        store
            .prune(Duration::from_secs(3 * 86_400))
            .await
            .unwrap()
            .actions,
        0
    );
    assert_eq!(
        store
            .prune(Duration::from_secs(86_400))
            .await
            .unwrap()
            .actions,
        30
    );
    assert_eq!(store.stats().await.unwrap().applied, 5);
    assert_eq!(
        server.sql(&database, "SELECT count(*) FROM airlock.sessions"),
        "1"
    );
    let unknown = store.find(&"old 1".into()).await.unwrap();
    assert_eq!(unknown, None);
    assert_eq!(store.prune(Duration::ZERO).await.unwrap().actions, 5);
    assert_eq!(ids(&store, &stack).await, ["open"]);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_session_that_is_pushed_onto_while_others_forget_idle_ones_keeps_its_order() {
    let url = server().database_url();
    let (store, other) = (connect(&url).await, connect(&url).await);
    let stack = session("busy");
    let forgetting = tokio::spawn(async move {
        loop {
            other.prune(Duration::from_secs(3600)).await.unwrap();
        }
    });
    for round in 0..100 {
        push(&store, &stack, &format!("{round} below")).await;
        push(&store, &stack, &format!("{round} above")).await;
        let found = ids(&store, &stack).await;
        assert_eq!(found, [format!("{round} above"), format!("{round} below")]);
        for _ in 0..2 {
            let claimed = claim(&store, &stack, Resolution::apply("")).await;
            complete(&store, claimed).await;
        }
    }
    push(&store, &stack, "the last").await;
    assert!(!forgetting.is_finished());
    forgetting.abort();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn the_retention_is_the_stores_and_is_kept_by_whoever_resolves() {
    let server = server();
    let database = server.database();
    let url = server.url(&database);
    let store = connect(&url).await;
    assert_eq!(store.retention().await.unwrap(), None);
    resolve_many(&store, "old", 3).await;
    store
        .set_retention(Some(Duration::from_millis(1500)))
        .await
        .unwrap();
    let other = connect(&url).await;
    assert_eq!(
        other.retention().await.unwrap(),
        Some(Duration::from_secs(1))
    );
    server.sql(
        &database,
        "UPDATE airlock.actions SET resolved_at = resolved_at - interval '1 hour'",
    );
    // A host looks when it first resolves something.
    resolve_many(&other, "new", 1).await;
    eventually("the old ones are forgotten", async || {
        other.find(&"old 0".into()).await.unwrap().is_none()
    })
    .await;
    other.set_retention(None).await.unwrap();
    assert_eq!(store.retention().await.unwrap(), None);
}

#[tokio::test]
async fn a_check_tells_what_is_wrong() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    push(&store, &session("checked"), "one").await;
    push(&store, &session("checked"), "two").await;
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    for (harm, said) in [
        (
            "UPDATE airlock.plugins SET bytes = bytes || 'x'",
            "match its digest",
        ),
        ("DELETE FROM airlock.plugins", "needs the plugin"),
        (
            "UPDATE airlock.sessions SET open = 1",
            "counts 1 open actions, and there are 2",
        ),
        ("UPDATE airlock.sessions SET top = 1", "lies above the top"),
        (
            "UPDATE airlock.actions SET position = 1",
            "2 open actions share one place",
        ),
        ("DELETE FROM airlock.sessions", "belongs to no session"),
        (
            "UPDATE airlock.actions SET guest_state = NULL WHERE id = 'one'",
            "lacks its state",
        ),
        (
            "UPDATE airlock.actions SET state = 'applied' WHERE id = 'one'",
            "the action one can't be applied and open without a place among the ends",
        ),
        (
            "UPDATE airlock.actions SET state = 'new' WHERE id = 'one'",
            "the action one can't be new and open",
        ),
        (
            "UPDATE airlock.actions SET grants = '{}' WHERE id = 'two'",
            "the action two can't be read",
        ),
    ] {
        server.sql(&database, harm);
        let found = store.check().await.unwrap();
        assert!(
            found.iter().any(|problem| problem.contains(said)),
            "{said}: {found:?}"
        );
    }
}
