//! Copies of the store, and stores made of them.

use std::fs;

use airlock_host::Resolution;
use airlock_host::pending::ActionState;
use airlock_host::store::{BackendErrorKind, DurableStore};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Tester, durable};
use serde_json::json;

use crate::StoreFolder;

#[tokio::test]
async fn a_restored_store_has_all_of_it_and_says_what_may_have_happened_since() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    let applied = puppet.push(durable("Applied", json!([]))).await;
    puppet
        .resolve(Resolution::apply("before the backup"))
        .await
        .unwrap();
    let open = puppet
        .push(durable("Open", json!([{"do": "resolution"}])))
        .await;
    let backup = place.folder.path().join("backup.db");
    store.backup(&backup).await.unwrap();
    // In the original nothing has changed, and the action is applied there.
    assert_eq!(
        puppet.session.pending().await.unwrap()[0].state,
        ActionState::Pending
    );
    puppet
        .resolve(Resolution::apply("after the backup"))
        .await
        .unwrap();
    drop((puppet, store));

    let restored = place.folder.path().join("elsewhere/pending.db");
    SqliteStore::restore(&backup, &restored).await.unwrap();
    let store = SqliteStore::open(&restored).await.unwrap();
    assert_eq!(store.check().await.unwrap(), [""; 0]);
    let found = async |id: &str| store.find(&id.into()).await.unwrap().unwrap();
    assert_eq!(found(&applied).await.state, ActionState::Applied);
    let open = found(&open).await;
    assert_eq!((open.state, open.attempts), (ActionState::Interrupted, 1));
    assert!(
        open.last_error
            .unwrap()
            .starts_with("this comes from a backup")
    );
    // The plugin is in it too, and is told that this is not the first try.
    let session = place.bare(&store);
    let outcome = session
        .resolve(Resolution::apply("again"), Tester)
        .await
        .unwrap();
    assert!(
        outcome.text().contains(r#""attempt":2"#),
        "{}",
        outcome.text()
    );
}

#[tokio::test]
async fn neither_a_backup_nor_a_restored_store_overwrites_anything() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let there = place.folder.path().join("there");
    fs::write(&there, "mine").unwrap();
    for error in [
        store.backup(&there).await.unwrap_err(),
        SqliteStore::restore(place.file(), &there)
            .await
            .unwrap_err(),
    ] {
        assert_eq!(error.backend_kind(), Some(BackendErrorKind::Settings));
        let expected = format!(
            "the pending store {} already exists, and is not overwritten",
            there.display()
        );
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(fs::read_to_string(&there).unwrap(), "mine");
    // A log that was left would be taken for the restored file's own.
    let fresh = place.folder.path().join("fresh.db");
    fs::write(place.folder.path().join("fresh.db-wal"), "left").unwrap();
    SqliteStore::restore(place.file(), &fresh)
        .await
        .unwrap_err();
    assert!(!fresh.exists());
}

#[tokio::test]
async fn a_damaged_copy_is_not_restored_and_is_named() {
    let place = StoreFolder::new();
    let (garbage, to) = (place.folder.path().join("garbage"), place.file());
    for bytes in ["no database".repeat(500), String::new()] {
        fs::write(&garbage, bytes).unwrap();
        let error = SqliteStore::restore(&garbage, &to).await.unwrap_err();
        assert_eq!(error.backend_kind(), Some(BackendErrorKind::Damaged));
        assert!(error.to_string().contains("garbage"), "{error}");
        assert!(!to.exists());
    }
}

#[tokio::test]
async fn a_backup_that_is_made_while_others_write_is_sound() {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    let backup = place.folder.path().join("backup.db");
    let many = json!([airlock_tests::push(
        "Many",
        json!({"times": 200, "quiet": true})
    )]);
    let (copied, _) = tokio::join!(store.backup(&backup), puppet.call(many));
    copied.unwrap();
    let copy = SqliteStore::open(&backup).await.unwrap();
    assert_eq!(copy.check().await.unwrap(), [""; 0]);
    assert_eq!(store.stats().await.unwrap().pending, 200);
}
