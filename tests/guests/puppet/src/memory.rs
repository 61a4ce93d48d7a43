//! What lives in the memory of one instance, and dies with it.
//!
//! An instance has a single thread, so a thread-local is a static without a lock.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::script::Script;

thread_local! {
    static NOTES: RefCell<HashMap<String, String>> = RefCell::default();
    static VOLATILE: RefCell<HashMap<String, Script>> = RefCell::default();
}

pub fn remember(key: &str, value: &str) {
    NOTES.with_borrow_mut(|notes| notes.insert(key.to_owned(), value.to_owned()));
}

/// The value, or `none`.
pub fn recall(key: &str) -> String {
    NOTES
        .with_borrow(|notes| notes.get(key).cloned())
        .unwrap_or_else(|| "none".into())
}

/// Keeps what a volatile action will do. It stays when the action is resolved: an apply that failed
/// comes again.
pub fn keep_volatile(action_id: &str, script: &Script) {
    VOLATILE.with_borrow_mut(|scripts| scripts.insert(action_id.to_owned(), script.clone()));
}

pub fn volatile_script(action_id: &str) -> Option<Script> {
    VOLATILE.with_borrow(|scripts| scripts.get(action_id).cloned())
}
