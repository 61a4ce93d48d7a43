//! Signatures by minisign.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minisign_verify::Error;

use crate::{MinisignKey, SignatureError, Signer};

/// The maximum size of a minisign signature that is read, in bytes.
pub const MAX_MINISIGN_BYTES: usize = 16 * 1024;

/// Verifies the signature file that `minisign -S` writes, about `contents`.
///
/// The trusted comment must be signed too; what it says is ignored.
/// Signatures of the legacy format (`minisign -S -l`), which are not prehashed, are refused.
///
/// # Errors
///
/// Fails if the signature is malformed, of the legacy format, by none of `keys`, or about other
/// contents.
pub fn verify_minisign(
    signature: &[u8],
    contents: &[u8],
    keys: &[MinisignKey],
) -> Result<Signer, SignatureError> {
    if signature.len() > MAX_MINISIGN_BYTES {
        return Err(SignatureError::TooLarge {
            actual: signature.len(),
            limit: MAX_MINISIGN_BYTES,
        });
    }
    let malformed = || SignatureError::Malformed("not a signature by minisign".to_owned());
    let text = str::from_utf8(signature).map_err(|_| malformed())?;
    let signature = minisign_verify::Signature::decode(text).map_err(|_| malformed())?;
    let mut problem = SignatureError::UnknownKey(format!("minisign key {}", key_id(text)));
    for key in keys {
        problem = match key.key().verify(contents, &signature, false) {
            Ok(()) => {
                return Ok(key.signer());
            }
            Err(Error::UnexpectedKeyId) => continue,
            Err(Error::UnexpectedAlgorithm) => SignatureError::Unsupported(
                "it has minisign's legacy format, which is not prehashed".to_owned(),
            ),
            Err(_) => SignatureError::NotTrusted(
                "it does not match the contents, or its comment was changed".to_owned(),
            ),
        };
    }
    Err(problem)
}

/// Returns the key ID as minisign prints it.
fn key_id(signature: &str) -> String {
    let line = signature.lines().nth(1).unwrap_or_default();
    let bytes = STANDARD.decode(line.trim()).unwrap_or_default();
    match bytes.get(2..10).and_then(|id| id.try_into().ok()) {
        Some(id) => format!("{:016X}", u64::from_le_bytes(id)),
        None => "without an ID".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    const SIGNATURE: &str = "untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
trusted comment: timestamp:1633700835\tfile:test\tprehashed
wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==
";

    #[test]
    fn a_signature_is_by_a_given_key() {
        let key = MinisignKey::parse(KEY).unwrap();
        let signature = verify_minisign(SIGNATURE.as_bytes(), b"test", &[key]).unwrap();
        assert_eq!(signature.to_string(), format!("the minisign key {KEY}"));
        assert_eq!(
            verify_minisign(SIGNATURE.as_bytes(), b"test", &[]),
            Err(SignatureError::UnknownKey(
                "minisign key E7620F1842B4E81F".to_owned()
            ))
        );
    }

    proptest! {
        #[test]
        fn an_altered_signature_is_refused(position in 0..SIGNATURE.len(), byte in any::<u8>()) {
            let mut signature = SIGNATURE.as_bytes().to_vec();
            signature[position] = byte;
            let key = MinisignKey::parse(KEY).unwrap();
            let accepted = verify_minisign(&signature, b"test", &[key]).is_ok();
            let comment = SIGNATURE.find('\n').unwrap();
            prop_assert!(
                !accepted || position <= comment || signature == SIGNATURE.as_bytes()
                    || byte.is_ascii_whitespace()
            );
        }
    }
}
