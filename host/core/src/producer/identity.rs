//! The identity of a native producer in a store.
//!
//! Stores identify a producer by the SHA-256 of its bytes, and keep the bytes. A native producer is
//! part of the program, so the store keeps a text with its name and the version of its state
//! format. Any producer of that name that reads this version may apply the action.

use std::fmt;

use airlock_model::digest::Digest;
use airlock_model::store::PluginBytes;
use bytes::Bytes;

/// The first line of the text. No component begins with it.
const FIRST_LINE: &str = "airlock native producer";

/// A native producer's name, and the version of the format of its actions' state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NativeIdentity {
    pub name: String,
    pub state_version: u32,
}

impl NativeIdentity {
    /// The highest state version. It is low enough to find a version by its digest.
    pub const LAST_STATE_VERSION: u32 = 999;

    pub fn new(name: &str, state_version: u32) -> Self {
        Self {
            name: name.to_owned(),
            state_version,
        }
    }

    /// Returns the text that a store keeps in place of a component.
    pub fn source(&self) -> PluginBytes {
        let bytes = self.to_string().into_bytes();
        PluginBytes {
            digest: Digest::of(&bytes),
            name: self.name.as_str().into(),
            bytes: Bytes::from(bytes),
        }
    }

    /// Parses the text that a store kept. Returns `None` for anything else, such as a component.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        (lines.next()? == FIRST_LINE).then_some(())?;
        let name = lines.next()?.strip_prefix("name: ")?;
        let state_version = lines.next()?.strip_prefix("state: ")?.parse().ok()?;
        Some(Self::new(name, state_version))
    }

    /// Returns the identity with this name and digest, if any. For stores that keep no bytes.
    pub fn of(name: &str, digest: Digest) -> Option<Self> {
        (0..=Self::LAST_STATE_VERSION)
            .map(|state_version| Self::new(name, state_version))
            .find(|identity| identity.source().digest == digest)
    }
}

/// Writes the text, which must never change for the same name and version.
impl fmt::Display for NativeIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            state_version,
        } = self;
        write!(f, "{FIRST_LINE}\nname: {name}\nstate: {state_version}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_reads_back_what_it_wrote() {
        let identity = NativeIdentity::new("ast_edit", 7);
        let source = identity.source();
        assert_eq!(NativeIdentity::read(&source.bytes), Some(identity));
        assert_eq!(source.digest, Digest::of(&source.bytes));
    }

    #[test]
    fn what_is_no_identity_is_told_from_one() {
        for bytes in [
            &b""[..],
            b"\0asm\x0d\0\x01\0",
            b"airlock native producer",
            b"airlock native producer\nname: a\nstate: -1\n",
            b"airlock native producer\nstate: 1\nname: a\n",
            b"\xff",
        ] {
            assert_eq!(NativeIdentity::read(bytes), None, "{bytes:?}");
        }
    }

    /// Stores have actions of released versions under these digests.
    #[test]
    fn the_digests_of_known_ones_stay() {
        for (state_version, digest) in [
            (
                1,
                "sha256:127b3989a62a33148c9a7226eeceed05bf8de2a45b18b7d7e4a49466ac7af288",
            ),
            (
                2,
                "sha256:92faaef15940ab5720099d591e77b450a72669d6f2ee9542da26cf04425a574d",
            ),
        ] {
            let ast_edit = NativeIdentity::new("ast_edit", state_version);
            assert_eq!(ast_edit.source().digest.to_string(), digest);
        }
    }

    #[test]
    fn an_identity_is_found_by_its_name_and_digest() {
        let digest = NativeIdentity::new("send", 999).source().digest;
        let found = NativeIdentity::of("send", digest).unwrap();
        assert_eq!(found.state_version, 999);
        assert_eq!(NativeIdentity::of("ast_edit", digest), None);
    }
}
