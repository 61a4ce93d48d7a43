//! The values and rules of Airlock: pending actions, decisions about them, how they are stored, and
//! the messages that steer a model.
//!
//! This crate doesn't run plugins, use SQL or write to a terminal. To embed Airlock, depend on
//! `airlock-host`, which re-exports everything here. Depend on this crate alone to store, show or
//! resolve actions without running any.
//!
//! | to | see |
//! | --- | --- |
//! | decide | [`pending`]: the actions on a session's stack and the decisions about them; [`denial`]: denied requests |
//! | store pending actions | [`store`]: the traits, and the in-memory store |
//! | restrict a plugin | [`policy`], [`wants`], [`pattern`], [`limits`] |
//! | read a call's result, its effects, and the files that it read | [`content`], [`effects`], [`reads`], [`error`], [`event`] |
//! | offer tools to a model, and steer it | [`tool`], [`provider`], [`steering`] |
//! | identify plugins and workspaces later | [`digest`], [`identity`] |
//! | read input from other programs | [`json`]: JSON as checked text; [`regular`]: files that others can change |

pub mod actor;
pub mod call_record;
pub mod content;
pub mod denial;
pub mod digest;
pub mod effects;
pub mod error;
pub mod event;
pub mod identity;
mod interruption;
pub mod json;
pub mod limits;
mod packed;
pub mod pattern;
pub mod pending;
pub mod policy;
pub mod provider;
pub mod reads;
pub mod regular;
pub mod steering;
pub mod store;
pub mod tool;
#[doc(hidden)]
pub mod visible;
pub mod wants;
