//! The digest of bytes that arrive in parts.

use sha2::{Digest as _, Sha256};

use crate::Digest;

/// Hashes bytes that arrive in parts, and counts them.
#[derive(Clone, Default)]
pub(crate) struct Hasher {
    hash: Sha256,
    bytes: u64,
}

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// The number of bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn finish(self) -> Digest {
        Digest::from_bytes(self.hash.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashing_in_parts_gives_the_digest_of_the_whole() {
        let mut hasher = Hasher::default();
        hasher.update(b"air");
        hasher.update(b"lock");
        assert_eq!(hasher.bytes(), 7);
        assert_eq!(hasher.finish(), Digest::of(b"airlock"));
    }
}
