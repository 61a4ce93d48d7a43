#![doc = include_str!("../README.md")]

mod hasher;
mod local;
mod reference;

pub use airlock_model::digest::Digest;
pub use reference::{OciReference, Reference, ReferenceError, WebReference};
