//! The authorities and logs that Sigstore bundles are verified with.

use std::fmt;
use std::sync::Arc;

use sigstore_verify::Verifier;
use sigstore_verify::trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot};

use crate::error::{TrustRootError, shown};

const MEDIA_TYPES: [&str; 2] = [
    "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    "application/vnd.dev.sigstore.trustedroot.v0.1+json",
];

/// The certificate authorities, timestamp authorities and transparency logs of one instance of
/// Sigstore: its `trusted_root.json`. Cheap to clone.
#[derive(Clone)]
pub struct TrustRoot(Arc<Verifier>);

impl TrustRoot {
    /// Reads a `trusted_root.json` of the version 0.1.
    ///
    /// A trust root without a certificate transparency log is valid, but verifies only signatures
    /// by keys.
    ///
    /// # Errors
    ///
    /// Fails if the text is not such a file, has another version, or has a certificate or key that
    /// can't be read.
    pub fn from_json(json: &str) -> Result<Self, TrustRootError> {
        let malformed =
            |error: &dyn fmt::Display| TrustRootError::Malformed(shown(&error.to_string()));
        let root = TrustedRoot::from_json(json).map_err(|error| malformed(&error))?;
        if !MEDIA_TYPES.contains(&root.media_type.as_str()) {
            return Err(TrustRootError::Unsupported(shown(&root.media_type)));
        }
        let verifier = Verifier::new(&root).map_err(|error| malformed(&error))?;
        Ok(Self(Arc::new(verifier)))
    }

    /// Returns the trust root of Sigstore's public instance, as it was when `sigstore-verify` was
    /// released.
    ///
    /// Later keys and authorities are missing. Read a newer file with
    /// [`from_json`](Self::from_json).
    ///
    /// # Panics
    ///
    /// Never: a test reads the file.
    pub fn public_good() -> Self {
        Self::from_json(SIGSTORE_PRODUCTION_TRUSTED_ROOT).expect("the embedded file is valid")
    }

    pub(crate) fn verifier(&self) -> &Verifier {
        &self.0
    }
}

impl fmt::Debug for TrustRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrustRoot").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_trust_root_is_valid() {
        let _ = TrustRoot::public_good();
    }

    #[test]
    fn other_texts_are_no_trust_roots() {
        let other = SIGSTORE_PRODUCTION_TRUSTED_ROOT.replace("version=0.1", "version=0.9");
        let broken = SIGSTORE_PRODUCTION_TRUSTED_ROOT.replace("MII", "AII");
        for (text, expected) in [
            ("", "not a Sigstore trust root: "),
            ("{}", "not a Sigstore trust root: "),
            (other.as_str(), "unsupported trust root: its media type is "),
            (broken.as_str(), "not a Sigstore trust root: "),
        ] {
            let error = TrustRoot::from_json(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
