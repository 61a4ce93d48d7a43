//! The signer of a verified signature.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Digest, MinisignKey};

/// The signer of a signature.
///
/// In TOML, a signer is `{ identity = "…", issuer = "…" }`, `{ key = "sha256:…" }` or
/// `{ minisign = "RWQ…" }`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Signer {
    /// The holder of an account, as a certificate of a Sigstore authority names it.
    Identity {
        /// The account: an email address, or the URI of a workflow.
        identity: String,
        /// The URL of the OpenID Connect issuer that authenticated the account.
        issuer: String,
    },
    /// The holder of a private key.
    Key {
        /// The SHA-256 of the public key's SubjectPublicKeyInfo in DER.
        #[schemars(with = "String")]
        key: Digest,
    },
    /// The holder of a minisign key.
    Minisign {
        /// The public key: the base64 line of its file.
        minisign: String,
    },
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity { identity, issuer } => write!(f, "{identity} ({issuer})"),
            Self::Key { key } => write!(f, "the key {key}"),
            Self::Minisign { minisign } => write!(f, "the minisign key {minisign}"),
        }
    }
}

/// All fields of all signers, so that an error names the field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    identity: Option<String>,
    issuer: Option<String>,
    key: Option<Digest>,
    minisign: Option<String>,
}

impl<'de> Deserialize<'de> for Signer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        match (fields.identity, fields.issuer, fields.key, fields.minisign) {
            (Some(identity), Some(issuer), None, None) => Ok(Self::Identity { identity, issuer }),
            (None, None, Some(key), None) => Ok(Self::Key { key }),
            (None, None, None, Some(text)) => {
                let key = MinisignKey::parse(&text).map_err(D::Error::custom)?;
                Ok(Self::Minisign {
                    minisign: key.to_string(),
                })
            }
            _ => Err(D::Error::custom(
                "expected `identity` and `issuer`, or only `key`, or only `minisign`",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Signer, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_signer_reads_back_what_it_wrote() {
        let key = Digest::of(b"key");
        let minisign = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3".to_owned();
        let signers = [
            (
                Signer::Identity {
                    identity: "ann@example.com".to_owned(),
                    issuer: "https://accounts.google.com".to_owned(),
                },
                "ann@example.com (https://accounts.google.com)".to_owned(),
                r#"{"identity":"ann@example.com","issuer":"https://accounts.google.com"}"#.into(),
            ),
            (
                Signer::Key { key },
                format!("the key {key}"),
                format!(r#"{{"key":"{key}"}}"#),
            ),
            (
                Signer::Minisign {
                    minisign: minisign.clone(),
                },
                format!("the minisign key {minisign}"),
                format!(r#"{{"minisign":"{minisign}"}}"#),
            ),
        ];
        for (signer, shown, json) in signers {
            assert_eq!(signer.to_string(), shown);
            assert_eq!(serde_json::to_string(&signer).unwrap(), json);
            assert_eq!(read(&json), Ok(signer));
        }
    }

    #[test]
    fn a_mixed_or_incomplete_signer_is_refused() {
        for (text, expected) in [
            ("{}", "expected `identity` and `issuer`"),
            (r#"{"identity":"a"}"#, "expected `identity` and `issuer`"),
            (r#"{"key":"sha256:0"}"#, "is not a digest"),
            (r#"{"minisign":"RWQ"}"#, "not a public key"),
            (r#"{"name":"a"}"#, "unknown field `name`"),
            (
                r#"{"identity":"a","issuer":"b","minisign":"RWQ"}"#,
                "expected `identity` and `issuer`",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn the_schema_names_the_fields() {
        let schema = serde_json::to_string(&schemars::schema_for!(Signer)).unwrap();
        for field in ["identity", "issuer", "key", "minisign"] {
            assert!(schema.contains(&format!("{field:?}")), "{schema}");
        }
        assert!(
            schema.contains(r#""additionalProperties":false"#),
            "{schema}"
        );
    }
}
