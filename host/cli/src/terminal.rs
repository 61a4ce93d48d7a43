//! What is shown and asked: the two output streams, what they look like, the line of progress,
//! questions, signals, and the words for times and sizes.

pub mod confirming;
#[cfg(feature = "serve")]
pub mod hangup;
pub mod interrupt;
pub mod log;
pub mod output;
pub mod pager;
pub mod progress;
pub mod prompt;
pub mod size;
pub mod style;
pub mod time;
