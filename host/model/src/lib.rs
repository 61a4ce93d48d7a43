//! The values and rules of Airlock: pending actions, decisions about them, how they are stored, and
//! the messages that steer a model.
//!
//! This crate doesn't run plugins, use SQL or write to a terminal. To embed Airlock, depend on
//! `airlock-host`, which re-exports everything here. Depend on this crate alone to store, show or
//! resolve actions without running any.
//!
//! | to | see |
//! | --- | --- |
//! | decide | [`pending`]: what is on a session's stack, and what is decided about it; [`denial`]: denied requests |
//! | keep what is pending | [`store`]: the traits, and the store in memory |
//! | bound what a plugin may do | [`policy`], [`limits`] |
//! | read what a call gave, what it would do, and from what | [`content`], [`effects`], [`reads`], [`error`], [`event`] |
//! | offer tools to a model, and steer it | [`tool`], [`provider`], [`steering`] |
//! | know what something was, later | [`digest`], [`identity`] |
//! | take what others wrote | [`json`]: JSON as checked text; [`regular`]: files that others can change |

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
