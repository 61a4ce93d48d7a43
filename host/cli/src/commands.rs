//! The commands, a file or a folder each.

#[cfg(feature = "author")]
pub mod author;
