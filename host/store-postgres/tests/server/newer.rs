//! A newer host changes the tables while an older one is connected: this program, with the version
//! raised from outside.

use std::time::Duration;

use airlock_model::denial::{Denial, DeniedBy};
use airlock_model::digest::Digest;
use airlock_model::pending::{ActionState, Resolution};
use airlock_model::store::{
    BackendErrorKind, Budget, Budgets, Claims, Completion, Denials, DurableStore, Lease, Records,
    ResolvedQuery, Scope, Spending, Stacks, StoreError,
};
use airlock_store_suite::{Tester, connect_with_lease, eventually};

use crate::{
    SHORT_LEASE, action, claim, complete, connect, ids, push, push_action, server, session,
};

const RAISE: &str = "UPDATE airlock.meta SET value = '99' WHERE name = 'schema'";
const SET_BACK: &str = "UPDATE airlock.meta SET value = '10' WHERE name = 'schema'";

/// All that there is, as one text, but for the version itself.
const ALL_ROWS: &str = "SELECT md5(string_agg(kept.row, ' ' ORDER BY kept.row)) FROM (
        SELECT a::text FROM airlock.actions AS a UNION ALL SELECT s::text FROM airlock.sessions AS s
        UNION ALL SELECT p.digest FROM airlock.plugins AS p UNION ALL SELECT h::text FROM airlock.hosts AS h
        UNION ALL SELECT c::text FROM airlock.calls AS c UNION ALL SELECT b::text FROM airlock.accounts AS b
        UNION ALL SELECT n::text FROM airlock.denials AS n
        UNION ALL SELECT e::text FROM airlock.spendings AS e UNION ALL SELECT m::text FROM airlock.meta AS m WHERE m.name <> 'schema'
    ) AS kept (row)";

/// Checks that each of these says so.
macro_rules! each_says_newer {
    ($($call:expr),* $(,)?) => {
        $(says_newer(stringify!($call), $call.await);)*
    };
}

fn says_newer<T>(call: &str, done: Result<T, StoreError>) {
    let Err(error) = done else {
        panic!("{call} was done");
    };
    assert_eq!(
        error.backend_kind(),
        Some(BackendErrorKind::Newer),
        "{call}: {error}"
    );
    let text = error.to_string();
    assert!(
        text.contains("its schema is 99, and this program supports at most 10"),
        "{text}"
    );
}

fn same(lease: &Lease) -> Lease {
    Lease {
        session: lease.session.clone(),
        action: lease.action.clone(),
        token: lease.token,
    }
}

#[tokio::test]
async fn each_call_of_a_host_that_has_become_the_older_one_says_so_and_changes_nothing() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    let stack = session("one");
    for id in ["ended", "below", "held"] {
        push(&store, &stack, id).await;
    }
    let ended = Resolution::apply("").with_id("ended");
    let ended = claim(&store, &stack, ended).await;
    complete(&store, ended).await;
    let lease = claim(&store, &stack, Resolution::apply("")).await.lease;
    // A host that has just forgotten what nothing needs does nothing by itself for an hour.
    store.prune(Duration::from_secs(3600)).await.unwrap();

    server.sql(&database, RAISE);
    let before = server.sql(&database, ALL_ROWS);
    let (outcome, apply) = (airlock_store_suite::outcome(""), Resolution::apply(""));
    let by_id = Resolution::apply("").with_id("below");
    let done = Completion::Succeeded(&outcome);
    let mut volatile = action("volatile");
    volatile.durable = false;
    let of = |session| ResolvedQuery {
        session,
        workspace: None,
        limit: 9,
    };
    let (all, one_of) = (of(None), of(Some(stack.clone())));
    let (below, held) = ("below".into(), "held".into());
    let age = Duration::from_secs(0);
    let budget = Budget {
        files: None,
        bytes: None,
        deletions: None,
        within: age,
    };
    let denial = Denial::new(&apply, Tester.into(), DeniedBy::Rule, "no");
    each_says_newer![
        push_action(&store, &stack, action("new")),
        push_action(&store, &session("another"), action("new")),
        push_action(&store, &stack, volatile),
        store.room(&stack, 1),
        store.peek(&stack),
        store.list(&stack),
        store.list_briefly(&stack),
        store.peek_at(&stack, &below),
        store.claim(&stack, &apply, &Tester.into()),
        store.claim(&stack, &by_id, &Tester.into()),
        store.renew(&lease),
        store.complete(same(&lease), done),
        store.requeue(same(&lease), "failed"),
        store.release(same(&lease)),
        store.plugin(Digest::of(b"")),
        store.call_record(&stack, &below),
        store.find(&held),
        store.ids_like("b", 2),
        store.open_actions(Scope::All),
        store.open_actions(Scope::Session(&stack)),
        store.open_actions(Scope::Workspace("/work".as_ref())),
        store.record_denial(&stack, &below, &denial),
        store.denials(&stack, &below),
        store.denied_actions(&all),
        store.spend("one", &below, Spending::default(), &budget),
        store.spent("one", age),
        store.resolved_actions(&all),
        store.resolved_actions(&one_of),
        store.stats(),
        store.check(),
        store.prune(age),
        store.forget(&"ended".into()),
        store.retention(),
        store.set_retention(Some(age)),
        store.set_retention(None),
        store.byte_limit(),
        store.set_byte_limit(Some(1)),
        store.unreadable_actions(),
    ];
    assert_eq!(server.sql(&database, ALL_ROWS), before);

    server.sql(&database, SET_BACK);
    assert_eq!(ids(&store, &stack).await, ["below"]);
    store.requeue(lease, "failed").await.unwrap();
    assert_eq!(ids(&store, &stack).await, ["held", "below"]);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

/// Each in the table that a newer version has without it.
#[tokio::test]
async fn a_part_that_a_newer_host_has_taken_away_is_told_as_its_doing() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    let stack = session("one");
    push(&store, &stack, "held").await;
    let lease = claim(&store, &stack, Resolution::apply("")).await.lease;
    server.sql(
        &database,
        &format!(
            "BEGIN; ALTER TABLE airlock.actions RENAME COLUMN open TO is_open; ALTER TABLE airlock.actions DROP COLUMN decision;
            {RAISE}; COMMIT"
        ),
    );
    each_says_newer![
        push_action(&store, &stack, action("new")),
        store.list(&stack),
        store.claim(&stack, &Resolution::apply(""), &Tester.into()),
        store.requeue(lease, "failed"),
    ];
}

#[tokio::test]
async fn a_claim_of_an_older_host_ends_with_its_lease() {
    let server = server();
    let database = server.database();
    let url = server.url(&database);
    let older = connect_with_lease(&url, SHORT_LEASE).await;
    let stack = session("one");
    push(&older, &stack, "held").await;
    let lease = claim(&older, &stack, Resolution::apply("")).await.lease;
    server.sql(&database, RAISE);
    says_newer("renew", older.renew(&lease).await);
    older.abandon(same(&lease));
    let ran_out = "SELECT lease_until <= clock_timestamp() FROM airlock.actions";
    eventually("the lease runs out", async || {
        server.sql(&database, ran_out) == "t"
    })
    .await;
    // What a newer host sees, which can be no other program here.
    server.sql(&database, SET_BACK);
    let newer = connect(&url).await;
    let listed = newer.peek(&stack).await.unwrap().unwrap();
    assert_eq!(listed.state, ActionState::Interrupted);
    assert_eq!(listed.attempts, 1);
    let claimed = claim(&newer, &stack, Resolution::apply("")).await;
    complete(&newer, claimed).await;
}

/// While a newer host changes the tables, an older one's statements wait, and then see what it did:
/// also those that the server had begun before.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_write_of_an_older_host_slips_in_while_the_tables_change() {
    const LOCKED: &str = "SELECT count(*) FROM pg_locks
        WHERE relation = 'airlock.meta'::regclass AND mode = 'AccessExclusiveLock' AND granted";
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    let stack = session("one");
    // The server has planned each statement before.
    for id in ["1", "2", "3", "4", "5", "6", "7"] {
        push(&store, &stack, id).await;
        let claimed = claim(&store, &stack, Resolution::apply("")).await;
        store.requeue(claimed.lease, "again").await.unwrap();
    }
    let lease = claim(&store, &stack, Resolution::apply("")).await.lease;
    let changing = format!(
        "BEGIN; LOCK TABLE airlock.meta IN ACCESS EXCLUSIVE MODE; {RAISE};
        DO $$ BEGIN
            FOR round IN 1..2000 LOOP
                IF (SELECT count(*) FROM pg_locks WHERE relation = 'airlock.meta'::regclass AND NOT granted) = 4 THEN
                    RETURN;
                END IF;
                PERFORM pg_sleep(0.01);
            END LOOP;
            RAISE 'they don''t wait';
        END $$; COMMIT"
    );
    let on = database.clone();
    let newer = tokio::task::spawn_blocking(move || server.sql(&on, &changing));
    eventually("the tables are locked", async || {
        server.sql(&database, LOCKED) == "1"
    })
    .await;
    let (apply, decider) = (Resolution::apply(""), Tester.into());
    let (pushed, claimed, requeued, listed) = tokio::join!(
        push_action(&store, &stack, action("late")),
        store.claim(&stack, &apply, &decider),
        store.requeue(lease, "late"),
        store.list(&stack),
    );
    newer.await.unwrap();
    says_newer("push", pushed);
    says_newer("claim", claimed);
    says_newer("requeue", requeued);
    says_newer("list", listed);
    let late = "SELECT count(*) FROM airlock.actions WHERE id = 'late' OR last_error = 'late'";
    assert_eq!(server.sql(&database, late), "0");
}

/// A statement under way has read the version already. Whoever changes it waits for that statement,
/// also where each waits for the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_tables_change_once_no_statement_is_under_way() {
    let server = server();
    let database = server.database();
    server.sql(&database, include_str!("../../src/schema-1.sql"));
    server.sql(&database, "INSERT INTO airlock.meta VALUES ('schema', '1')");
    // It reads the version, and then the actions, which the other has locked by then.
    let under_way = "SET deadlock_timeout = '10min'; BEGIN; SELECT FROM airlock.meta;
        DO $$ BEGIN
            FOR round IN 1..2000 LOOP
                IF EXISTS (SELECT FROM pg_locks WHERE relation = 'airlock.meta'::regclass AND NOT granted) THEN
                    RETURN;
                END IF;
                PERFORM pg_sleep(0.01);
            END LOOP;
            RAISE 'nobody waits';
        END $$;
        INSERT INTO airlock.meta SELECT 'seen', count(*)::text FROM airlock.actions; COMMIT";
    let on = database.clone();
    let working = tokio::task::spawn_blocking(move || server.sql(&on, under_way));
    const READ: &str = "SELECT count(*) FROM pg_locks WHERE relation = 'airlock.meta'::regclass AND mode = 'AccessShareLock'";
    eventually("it is under way", async || {
        server.sql(&database, READ) == "1"
    })
    .await;
    let store = connect(&server.url(&database)).await;
    working.await.unwrap();
    assert_eq!(store.stats().await.unwrap().schema, 10);
    let seen = "SELECT value FROM airlock.meta WHERE name = 'seen'";
    assert_eq!(server.sql(&database, seen), "0");
}

#[tokio::test]
async fn a_store_that_was_replaced_by_an_older_one_is_not_written() {
    let server = server();
    let database = server.database();
    let store = connect(&server.url(&database)).await;
    let set = "UPDATE airlock.meta SET value = '5' WHERE name = 'schema'";
    server.sql(&database, set);
    let error = push_action(&store, &session("one"), action("new"))
        .await
        .unwrap_err();
    assert_eq!(error.backend_kind(), Some(BackendErrorKind::Missing));
    let text = error.to_string();
    assert!(
        text.contains("its schema is 5 instead of 10; restart this program"),
        "{text}"
    );
}
