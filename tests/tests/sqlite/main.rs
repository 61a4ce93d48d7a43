//! The store in one SQLite file: what it keeps, and what it says when the file can't be used.

mod backup;
mod capacity;
mod faults;
mod kept;
mod maintenance;
mod unreadable;
mod versions;

use std::path::Path;
use std::sync::Arc;

use airlock_host::{Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Puppet, Tester, durable, engine};
use serde_json::json;
use tempfile::TempDir;

/// A store in a folder of its own, and a workspace beside it.
struct StoreFolder {
    folder: TempDir,
}

impl StoreFolder {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        Self { folder }
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("pending.db")
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.folder.path().join("workspace")
    }

    /// A host of the store.
    async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.file()).await.unwrap()
    }

    /// A session that has the puppet.
    async fn puppet(&self, store: &SqliteStore) -> Puppet {
        let (store, workspace) = (Arc::new(store.clone()), self.workspace());
        Puppet::with(|session| session.id("one").store(store).workspace(workspace)).await
    }

    /// A session that has no plugin but those that the store kept.
    fn bare(&self, store: &SqliteStore) -> Session {
        let builder = Session::builder()
            .model_decides()
            .id("one")
            .engine(engine());
        let builder = builder.store(Arc::new(store.clone()));
        builder.workspace(self.workspace()).open().unwrap()
    }
}

/// A SQLite connection to the file, beside the store's own.
fn sqlite(file: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(file).unwrap()
}

#[tokio::test]
async fn what_one_host_pushed_another_applies_after_the_first_is_gone() {
    let place = StoreFolder::new();
    let id = {
        let store = place.open().await;
        let puppet = place.puppet(&store).await;
        let steps = json!([{"do": "fs", "op": "write", "path": "/workspace/done", "text": "yes"}]);
        puppet.push(durable("Write: 1 file", steps)).await
    };
    let store = place.open().await;
    let session = place.bare(&store);
    let pending = session.pending().await.unwrap();
    assert_eq!(pending[0].action.label, "Write: 1 file");
    assert_eq!(pending[0].action.id.as_str(), id);
    session
        .resolve(Resolution::apply("as previewed"), Tester)
        .await
        .unwrap();
    assert!(place.workspace().join("done").exists());
    assert!(!session.has_pending().await.unwrap());
}
