//! What goes wrong between a host and its server, and what is said of it.

use airlock_model::actor::{Actor, Evidence};
use std::time::{Duration, Instant};

use airlock_model::json::Json;
use airlock_model::pending::Resolution;
use airlock_model::store::{
    BackendErrorKind, Claim, Claims, DurableStore, Lease, Scope, Stacks, StoreError,
};
use airlock_store_postgres::PostgresStore;
use airlock_store_suite::{PostgresServer, Sync, Tester, eventually};

use crate::{action, claim, connect, ids, push, push_action, server, session};

/// Why connecting fails, and its text, which never has the password.
async fn refusal(url: &str) -> (BackendErrorKind, String) {
    let error = PostgresStore::connect(url).await.unwrap_err();
    let text = error.to_string();
    assert!(!text.contains("secret"), "{text}");
    (error.backend_kind().unwrap(), text)
}

/// Connecting fails at once, so, and with this in its text.
pub async fn check_refusal(url: &str, kind: BackendErrorKind, said: &str) {
    let began = Instant::now();
    let (found, text) = refusal(url).await;
    assert_eq!(found, kind, "{text}");
    assert!(text.contains(said), "{text}");
    assert!(began.elapsed() < Duration::from_secs(9), "{text}");
}

#[tokio::test]
async fn what_is_wrong_with_an_address_is_said_at_once_and_what_to_do() {
    let server = server();
    let database = server.database();
    let port = server.port();
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    use BackendErrorKind::*;
    for (url, kind, said) in [
        (
            server.url_as("airlock", "secret", &database),
            Denied,
            "denies access: password authentication failed",
        ),
        (
            server.url_as("nobody", "secret", &database),
            Denied,
            "correct the user and the password",
        ),
        (
            server.url("absent"),
            Missing,
            "database \"absent\" does not exist; create the database first",
        ),
        (
            format!("postgres://airlock:secret@127.0.0.1:{closed}/x"),
            Unreachable,
            "refused",
        ),
        (
            format!("postgres://airlock:secret@127.0.0.1:{closed}/x"),
            Unreachable,
            "start the server, or correct the address",
        ),
        (
            "postgres://airlock:secret@no-such-host.invalid/x".to_owned(),
            Unreachable,
            "can't be reached",
        ),
        (
            "mysql://airlock:secret@x/y".to_owned(),
            Settings,
            "expected postgres://",
        ),
        (
            "postgres://airlock:secret@x:port/y".to_owned(),
            Settings,
            "expected postgres://",
        ),
        (
            format!("postgres://airlock:secret@127.0.0.1:{port}/x?sslmode=require"),
            Settings,
            "sslmode",
        ),
    ] {
        check_refusal(&url, kind, said).await;
    }
}

#[tokio::test]
async fn settings_that_make_no_sense_are_refused() {
    let url = server().database_url();
    let builder = || PostgresStore::builder(&url);
    for builder in [
        builder().max_connections(0),
        builder().lease_time(Duration::ZERO),
    ] {
        let error = builder.connect().await.unwrap_err();
        assert_eq!(
            error.backend_kind(),
            Some(BackendErrorKind::Settings),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_in_time() {
    // It accepts and never speaks.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://a:secret@{}/x", listener.local_addr().unwrap());
    let connecting = PostgresStore::builder(url)
        .patience(Duration::from_millis(300))
        .connect();
    let error = connecting.await.unwrap_err();
    assert_eq!(error.backend_kind(), Some(BackendErrorKind::Unreachable));
    assert!(
        error.to_string().contains("did not answer within 0.3 s"),
        "{error}"
    );
}

#[tokio::test]
async fn a_newer_schema_is_refused_by_both_versions_and_nothing_is_lost() {
    let server = server();
    let database = server.database();
    let url = server.url(&database);
    let stack = session("kept");
    push(&connect(&url).await, &stack, "one").await;
    let set = |version: &str| {
        let set = format!("UPDATE airlock.meta SET value = '{version}' WHERE name = 'schema'");
        server.sql(&database, &set);
    };
    set("99");
    let (kind, text) = refusal(&url).await;
    assert_eq!(kind, BackendErrorKind::Newer);
    assert!(
        text.contains("its schema is 99, and this program supports at most 10"),
        "{text}"
    );
    assert!(text.contains("use a newer airlock"), "{text}");
    set("10");
    assert_eq!(ids(&connect(&url).await, &stack).await, ["one"]);
}

#[tokio::test]
async fn a_host_that_is_connected_while_a_newer_one_changes_the_tables_says_so_and_loses_nothing() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    let stack = session("kept");
    push(&store, &stack, "one").await;
    push(&store, &stack, "two").await;
    let claimed = claim(&store, &stack, Resolution::apply("")).await;
    let set = |version: &str| {
        let set = format!("UPDATE airlock.meta SET value = '{version}' WHERE name = 'schema'");
        server.sql(&database, &set);
    };
    set("99");
    let newer = Some(BackendErrorKind::Newer);
    eventually("it looks", async || kind(store.list(&stack).await) == newer).await;
    let apply = Resolution::apply("");
    let lease = || Lease {
        session: stack.clone(),
        action: "two".into(),
        token: claimed.lease.token,
    };
    assert_eq!(kind(store.peek(&stack).await), newer);
    assert_eq!(kind(store.room(&stack, 1).await), newer);
    assert_eq!(
        kind(push_action(&store, &stack, action("three")).await),
        newer
    );
    assert_eq!(
        kind(store.claim(&stack, &apply, &Tester.into()).await),
        newer
    );
    assert_eq!(kind(store.renew(&lease()).await), newer);
    assert_eq!(kind(store.requeue(lease(), "no").await), newer);
    assert_eq!(kind(store.open_actions(Scope::All).await), newer);
    set("10");
    assert_eq!(ids(&store, &stack).await, ["one"]);
    store.requeue(lease(), "it failed").await.unwrap();
    assert_eq!(ids(&store, &stack).await, ["two", "one"]);
}

fn kind<T>(done: Result<T, StoreError>) -> Option<BackendErrorKind> {
    done.err().and_then(|error| error.backend_kind())
}

#[tokio::test]
async fn a_database_that_cannot_hold_every_text_is_refused() {
    let server = server();
    server.sql(
        "postgres",
        "CREATE DATABASE narrow ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    let (kind, text) = refusal(&server.url("narrow")).await;
    assert_eq!(kind, BackendErrorKind::Settings);
    assert!(text.contains("LATIN1") && text.contains("UTF8"), "{text}");
}

#[tokio::test]
async fn a_user_who_may_only_read_reads_and_is_told_what_it_lacks() {
    let server = server();
    let database = server.database();
    let stack = session("read");
    push(&connect(&server.url(&database)).await, &stack, "one").await;
    server.sql(
        &database,
        "CREATE ROLE reader LOGIN PASSWORD 'reads';
            GRANT USAGE ON SCHEMA airlock TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA airlock TO reader",
    );
    let reader = connect(&server.url_as("reader", "reads", &database)).await;
    assert_eq!(ids(&reader, &stack).await, ["one"]);
    assert_eq!(reader.stats().await.unwrap().pending, 1);
    let error = push_action(&reader, &stack, action("two"))
        .await
        .unwrap_err();
    assert_eq!(error.backend_kind(), Some(BackendErrorKind::Denied));
    assert!(error.to_string().contains("permission denied"), "{error}");

    let empty = server.database();
    let (kind, text) = refusal(&server.url_as("reader", "reads", &empty)).await;
    assert_eq!(kind, BackendErrorKind::Denied);
    assert!(
        text.contains("grant the user the right to create"),
        "{text}"
    );
}

#[tokio::test]
async fn a_standby_or_read_only_server_is_told_apart() {
    let server = server();
    let database = server.database();
    let stack = session("read");
    push(&connect(&server.url(&database)).await, &stack, "one").await;
    let read_only = "default_transaction_read_only = on";
    server.sql(
        "postgres",
        &format!("ALTER DATABASE {database} SET {read_only}"),
    );
    let store = connect(&server.url(&database)).await;
    assert_eq!(ids(&store, &stack).await, ["one"]);
    let error = push_action(&store, &stack, action("two"))
        .await
        .unwrap_err();
    assert_eq!(
        error.backend_kind(),
        Some(BackendErrorKind::ReadOnly),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_goes_away_is_waited_for_and_then_reported() {
    let server = PostgresServer::new(Sync::Off);
    let url = server.database_url();
    let patient = connect(&url).await;
    let impatient = PostgresStore::builder(&url).patience(Duration::from_millis(400));
    let impatient = impatient.connect().await.unwrap();
    let stack = session("kept");
    push(&patient, &stack, "before").await;
    server.stop("fast");
    let error = push_action(&impatient, &stack, action("never"))
        .await
        .unwrap_err();
    assert_eq!(error.backend_kind(), Some(BackendErrorKind::Unreachable));
    let text = error.to_string();
    assert!(text.contains("tried for 0.4 s"), "{text}");
    assert!(
        text.contains(&impatient.location()) && !text.contains("horse"),
        "{text}"
    );
    let waiting = tokio::spawn({
        let (patient, stack) = (patient.clone(), stack.clone());
        async move { push_action(&patient, &stack, action("while down")).await }
    });
    server.start();
    waiting.await.unwrap().unwrap();
    assert_eq!(ids(&impatient, &stack).await, ["while down", "before"]);
}

#[tokio::test]
async fn text_that_the_server_cannot_hold_is_kept_all_the_same() {
    let store = connect(&server().database_url()).await;
    let long = "x".repeat(10_000);
    for name in ["", "nul\0inside", "\u{FFFF}\0", "größe 🦀", long.as_str()] {
        let stack = session(name);
        let mut pushed = action(&format!("id\0{}", name.len()));
        pushed.label = format!("a\0b{name}");
        pushed.source_tool_name = "\0".to_owned();
        pushed.details = Json::of(&serde_json::json!({"nul\0": ["\0", name]})).ok();
        push_action(&store, &stack, pushed.clone()).await.unwrap();
        let listed = store.list(&stack).await.unwrap();
        assert_eq!(*listed[0].action, pushed, "{name:?}");
        let resolution = airlock_model::pending::Resolution::apply("why\0")
            .with_id(pushed.id.clone())
            .with_extra(serde_json::json!({"\0": "\0"}).as_object().unwrap().clone());
        let claimed = crate::claim(&store, &stack, resolution.clone()).await;
        store.requeue(claimed.lease, "failed\0").await.unwrap();
        let listed = store.list(&stack).await.unwrap();
        assert_eq!(listed[0].last_error.as_deref(), Some("failed\0"));
        let who = Actor::person("who\0").with_evidence(Evidence::Client);
        let claim = store.claim(&stack, &resolution, &who).await.unwrap();
        let Claim::Claimed(claimed) = claim else {
            panic!("{claim:?}");
        };
        crate::complete(&store, claimed).await;
        let record = store.find(&pushed.id).await.unwrap().unwrap();
        let resolved = record.resolved.unwrap();
        assert_eq!(record.session, stack);
        assert_eq!(resolved.reason, "why\0");
        assert_eq!(resolved.decided_by, who);
        assert_eq!(resolved.extra, resolution.extra);
    }
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_full_stack_takes_no_more_and_keeps_nothing_of_what_it_refused() {
    let store = connect(&server().database_url()).await;
    let stack = session("full");
    let refused = airlock_model::store::Push::new(&stack, action("one"), crate::plugin())
        .with_guest_state(Vec::new())
        .with_capacity(0);
    let error = store.push(refused.clone()).await.unwrap_err();
    assert!(matches!(error, StoreError::Full { capacity: 0 }), "{error}");
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.pending, stats.plugins, stats.sessions), (0, 0, 0));
    let pushed = refused.clone().with_capacity(1);
    store.push(pushed).await.unwrap();
    let mut again = refused.with_capacity(1);
    again.actions[0].action = std::sync::Arc::new(action("two"));
    let error = store.push(again).await.unwrap_err();
    assert!(matches!(error, StoreError::Full { capacity: 1 }), "{error}");
    assert_eq!(ids(&store, &stack).await, ["one"]);
}
