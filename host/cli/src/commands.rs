//! The commands, one file or folder each, and their shared parts: `context`, `params` and
//! `still_pending`.

pub mod audit;
#[cfg(feature = "author")]
pub mod author;
mod checks;
pub mod config;
mod context;
pub mod doctor;
pub mod inspect;
pub mod install;
pub mod installed;
pub mod log;
pub mod params;
pub mod part;
pub mod pending;
pub mod plugins;
pub mod policy;
pub mod push;
mod recovered;
pub mod refresh;
pub mod rehearsed;
pub mod resolve;
pub mod review;
pub mod run;
#[cfg(feature = "serve")]
pub mod serve;
pub mod show;
mod still_pending;
pub mod store;
mod together;
pub mod undo;
pub mod update;
