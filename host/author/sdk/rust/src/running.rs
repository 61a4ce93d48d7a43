//! The tool that is at work: what it pushes comes from it, and a panic is told as its own.

use std::cell::RefCell;

thread_local! {
    /// None while the tools are being defined.
    static TOOL: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From here on `tool` is at work.
pub(crate) fn begin(tool: &str) {
    TOOL.set(Some(tool.to_owned()));
}

/// From here on no tool is.
pub(crate) fn nothing() {
    TOOL.set(None);
}

/// The tool that is at work. None where somebody reads it already: a panic there is nobody's.
pub(crate) fn tool() -> Option<String> {
    TOOL.with(|tool| tool.try_borrow().ok()?.clone())
}
