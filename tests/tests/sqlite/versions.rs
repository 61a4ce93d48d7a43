//! Files of earlier versions.

use std::fs;
use std::path::{Path, PathBuf};

use airlock_host::identity::WorkspaceDifference;
use airlock_host::pending::{ActionState, Actor};
use airlock_host::store::{DurableStore, Records, ResolvedQuery, Scope};
use airlock_host::{Error, Resolution};
use airlock_tests::{Tester, sqlite_version_2};

use crate::{StoreFolder, sqlite};

#[tokio::test]
async fn a_file_of_version_2_is_listed_as_it_was_and_what_waits_in_it_is_applied() {
    let place = StoreFolder::new();
    fs::copy(sqlite_version_2(), place.file()).unwrap();
    let store = place.open().await;
    let stats = store.stats().await.unwrap();
    assert_eq!(
        (
            stats.schema,
            stats.pending,
            stats.interrupted,
            stats.applied,
            stats.discarded
        ),
        (11, 3, 2, 1, 1)
    );
    let open = store.open_actions(Scope::All).await.unwrap();
    let states: Vec<_> = open
        .iter()
        .map(|record| (record.action.label.as_str(), record.state))
        .collect();
    assert_eq!(
        states,
        [
            ("Bench: 4 items", ActionState::Pending),
            ("Bench: 0 items", ActionState::Interrupted),
            ("Bench: 3 items", ActionState::Interrupted),
        ]
    );
    for record in &open {
        assert_eq!(&*record.action.plugin_name, "bench");
        assert!(record.action.workspace.is_some() && record.action.workspace_identity.is_none());
    }
    let query = ResolvedQuery {
        session: None,
        workspace: None,
        limit: 10,
    };
    let resolved = store.resolved_actions(&query).await.unwrap();
    let reasons: Vec<_> = resolved
        .iter()
        .map(|record| record.resolved.as_ref().unwrap().reason.as_str())
        .collect();
    assert_eq!(reasons, ["not today", "as previewed"]);
    // Of who decided there was a name alone, and of what was previewed nothing.
    for record in &resolved {
        let name = Some("uid0@vm".into());
        let by = Actor::Unknown { name }.into();
        assert_eq!(record.resolved.as_ref().unwrap().decided_by, by);
        let call = store.call_record(&record.session, &record.action.id).await;
        assert_eq!(call.unwrap(), None);
    }

    // Which directory it was, the older version didn't note: somebody has to say that it is this
    // one.
    let workspace = place.workspace();
    let session = airlock_host::Session::builder()
        .model_decides()
        .id(open[0].session.clone())
        .engine(airlock_tests::engine())
        .store(std::sync::Arc::new(store.clone()))
        .workspace(&workspace)
        .open()
        .unwrap();
    let error = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), "other-workspace", "{error}");
    let said = Resolution::apply("").in_same_workspace();
    let outcome = session.resolve(said, Tester).await.unwrap();
    assert_eq!(outcome.text(), "Applied: Bench: 4 items");
    assert_eq!(store.check().await.unwrap(), [""; 0]);
}

/// What was pushed at a path that is still there, by a version that noted the path alone.
#[tokio::test]
async fn an_action_of_version_2_is_not_applied_at_its_path_without_a_word() {
    let place = StoreFolder::new();
    fs::copy(sqlite_version_2(), place.file()).unwrap();
    let workspace = place.workspace().canonicalize().unwrap();
    crate::sqlite(&place.file())
        .execute(
            "UPDATE actions SET workspace = ?",
            [std::os::unix::ffi::OsStrExt::as_bytes(
                workspace.as_os_str(),
            )],
        )
        .unwrap();
    let store = place.open().await;
    let session = airlock_host::Session::builder()
        .model_decides()
        .id("workspace:/tmp/photos")
        .engine(airlock_tests::engine())
        .store(std::sync::Arc::new(store.clone()))
        .workspace(&workspace)
        .open()
        .unwrap();
    match session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err()
    {
        Error::WorkspaceReplaced { difference, .. } => {
            assert_eq!(difference, WorkspaceDifference::Unknown);
        }
        other => panic!("{other:?}"),
    }
}

/// A host that is killed before its log is first written back leaves a file without our mark: its
/// log has that.
#[tokio::test]
async fn a_store_of_which_all_is_in_its_log_is_ours() {
    let place = StoreFolder::new();
    // As an older version made its files.
    {
        let connection = sqlite(&place.file());
        connection.pragma_update(None, "page_size", 2048).unwrap();
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .unwrap();
        connection
            .pragma_update(None, "wal_autocheckpoint", 0)
            .unwrap();
        let old = sqlite(&sqlite_version_2());
        let mut tables = old
            .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC")
            .unwrap();
        let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let tables: Vec<_> = tables.map(Result::unwrap).collect();
        connection
            .execute_batch(&format!(
                "BEGIN; {}; PRAGMA application_id = 0x416c636b; PRAGMA user_version = 2; COMMIT",
                tables.join(";")
            ))
            .unwrap();
        let (bytes, log) = (
            fs::read(place.file()).unwrap(),
            fs::read(wal(&place.file())).unwrap(),
        );
        drop(connection);
        fs::write(place.file(), &bytes).unwrap();
        fs::write(wal(&place.file()), log).unwrap();
        assert_eq!(bytes[68..72], [0; 4]);
    }
    place.open().await;
}

fn wal(file: &Path) -> PathBuf {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}
