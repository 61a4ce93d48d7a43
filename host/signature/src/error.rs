//! What can be wrong with a signature, a key or a trust root.

use crate::Digest;

/// The reason why a signature was refused.
///
/// Texts from the signature are shortened and have no control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The signature is larger than the limit.
    #[error("the signature is {actual} bytes; the limit is {limit}")]
    TooLarge {
        /// The size in bytes.
        actual: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The bytes aren't a signature, or a part of it can't be read.
    #[error("malformed signature: {0}")]
    Malformed(String),
    /// The signature has a version, an algorithm or an encoding that isn't supported.
    #[error("unsupported signature: {0}")]
    Unsupported(String),
    /// The statement doesn't vouch for its subject; it is a vulnerability report, for example.
    #[error("a statement of the type {0} does not vouch for a component")]
    UnsupportedPredicate(String),
    /// The signature is about other contents.
    #[error(
        "the signature is not about this component: it is about {}, expected {}",
        list(.signed), list(.expected)
    )]
    OtherComponent {
        /// The SHA-256 digests that the signature names, at most 8.
        signed: Vec<Digest>,
        /// The digests that may be signed.
        expected: Vec<Digest>,
    },
    /// The key that the signature names is none of the given keys.
    #[error("the signature is by an unknown key: {0}")]
    UnknownKey(String),
    /// The certificate was not valid when the signature was made.
    #[error("the certificate had expired when the signature was made: {0}")]
    Expired(String),
    /// A cryptographic check failed, or a required proof is missing.
    #[error("the signature is not trusted: {0}")]
    NotTrusted(String),
}

/// The reason why a public key was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text isn't a public key.
    #[error("not a public key: {0}")]
    Malformed(String),
    /// The key has an algorithm that isn't supported.
    #[error("unsupported public key: {0}")]
    Unsupported(String),
}

/// The reason why a trust root was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrustRootError {
    /// The text isn't a trust root.
    #[error("not a Sigstore trust root: {0}")]
    Malformed(String),
    /// The trust root has another version.
    #[error("unsupported trust root: its media type is {0}")]
    Unsupported(String),
}

/// Returns at most 200 characters of a text that others wrote, with escapes for all that isn't
/// printed.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(200) {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    if text.chars().nth(200).is_some() {
        shown.push('…');
    }
    shown
}

fn list(digests: &[Digest]) -> String {
    match digests {
        [] => "no SHA-256 digest".to_owned(),
        _ => {
            let digests: Vec<String> = digests.iter().map(Digest::to_string).collect();
            digests.join(" or ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_are_short_and_printable() {
        assert_eq!(shown("plain 'é' \"x\""), "plain 'é' \"x\"");
        assert_eq!(shown("a\u{1b}[2J\nb\u{202e}"), "a\\u{1b}[2J\\nb\\u{202e}");
        assert_eq!(shown(&"é".repeat(300)), format!("{}…", "é".repeat(200)));
    }

    #[test]
    fn an_error_names_the_digests() {
        let digest = Digest::of(b"");
        let error = SignatureError::OtherComponent {
            signed: vec![],
            expected: vec![digest, digest],
        };
        assert_eq!(
            error.to_string(),
            format!(
                "the signature is not about this component: it is about no SHA-256 digest, \
                 expected {digest} or {digest}"
            )
        );
    }
}
