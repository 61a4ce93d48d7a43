//! Many hosts that start at once.

use std::time::Duration;

use airlock_model::pending::{ActionState, Resolution};
use airlock_model::policy::Policy;
use airlock_model::store::DurableStore;

use crate::{claim, complete, connect, ids, plugin, push, server, session};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_hosts_make_the_tables_of_an_empty_database_at_once() {
    let url = server().database_url();
    let starting: Vec<_> = (0..20)
        .map(|number| {
            let url = url.clone();
            tokio::spawn(async move {
                let store = connect(&url).await;
                push(&store, &session("shared"), &format!("{number:02}")).await;
                store
            })
        })
        .collect();
    let mut stores = Vec::new();
    for store in starting {
        stores.push(store.await.unwrap());
    }
    let mut found = ids(&stores[0], &session("shared")).await;
    found.sort();
    let expected: Vec<String> = (0..20).map(|number| format!("{number:02}")).collect();
    assert_eq!(found, expected);
    assert_eq!(stores[0].check().await.unwrap(), Vec::<String>::new());
    assert_eq!(stores[0].stats().await.unwrap().schema, 10);
}

/// As version 1 wrote it: one action resolved, one claimed by a host that died, one pending, and
/// the session counts the two that are open.
const ROWS_OF_VERSION_1: &str = "
    INSERT INTO airlock.meta VALUES ('schema', '1'), ('retention', '86400');
    INSERT INTO airlock.plugins (digest, name, bytes) SELECT 'PLUGIN', 'a plugin',
        string_agg(decode(lpad(to_hex(number % 251), 2, '0'), 'hex'), '' ORDER BY number) FROM generate_series(0, 99999) AS number;
    INSERT INTO airlock.sessions VALUES (substr(sha256('old'), 1, 16), 'old', 2, 3);
    INSERT INTO airlock.actions (id, session, session_id, position, label, source_tool_name, details, has_reject, durable, plugin, grants,
            pushed_at, guest_state)
        SELECT id, substr(sha256('old'), 1, 16), 'old', position, 'label of ' || id, 'tool', '7', false, true, 'PLUGIN', 'GRANTS',
            1760000000123456789, '\\x0708'
        FROM (VALUES ('first', 1), ('second', 2), ('third', 3)) AS pushed (id, position);
    UPDATE airlock.actions SET state = 'resolving', attempts = 1, token = 1, nonce = '\\x00', holder = 'a host', leased_at = now(),
        lease_until = now() - interval '1 hour', decision = 'apply', reason = 'why' WHERE id <> 'second';
    UPDATE airlock.actions SET open = false, state = 'applied', guest_state = NULL, lease_until = NULL, nonce = NULL, resolved_at = now(),
        resolved_order = nextval('airlock.resolved_order') WHERE id = 'first';";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_database_of_the_first_version_is_brought_up_to_date_with_all_that_it_has() {
    let server = server();
    let database = server.database();
    let grants = serde_json::to_string(&Policy::default()).unwrap();
    let rows = ROWS_OF_VERSION_1
        .replace("PLUGIN", &plugin().digest.to_string())
        .replace("GRANTS", &grants);
    let tables = include_str!("../../src/schema-1.sql");
    server.sql(&database, &format!("{tables};{rows}"));
    let url = server.url(&database);
    let starting: Vec<_> = (0..8)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { connect(&url).await })
        })
        .collect();
    let mut stores = Vec::new();
    for store in starting {
        stores.push(store.await.unwrap());
    }
    let store = &stores[0];
    let stats = store.stats().await.unwrap();
    assert_eq!(
        (
            stats.schema,
            stats.pending,
            stats.interrupted,
            stats.applied
        ),
        (10, 2, 1, 1)
    );
    assert_eq!(
        store.retention().await.unwrap(),
        Some(Duration::from_secs(86_400))
    );
    assert_eq!(ids(store, &session("old")).await, ["third", "second"]);
    let resolved = store.find(&"first".into()).await.unwrap().unwrap();
    assert_eq!(resolved.state, ActionState::Applied);
    assert_eq!(resolved.resolved.unwrap().reason, "why");
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());

    push(store, &session("old"), "fourth").await;
    for (id, attempt) in [("fourth", 1), ("third", 2), ("second", 1)] {
        let claimed = claim(store, &session("old"), Resolution::apply("")).await;
        assert_eq!(
            (&*claimed.action.id.to_string(), claimed.attempt),
            (id, attempt)
        );
        complete(store, claimed).await;
    }
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

/// Otherwise the server would write a claim into each index of the table.
#[tokio::test]
async fn no_index_has_what_a_claim_changes() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    push(&store, &session("one"), "an action").await;
    let row = "SELECT string_agg(each.key, ' ' ORDER BY each.key) FROM airlock.actions AS a, jsonb_each(to_jsonb(a)) AS each
        WHERE each.value <> ";
    let before = server.sql(&database, "SELECT to_jsonb(a) FROM airlock.actions AS a");
    claim(&store, &session("one"), Resolution::apply("")).await;
    let before = before.replace('\'', "''");
    let changed = server.sql(
        &database,
        &format!("{row} coalesce('{before}'::jsonb -> each.key, 'null')"),
    );
    assert!(
        changed.contains("lease_until") && changed.contains("state"),
        "{changed}"
    );
    let indexes = server.sql(
        &database,
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'airlock' AND tablename = 'actions'",
    );
    assert_eq!(indexes.lines().count(), 6, "{indexes}");
    for column in changed.split(' ') {
        let mut words = indexes.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        assert!(words.all(|word| word != column), "{column} in {indexes}");
    }
}

#[tokio::test]
async fn an_address_is_told_without_its_password() {
    let url = server().database_url();
    let location = connect(&url).await.location();
    assert!(
        location.starts_with("postgres://airlock@127.0.0.1:"),
        "{location}"
    );
    assert!(!location.contains("horse"), "{location}");
}

#[tokio::test]
async fn the_search_path_does_not_matter() {
    let server = server();
    let database = server.database();
    server.sql(
        &database,
        &format!("ALTER DATABASE {database} SET search_path = nowhere"),
    );
    let store = connect(&server.url(&database)).await;
    push(&store, &session("one"), "an action").await;
    assert_eq!(ids(&store, &session("one")).await, ["an action"]);
}
