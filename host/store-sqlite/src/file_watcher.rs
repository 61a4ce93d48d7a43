//! Noticing what other processes, and other stores of this one, commit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::SqliteStoreInner;

/// How often the file is asked whether it has changed. SQLite has no other way to tell across
/// processes; asking costs microseconds, and happens only while somebody waits.
const EVERY: Duration = Duration::from_millis(50);

/// Whether a thread asks.
#[derive(Debug, Default)]
pub(super) struct FileWatcher(AtomicBool);

impl FileWatcher {
    /// Asks from now on, until nobody waits any more.
    pub fn start(&self, inner: &Arc<SqliteStoreInner>) {
        if self.0.swap(true, Ordering::SeqCst) {
            return;
        }
        let weak = Arc::downgrade(inner);
        let thread = thread::Builder::new().name("airlock-watch".to_owned());
        if let Err(error) = thread.spawn(move || watch(&weak)) {
            self.0.store(false, Ordering::SeqCst);
            tracing::warn!("changes by other processes are not noticed: {error}");
        }
    }
}

fn watch(store: &Weak<SqliteStoreInner>) {
    let mut connection = None;
    let mut last = None;
    while let Some(inner) = store.upgrade() {
        if !inner.watchers.any() {
            inner.file_watcher.0.store(false, Ordering::SeqCst);
            // Who came meanwhile found a thread, and must not be left without one.
            if !inner.watchers.any() || inner.file_watcher.0.swap(true, Ordering::SeqCst) {
                return;
            }
        }
        if connection.is_none() {
            connection = inner.readers.connect().ok();
        }
        let version = connection.as_ref().and_then(version);
        // At first, what was changed before the first look may have been missed.
        if version != last || version.is_none() {
            inner.watchers.notify_all();
        }
        if version.is_none() {
            connection = None;
        }
        last = version;
        drop(inner);
        thread::sleep(EVERY);
    }
}

/// A number that changes with every commit of another connection.
fn version(connection: &Connection) -> Option<i64> {
    connection
        .pragma_query_value(None, "data_version", |row| row.get(0))
        .ok()
}
