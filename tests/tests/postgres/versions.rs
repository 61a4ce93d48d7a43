//! Databases of earlier versions.

use std::sync::Arc;

use airlock_host::pending::ActionState;
use airlock_host::store::{DurableStore, Scope};
use airlock_host::{Resolution, Session};
use airlock_store_postgres::PostgresStore;
use airlock_tests::{PostgresServer, Tester, engine, postgres_version_2, sqlite_version_2};

/// The database that version 2 left. The plugin's bytes are those in the file of that version.
fn version_2() -> String {
    let server = PostgresServer::shared();
    let database = server.database();
    server.sql(&database, &postgres_version_2());
    let file = rusqlite::Connection::open(sqlite_version_2()).unwrap();
    let plugin = "SELECT bytes FROM plugins";
    let bytes: Vec<u8> = file.query_row(plugin, [], |row| row.get(0)).unwrap();
    // No command line may be longer than 128 KiB.
    for part in bytes.chunks(50_000) {
        let hex: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
        let append = format!("UPDATE airlock.plugins SET bytes = bytes || '\\x{hex}'");
        server.sql(&database, &append);
    }
    server.url(&database)
}

#[tokio::test]
async fn a_database_of_version_2_is_listed_as_it_was_and_what_waits_in_it_is_applied() {
    let store = PostgresStore::connect(&version_2()).await.unwrap();
    let stats = store.stats().await.unwrap();
    assert_eq!(
        (
            stats.schema,
            stats.pending,
            stats.interrupted,
            stats.applied,
            stats.discarded
        ),
        (10, 2, 1, 1, 1)
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
            ("Bench: 3 items", ActionState::Interrupted),
        ]
    );
    for record in &open {
        assert_eq!(&*record.action.plugin_name, "bench");
        assert!(record.action.workspace_identity.is_none());
    }
    let workspace = tempfile::TempDir::new().unwrap();
    let session = Session::builder()
        .model_decides()
        .id(open[0].session.clone())
        .engine(engine())
        .store(Arc::new(store.clone()))
        .workspace(workspace.path())
        .open()
        .unwrap();
    let said = Resolution::apply("").in_same_workspace();
    let outcome = session.resolve(said, Tester).await.unwrap();
    assert_eq!(outcome.text(), "Applied: Bench: 4 items");
    assert_eq!(store.check().await.unwrap(), [""; 0]);
}
