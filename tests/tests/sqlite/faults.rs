//! What it says when the file can't be used, and that nothing committed is lost by it.
//!
//! A full disk and one that can't be written are tried through the program, in
//! `host/cli/tests/cli`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use airlock_host::Resolution;
use airlock_host::pending::ActionState;
use airlock_host::store::{BackendErrorKind, Claims, DurableStore, Scope};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Tester, durable, eventually, poll_once};
use serde_json::json;

use crate::{StoreFolder, sqlite};

/// Opens the store, and gives the error.
async fn refused(file: &Path) -> (BackendErrorKind, String) {
    let error = SqliteStore::open(file).await.unwrap_err();
    (error.backend_kind().unwrap(), error.to_string())
}

#[tokio::test]
async fn a_file_that_is_no_store_is_named_and_left_as_it_is() {
    type Make = fn(&Path);
    let kinds: [(Make, BackendErrorKind, &str); 5] = [
        (
            |file| fs::write(file, "not a database at all".repeat(100)).unwrap(),
            BackendErrorKind::Damaged,
            "is damaged: file is not a database",
        ),
        (
            |file| {
                sqlite(file)
                    .execute_batch("CREATE TABLE other (x)")
                    .unwrap()
            },
            BackendErrorKind::Damaged,
            "is a SQLite file of another program",
        ),
        (
            |file| sqlite(file).pragma_update(None, "user_version", 7).unwrap(),
            BackendErrorKind::Damaged,
            "is a SQLite file of another program",
        ),
        (
            |file| fs::create_dir(file).unwrap(),
            BackendErrorKind::Settings,
            "is not a regular file",
        ),
        (
            |file| fs::write(file.parent().unwrap().join("pending.db.hosts"), "").unwrap(),
            // Only found out when this host has to show that it lives.
            BackendErrorKind::Other,
            "",
        ),
    ];
    for (make, kind, problem) in kinds {
        let place = StoreFolder::new();
        make(&place.file());
        if problem.is_empty() {
            let store = place.open().await;
            let puppet = place.puppet(&store).await;
            puppet.push(durable("Waits", json!([]))).await;
            let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
            assert_eq!(error.kind(), kind.as_str(), "{error}");
            assert_eq!(puppet.labels().await, ["Waits"]);
            continue;
        }
        let before = fs::read(place.file()).ok();
        let (found, text) = refused(&place.file()).await;
        assert_eq!(found, kind, "{text}");
        let expected = format!("the pending store {} {problem}", place.file().display());
        assert_eq!(text, expected);
        assert_eq!(fs::read(place.file()).ok(), before);
    }
}

#[tokio::test]
async fn a_store_of_a_newer_version_is_not_touched() {
    let place = StoreFolder::new();
    drop(place.open().await);
    sqlite(&place.file())
        .pragma_update(None, "user_version", 1_000)
        .unwrap();
    let before = fs::read(place.file()).unwrap();
    let (kind, text) = refused(&place.file()).await;
    assert_eq!(kind, BackendErrorKind::Newer);
    assert!(
        text.ends_with("was changed by a newer version of this program: it has schema 1000; the newest that this program supports is 11"),
        "{text}"
    );
    assert_eq!(fs::read(place.file()).unwrap(), before);
}

#[tokio::test]
async fn a_process_that_has_the_store_open_while_a_newer_one_changes_it_says_so_and_loses_nothing()
{
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    puppet.push(durable("Before", json!([]))).await;
    let set = |version: u32| {
        let newer = sqlite(&place.file());
        newer.pragma_update(None, "user_version", version).unwrap();
    };
    set(1_000);
    let steps = json!([durable("After", json!([]))]);
    let pushed = puppet.text(steps).await;
    let resolved = puppet.resolve(Resolution::apply("")).await.unwrap_err();
    let listed = puppet.session.pending().await.unwrap_err();
    for told in [pushed, resolved.to_string(), listed.to_string()] {
        assert!(
            told.contains("changed by a newer version of this program: it has schema 1000"),
            "{told}"
        );
    }
    set(4);
    assert_eq!(puppet.labels().await, ["Before"]);
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[0].attempts, 0);
    puppet.resolve(Resolution::apply("")).await.unwrap();
    assert_eq!(store.check().await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn a_store_that_is_missing_is_made_only_where_that_was_asked_for() {
    let place = StoreFolder::new();
    let file = place.folder.path().join("below/it/pending.db");
    let error = SqliteStore::builder(&file)
        .create(false)
        .open()
        .await
        .unwrap_err();
    assert_eq!(
        error.backend_kind(),
        Some(BackendErrorKind::Missing),
        "{error}"
    );
    assert!(!file.parent().unwrap().exists());
    let store = SqliteStore::open(&file).await.unwrap();
    assert_eq!(store.path(), file.canonicalize().unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }
}

#[tokio::test]
async fn damage_inside_the_file_is_told_and_what_is_sound_stays_readable() {
    let place = StoreFolder::new();
    {
        let store = place.open().await;
        let puppet = place.puppet(&store).await;
        for _ in 0..5 {
            puppet.push(durable("Sound", json!([]))).await;
        }
    }
    // With the log written back and gone, all is in the one file.
    sqlite(&place.file())
        .pragma_update(None, "journal_mode", "DELETE")
        .unwrap();
    let mut bytes = fs::read(place.file()).unwrap();
    let sound = bytes.clone();
    // Everything behind the schema: pages of data.
    let from = bytes.len() / 2;
    bytes[from..].fill(0xA5);
    fs::write(place.file(), &bytes).unwrap();
    let store = SqliteStore::open(place.file()).await.unwrap();
    let problems = match store.check().await {
        Ok(problems) => problems,
        Err(error) => vec![error.to_string()],
    };
    assert!(problems[0].contains("damaged"), "{problems:?}");
    drop(store);

    fs::write(place.file(), &sound).unwrap();
    let _ = fs::remove_file(place.folder.path().join("pending.db-wal"));
    let store = place.open().await;
    assert_eq!(store.check().await.unwrap(), [""; 0]);
    assert_eq!(store.open_actions(Scope::All).await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_file_that_stays_locked_is_told_after_the_patience_is_over() {
    let place = StoreFolder::new();
    let store = SqliteStore::builder(place.file()).patience(Duration::from_millis(20));
    let store = store.open().await.unwrap();
    let puppet = place.puppet(&store).await;
    puppet.push(durable("Before", json!([]))).await;
    let other = sqlite(&place.file());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
    assert_eq!(error.kind(), "store-busy", "{error}");
    assert_eq!(puppet.labels().await, ["Before"]);
    other.execute_batch("ROLLBACK").unwrap();
    puppet.resolve(Resolution::apply("")).await.unwrap();
}

#[tokio::test]
async fn a_call_whose_actions_the_store_does_not_take_fails_and_a_later_one_succeeds() {
    let place = StoreFolder::new();
    let store = SqliteStore::builder(place.file()).patience(Duration::from_millis(20));
    let store = store.open().await.unwrap();
    let puppet = place.puppet(&store).await;
    let other = sqlite(&place.file());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = puppet.call(json!([durable("Refused", json!([]))])).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind(), BackendErrorKind::Busy.as_str(), "{refused}");
    other.execute_batch("ROLLBACK").unwrap();
    puppet.push(durable("Taken", json!([]))).await;
    assert_eq!(puppet.labels().await, ["Taken"]);
}

#[tokio::test]
async fn a_claim_that_nobody_heard_of_is_taken_back_and_counts_as_no_attempt() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    puppet.push(durable("Kept", json!([]))).await;
    let other = sqlite(&place.file());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (session, apply) = (puppet.session.id(), Resolution::apply(""));
    assert!(
        poll_once(store.claim(session, &apply, &Tester.into()))
            .await
            .is_none()
    );
    other.execute_batch("ROLLBACK").unwrap();
    // It comes behind the claim.
    puppet.push(durable("Later", json!([]))).await;
    eventually("both are pending", async || {
        puppet.labels().await == ["Later", "Kept"]
    })
    .await;
    let pending = puppet.session.pending().await.unwrap();
    assert_eq!(pending[1].attempts, 0);
}

/// The clock as it stands when everything in the store was written a hundred years later: the same
/// as having jumped back.
#[tokio::test]
async fn a_clock_that_jumped_back_changes_no_order_no_claim_and_no_end() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    let first = puppet.push(durable("First", json!([]))).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
    puppet.push(durable("Below", json!([]))).await;
    let century = 100 * 365 * 86_400_000_i64;
    let later = "UPDATE actions SET pushed_at = pushed_at + ?1, claimed_at = claimed_at + ?1,
        resolved_at = resolved_at + ?1";
    sqlite(&place.file()).execute(later, [century]).unwrap();

    // Pushed later, and by the clock a century earlier.
    puppet
        .push(durable("Above", json!([{"do": "failed", "message": "no"}])))
        .await;
    assert_eq!(puppet.labels().await, ["Above", "Below"]);
    puppet.resolve(Resolution::apply("")).await.unwrap_err();
    assert_eq!(puppet.labels().await, ["Above", "Below"]);
    puppet.resolve(Resolution::discard("")).await.unwrap();
    let query = airlock_host::store::ResolvedQuery {
        session: None,
        workspace: None,
        limit: 10,
    };
    let resolved = store.resolved_actions(&query).await.unwrap();
    let labels: Vec<_> = resolved
        .iter()
        .map(|record| record.action.label.as_str())
        .collect();
    assert_eq!(labels, ["Above", "First"]);
    // What was resolved in the future is not old.
    let pruned = store.prune(Duration::ZERO).await.unwrap();
    assert_eq!(pruned.actions, 1);
    let kept = store.find(&first.as_str().into()).await.unwrap().unwrap();
    assert_eq!(kept.state, ActionState::Applied);
    let error = puppet
        .resolve(Resolution::apply("").with_id(first.as_str()))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("Pending action {first} was already applied.")
    );
}

#[tokio::test]
async fn a_state_above_the_limit_is_refused_at_push_and_nothing_of_it_is_kept() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    let too_large = airlock_tests::push("Large", json!({"stateBytes": (4 << 20) + 1}));
    let said = puppet.text(json!([too_large])).await;
    assert!(
        said.starts_with("push refused: limit-exceeded: the size of the state is "),
        "{said}"
    );
    assert_eq!(store.stats().await.unwrap().pending, 0);
    let largest = airlock_tests::push("Largest", json!({"stateBytes": 4 << 20}));
    puppet.push(largest).await;
    puppet.resolve(Resolution::apply("")).await.unwrap();
    assert!(matches!(store.check().await, Ok(problems) if problems.is_empty()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_open_a_new_store_at_once_all_find_it_whole() {
    for _ in 0..20 {
        let place = StoreFolder::new();
        let opening = (0..8).map(|_| tokio::spawn(SqliteStore::open(place.file())));
        for opened in opening.collect::<Vec<_>>() {
            opened.await.unwrap().unwrap();
        }
    }
}
