//! The commands, a file or a folder each, and what several of them share: `stage` and `left`.

#[cfg(feature = "author")]
pub mod author;
pub mod inspect;
mod left;
pub mod log;
pub mod pending;
pub mod plugins;
pub mod resolve;
pub mod run;
pub mod show;
mod stage;
pub mod store;
