//! Input and output on the terminal: the two output streams and their style, the progress line,
//! prompts, signals, and formats for times and sizes.

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
