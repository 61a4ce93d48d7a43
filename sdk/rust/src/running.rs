//! The running tool: the source of what is pushed, and the one to name in a panic.

use std::cell::RefCell;

thread_local! {
    /// The running tool, or `None` while the tools are being defined.
    static TOOL: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Marks `tool` as running.
pub(crate) fn begin(tool: &str) {
    TOOL.set(Some(tool.to_owned()));
}

/// Marks no tool as running.
pub(crate) fn nothing() {
    TOOL.set(None);
}

/// Returns the running tool. It is `None` if there is none, or if the value is just being set.
pub(crate) fn tool() -> Option<String> {
    TOOL.with(|tool| tool.try_borrow().ok()?.clone())
}
