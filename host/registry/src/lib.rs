#![doc = include_str!("../README.md")]

mod artifact;
mod auth;
mod cache;
mod client;
mod credentials;
mod download;
mod error;
mod hasher;
mod http;
mod local;
mod reference;
mod referrers;
mod signatures;

pub use airlock_model::digest::Digest;
pub use artifact::{Annotations, Artifact, ArtifactError, annotation};
pub use cache::Cache;
pub use client::{Client, DEFAULT_MAX_COMPONENT_BYTES, Options, Published};
pub use credentials::Credentials;
pub use download::{Fetched, Progress};
pub use error::Error;
pub use reference::{OciReference, Place, Reference, ReferenceError, WebReference};
pub use signatures::{
    FoundSignature, MAX_SIGNATURE_BYTES, SignatureFormat, signatures_next_to_file,
};
