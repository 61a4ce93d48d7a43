//! The signer that a signature must have.

use std::fmt;

use crate::{IdentityPattern, MinisignKey, PublicKey, Signer};

/// The signer that a signature must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequiredSigner {
    /// An account at an issuer.
    Identity {
        /// The pattern that the identity must match.
        identity: IdentityPattern,
        /// The URL of the issuer, which must be the same text.
        issuer: String,
    },
    /// The holder of a private key.
    Key(PublicKey),
    /// The holder of a minisign key.
    Minisign(MinisignKey),
}

impl RequiredSigner {
    /// Returns whether a verified signer is the required one.
    pub fn is_met_by(&self, signer: &Signer) -> bool {
        match (self, signer) {
            (
                Self::Identity { identity, issuer },
                Signer::Identity {
                    identity: actual,
                    issuer: actual_issuer,
                },
            ) => issuer == actual_issuer && identity.matches(actual),
            (Self::Key(required), Signer::Key { key }) => required.id() == *key,
            (Self::Minisign(required), Signer::Minisign { minisign }) => {
                MinisignKey::parse(minisign).is_ok_and(|actual| actual == *required)
            }
            _ => false,
        }
    }
}

impl fmt::Display for RequiredSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity { identity, issuer } => write!(f, "{identity} ({issuer})"),
            Self::Key(key) => write!(f, "the key {}", key.id()),
            Self::Minisign(key) => write!(f, "the minisign key {key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Digest;

    const MINISIGN: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    const PEM: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
";

    #[test]
    fn a_signer_meets_only_its_own_requirement() {
        let key = PublicKey::from_pem(PEM).unwrap();
        let signers = [
            Signer::Identity {
                identity: "https://github.com/ann/x".to_owned(),
                issuer: "https://token.actions.githubusercontent.com".to_owned(),
            },
            Signer::Key { key: key.id() },
            Signer::Minisign {
                minisign: MINISIGN.to_owned(),
            },
            Signer::Key {
                key: Digest::of(b"other"),
            },
            Signer::Identity {
                identity: "https://github.com/ann/x".to_owned(),
                issuer: "https://token.actions.githubusercontent.com/".to_owned(),
            },
        ];
        let required = [
            RequiredSigner::Identity {
                identity: IdentityPattern::new("https://github.com/ann/*"),
                issuer: "https://token.actions.githubusercontent.com".to_owned(),
            },
            RequiredSigner::Key(key),
            RequiredSigner::Minisign(MinisignKey::parse(MINISIGN).unwrap()),
        ];
        for (i, required) in required.iter().enumerate() {
            for (j, signer) in signers.iter().enumerate() {
                assert_eq!(
                    required.is_met_by(signer),
                    i == j,
                    "{required} and {signer}"
                );
            }
        }
    }
}
