//! The values and rules of Airlock: pending actions, who decides about them, how they are kept, and
//! what a model is told meanwhile.
//!
//! Nothing here runs a plugin, speaks SQL or knows a terminal. What embeds Airlock depends on
//! `airlock-host`, which has all of this too; a crate that keeps, shows or decides, and runs
//! nothing, needs this one alone.
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
