//! Components of plugins, as stores keep them.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::digest::Digest;

/// A plugin as it was loaded. Cheap to clone.
#[derive(Clone)]
pub struct PluginBytes {
    /// The SHA-256 of the bytes.
    pub digest: Digest,
    /// The name of the plugin in messages.
    pub name: Arc<str>,
    /// The bytes of the component.
    pub bytes: Bytes,
}

impl fmt::Debug for PluginBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginBytes")
            .field("digest", &self.digest)
            .field("name", &self.name)
            .field("size", &self.bytes.len())
            .finish()
    }
}
