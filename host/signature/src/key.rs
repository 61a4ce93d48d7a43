//! Public keys.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sigstore_verify::crypto::KeyAlgorithm;
use sigstore_verify::types::DerPublicKey;

use crate::error::{KeyError, shown};
use crate::{Digest, Signer};

/// A public key that Sigstore bundles are verified with, as `cosign generate-key-pair` writes it.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    der: DerPublicKey,
    id: Digest,
}

impl PublicKey {
    /// Reads a PEM block `PUBLIC KEY` (SubjectPublicKeyInfo): ECDSA on P-256 or P-384, Ed25519 or
    /// RSA.
    ///
    /// An RSA key of less than 2048 or more than 8192 bits is read, but verifies nothing.
    ///
    /// # Errors
    ///
    /// Fails if the text is not exactly one such block, or has a key of another kind.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        if pem.matches("-----BEGIN").count() != 1 {
            return Err(KeyError::Malformed("expected one PEM block".to_owned()));
        }
        let der = DerPublicKey::from_pem(pem)
            .map_err(|error| KeyError::Malformed(shown(&error.to_string())))?;
        match KeyAlgorithm::from_spki(&der) {
            Ok(
                KeyAlgorithm::EcdsaP256
                | KeyAlgorithm::EcdsaP384
                | KeyAlgorithm::Ed25519
                | KeyAlgorithm::Rsa,
            ) => {}
            Ok(other) => return Err(KeyError::Unsupported(format!("{other:?}"))),
            Err(error) => return Err(KeyError::Unsupported(shown(&error.to_string()))),
        }
        let id = Digest::of(der.as_bytes());
        Ok(Self { der, id })
    }

    /// Returns the SHA-256 of the key's SubjectPublicKeyInfo in DER.
    pub fn id(&self) -> Digest {
        self.id
    }

    pub(crate) fn der(&self) -> &DerPublicKey {
        &self.der
    }

    pub(crate) fn signer(&self) -> Signer {
        Signer::Key { key: self.id }
    }

    /// Returns whether the hint of a bundle names this key: by its ID, in hexadecimal or in base64.
    pub(crate) fn is_named(&self, hint: &str) -> bool {
        hint.strip_prefix("sha256:").unwrap_or(hint) == self.id.to_hex()
            || hint == STANDARD.encode(self.id.as_bytes())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.id)
    }
}

/// A public key of minisign.
///
/// Displays as the base64 line of its file.
#[derive(Clone, PartialEq, Eq)]
pub struct MinisignKey {
    key: minisign_verify::PublicKey,
    text: String,
}

impl MinisignKey {
    /// Reads the base64 line of a public key, or the file of two lines that `minisign -G` writes.
    ///
    /// # Errors
    ///
    /// Fails if the text is neither.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let lines: Vec<&str> = text.trim().lines().map(str::trim).collect();
        let line = match *lines.as_slice() {
            [line] => line,
            [comment, line] if comment.starts_with("untrusted comment:") => line,
            _ => {
                return Err(KeyError::Malformed(
                    "expected the base64 line of a minisign key".to_owned(),
                ));
            }
        };
        let malformed = || KeyError::Malformed(format!("not a minisign key: {}", shown(line)));
        let bytes = STANDARD.decode(line).map_err(|_| malformed())?;
        let text = STANDARD.encode(&bytes);
        let key = minisign_verify::PublicKey::from_base64(&text).map_err(|_| malformed())?;
        Ok(Self { key, text })
    }

    pub(crate) fn key(&self) -> &minisign_verify::PublicKey {
        &self.key
    }

    pub(crate) fn signer(&self) -> Signer {
        Signer::Minisign {
            minisign: self.text.clone(),
        }
    }
}

impl fmt::Display for MinisignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for MinisignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MinisignKey({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED25519: &str = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
    const MINISIGN: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

    fn pem(label: &str, base64: &str) -> String {
        format!("-----BEGIN {label}-----\n{base64}\n-----END {label}-----\n")
    }

    #[test]
    fn the_id_is_the_digest_of_the_der() {
        let key = PublicKey::from_pem(&pem("PUBLIC KEY", ED25519)).unwrap();
        let id = Digest::of(&STANDARD.decode(ED25519).unwrap());
        assert_eq!(key.id(), id);
        for hint in [id.to_string(), id.to_hex(), STANDARD.encode(id.as_bytes())] {
            assert!(key.is_named(&hint), "{hint}");
        }
        for hint in ["", "sha256:", &id.to_hex()[1..]] {
            assert!(!key.is_named(hint), "{hint}");
        }
    }

    #[test]
    fn other_texts_are_no_public_keys() {
        let good = pem("PUBLIC KEY", ED25519);
        for text in [
            String::new(),
            ED25519.to_owned(),
            pem("PRIVATE KEY", ED25519),
            pem("PUBLIC KEY", &ED25519[4..]),
            pem("PUBLIC KEY", ""),
            good.repeat(2),
            // X25519, and an Ed25519 key that is cut off.
            pem("PUBLIC KEY", &ED25519.replace("K2Vw", "K2Vu")),
            pem("PUBLIC KEY", "MCowBQYDK2VwAyEA"),
        ] {
            assert!(PublicKey::from_pem(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_minisign_key_is_a_line_or_a_file() {
        let file = format!("untrusted comment: minisign public key\n{MINISIGN}\n");
        for text in [MINISIGN, &format!("{MINISIGN}\r\n"), &file] {
            assert_eq!(MinisignKey::parse(text).unwrap().to_string(), MINISIGN);
        }
        for text in [
            "",
            "RWQ",
            &MINISIGN[4..],
            &format!("{MINISIGN}\n{MINISIGN}"),
            &format!("{file}{MINISIGN}"),
            &MINISIGN.replace("RWQ", "AWQ"),
        ] {
            assert!(MinisignKey::parse(text).is_err(), "{text}");
        }
    }
}
