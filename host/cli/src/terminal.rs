//! What is shown and asked: the two output streams, what they look like, the line of progress,
//! questions, Ctrl-C, and the words for times and sizes.

pub mod confirming;
pub mod interrupt;
pub mod log;
pub mod output;
pub mod pager;
pub mod progress;
pub mod prompt;
pub mod size;
pub mod style;
pub mod time;
