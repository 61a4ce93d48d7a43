//! The JSON documents that programs get, each a type.
//!
//! They are an interface, which `json.schema.json` describes: later versions may add members, but
//! keep those that there are. Texts for people, such as messages, may change.

pub mod actions;
pub mod audit;
#[cfg(feature = "author")]
pub mod author;
pub mod calls;
pub mod config;
pub mod doctor;
pub mod error;
pub mod installed;
pub mod log;
mod model;
pub mod plugins;
pub mod policy;
#[cfg(all(test, feature = "author"))]
mod schema;
pub mod store;
#[cfg(all(test, feature = "author"))]
mod tests;
