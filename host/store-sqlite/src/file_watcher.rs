//! Detects commits of other processes, and of other stores in this one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::SqliteStoreInner;

/// Polling interval. SQLite has no notification across processes. A poll takes microseconds, and
/// happens only while a caller waits.
const EVERY: Duration = Duration::from_millis(50);

/// True if a polling thread is running.
#[derive(Debug, Default)]
pub(super) struct FileWatcher(AtomicBool);

impl FileWatcher {
    /// Starts polling until no caller waits any more.
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
            // A caller that arrived in the meantime saw a running thread and still needs one.
            if !inner.watchers.any() || inner.file_watcher.0.swap(true, Ordering::SeqCst) {
                return;
            }
        }
        if connection.is_none() {
            connection = inner.readers.connect().ok();
        }
        let version = connection.as_ref().and_then(version);
        // A change before the first poll may have been missed.
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

/// Returns a number that changes with every commit of another connection.
fn version(connection: &Connection) -> Option<i64> {
    connection
        .pragma_query_value(None, "data_version", |row| row.get(0))
        .ok()
}
