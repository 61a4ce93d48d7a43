//! A review, as named on the command line.

use std::str::FromStr;

use airlock_desk::store::Store;
use airlock_desk::target::Target;
use airlock_host::Error;
use airlock_host::digest::Digest;
use airlock_host::pending::NamedAction;

use crate::failure::Failure;

/// The digits of a review's digest that are shown and required: 128 bits. If a guest could find two
/// reviews with the same prefix, it could show one and apply the other.
pub const DIGITS: usize = 32;

/// The digest of an action's effects, or its first digits.
#[derive(Debug, Clone)]
pub struct ReviewName(String);

impl FromStr for ReviewName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("sha256:").unwrap_or(text);
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex && (DIGITS..=64).contains(&digits.len()) {
            Ok(Self(digits.to_ascii_lowercase()))
        } else {
            Err(format!(
                "expected `sha256:` and at least {DIGITS} hexadecimal digits, as `airlock show` prints them"
            ))
        }
    }
}

impl ReviewName {
    /// Returns the whole digest.
    ///
    /// # Errors
    /// [`Error::NotReviewed`] if the action has another review, or an error if the store can't be
    /// read.
    pub async fn find(&self, target: &Target, store: &Store) -> Result<Digest, Failure> {
        let record = store.find(target.action.id.as_str()).await?;
        let now = store.effects(&record).await?.unwrap_or_default();
        let digest = now.digest();
        if digest.to_hex().starts_with(&self.0) {
            Ok(digest)
        } else {
            Err(Failure::from(&Error::NotReviewed {
                action: Box::new(NamedAction::from(&*target.action)),
                now: Box::new(now),
            }))
        }
    }
}

/// Formats a review: `sha256:` and its first digits.
pub fn short(review: &Digest) -> String {
    format!("sha256:{}", &review.to_hex()[..DIGITS])
}
