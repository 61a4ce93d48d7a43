//! The log that stays beside the file when nobody uses it, and what outlives its host with it.

mod folder;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use airlock_model::actor::{Actor, Evidence};
use airlock_model::digest::Digest;
use airlock_model::pending::{ActionId, ActionState, PendingAction, Resolution, SessionId};
use airlock_model::policy::Policy;
use airlock_model::store::{
    Claim, Claims, Completion, DurableStore, PluginBytes, Push, Records, Scope, Stacks,
};
use airlock_store_sqlite::SqliteStore;
use folder::StoreFolder;
use tokio::time::timeout;

impl StoreFolder {
    async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.file()).await.unwrap()
    }

    /// Bytes of the log.
    fn log(&self) -> u64 {
        let log = self.folder.path().join("pending.db-wal");
        log.metadata().map_or(0, |log| log.len())
    }

    /// Leaves two open actions, the last of them in the log alone, where nobody uses it.
    async fn leave_a_log(&self) {
        let store = self.open().await;
        push(&store, "one", "plugin", 0).await;
        let connection = rusqlite::Connection::open(self.file()).unwrap();
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        connection.query_row(checkpoint, [], |_| Ok(())).unwrap();
        assert_eq!(self.log(), 0);
        push(&store, "two", "plugin", 0).await;
    }
}

fn session() -> SessionId {
    SessionId::from("session")
}

/// Pushes an action for the plugin with this name, with a state of so many bytes.
async fn push(store: &SqliteStore, id: &str, plugin: &str, bytes: usize) {
    let plugin = plugin_bytes(plugin);
    let (digest, name, now) = (plugin.digest, plugin.name.clone(), SystemTime::now());
    let mut action = PendingAction::new(id, "Label", digest, name, Policy::default(), now);
    action.durable = true;
    let push = Push::new(&session(), Arc::new(action), &plugin);
    let push = push.with_guest_state(Some(vec![7; bytes]));
    store.push(push).await.unwrap();
}

fn plugin_bytes(name: &str) -> PluginBytes {
    let bytes = name.as_bytes().repeat(1000);
    PluginBytes {
        digest: Digest::of(&bytes),
        name: name.into(),
        bytes: bytes.into(),
    }
}

/// Discards the topmost action.
async fn discard(store: &SqliteStore) {
    let by = Actor::program("test").with_evidence(Evidence::None);
    let resolution = Resolution::discard("");
    let claim = store.claim(&session(), &resolution, &by).await.unwrap();
    let Claim::Claimed(claimed) = claim else {
        panic!("it is pending");
    };
    let ended = Completion::RejectFailed("");
    store.complete(claimed.lease, ended).await.unwrap();
}

async fn has_plugin(store: &SqliteStore, name: &str) -> bool {
    let digest = plugin_bytes(name).digest;
    store.plugin(digest).await.unwrap().is_some()
}

#[tokio::test]
async fn a_small_log_stays_when_the_store_is_closed_and_is_read_by_the_next_host() {
    let place = StoreFolder::new();
    place.leave_a_log().await;
    for _ in 0..2 {
        assert!(place.log() > 0);
        let store = place.open().await;
        let open = store.open_actions(Scope::All).await.unwrap();
        let ids: Vec<_> = open.iter().map(|it| it.action.id.as_str()).collect();
        assert_eq!(ids, ["two", "one"]);
        assert_eq!(store.check().await.unwrap(), [""; 0]);
    }
}

#[tokio::test]
async fn a_large_log_is_written_back_by_the_last_who_closes_the_store() {
    for reads in [false, true] {
        let place = StoreFolder::new();
        let store = place.open().await;
        push(&store, "one", "plugin", 3 << 20).await;
        if reads {
            store.stats().await.unwrap();
        }
        drop(store);
        assert_eq!(place.log(), 0, "{reads}");
        let store = place.open().await;
        assert_eq!(store.open_actions(Scope::All).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_copy_has_what_is_in_the_log_alone_also_one_of_the_files_that_nobody_uses() {
    for is_backup in [true, false] {
        let place = StoreFolder::new();
        place.leave_a_log().await;
        let copy = place.folder.path().join("copy.db");
        let restored = place.folder.path().join("restored.db");
        let from = if is_backup {
            place.open().await.backup(&copy).await.unwrap();
            copy
        } else {
            place.file()
        };
        SqliteStore::restore(from, &restored).await.unwrap();
        let store = SqliteStore::open(restored).await.unwrap();
        let found = store.find(&ActionId::from("two")).await.unwrap().unwrap();
        assert_eq!(found.state, ActionState::Interrupted, "{is_backup}");
    }
}

#[tokio::test]
async fn a_plugin_that_nothing_needs_stays_for_the_next_host_until_another_one_comes() {
    let place = StoreFolder::new();
    for _ in 0..2 {
        let store = place.open().await;
        push(&store, &uuid::Uuid::now_v7().to_string(), "plugin", 0).await;
        discard(&store).await;
    }
    let store = place.open().await;
    assert!(has_plugin(&store, "plugin").await);
    push(&store, "other", "other", 0).await;
    assert!(!has_plugin(&store, "plugin").await);
    assert!(has_plugin(&store, "other").await);
}

#[tokio::test]
async fn a_plugin_that_nothing_needs_goes_with_its_host_where_the_store_is_half_full() {
    let place = StoreFolder::new();
    {
        let store = place.open().await;
        store.set_byte_limit(Some(150 << 10)).await.unwrap();
        push(&store, "one", "plugin", 80 << 10).await;
        push(&store, "two", "other", 0).await;
        discard(&store).await;
        assert!(has_plugin(&store, "other").await);
    }
    let store = place.open().await;
    // The host ends with the maintenance that its last decision has begun.
    let gone = async {
        while has_plugin(&store, "other").await {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), gone).await.unwrap();
    assert!(has_plugin(&store, "plugin").await);
}
