#![doc = include_str!("../README.md")]

mod bundle;
mod error;
mod key;
mod minisign;
mod pattern;
mod required;
mod signer;
mod statement;
mod trust;

pub use airlock_model::digest::Digest;
pub use bundle::{MAX_BUNDLE_BYTES, verify_bundle};
pub use error::{KeyError, SignatureError, TrustRootError};
pub use key::{MinisignKey, PublicKey};
pub use minisign::{MAX_MINISIGN_BYTES, verify_minisign};
pub use pattern::IdentityPattern;
pub use required::RequiredSigner;
pub use signer::Signer;
pub use trust::TrustRoot;
