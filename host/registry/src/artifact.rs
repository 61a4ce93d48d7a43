//! The form in which registries keep a component: the Wasm OCI artifact of the CNCF.
//!
//! <https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/>: a manifest whose config
//! has its own media type, with exactly one layer, the component.

mod config;
mod read;
mod write;

use std::collections::BTreeMap;

use crate::{Digest, OciReference};

pub(crate) use config::Config;
pub(crate) use write::{manifest, signature_manifest};

/// The media type of a manifest.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of the config of a component's manifest.
pub(crate) const CONFIG: &str = "application/vnd.wasm.config.v0+json";
/// The media type of a component.
pub(crate) const COMPONENT: &str = "application/wasm";
/// The media type of a config that says nothing.
pub(crate) const EMPTY: &str = "application/vnd.oci.empty.v1+json";
/// The bytes of a config that says nothing.
pub(crate) const EMPTY_BYTES: &[u8] = b"{}";
/// The most bytes of a manifest: what registries take at least, by OCI's specification.
pub(crate) const MAX_MANIFEST_BYTES: usize = 4 << 20;

/// Texts about an artifact, such as its title, by their keys.
pub type Annotations = BTreeMap<String, String>;

/// OCI's own keys of annotations.
pub mod annotation {
    /// A title for people.
    pub const TITLE: &str = "org.opencontainers.image.title";
    /// The version of the packaged software.
    pub const VERSION: &str = "org.opencontainers.image.version";
    /// A description for people.
    pub const DESCRIPTION: &str = "org.opencontainers.image.description";
    /// The authors, and how to reach them.
    pub const AUTHORS: &str = "org.opencontainers.image.authors";
    /// The licences, as an SPDX expression.
    pub const LICENSES: &str = "org.opencontainers.image.licenses";
    /// The URL of the home page.
    pub const HOMEPAGE: &str = "org.opencontainers.image.url";
    /// The URL of the documentation.
    pub const DOCUMENTATION: &str = "org.opencontainers.image.documentation";
    /// The URL of the sources.
    pub const SOURCE: &str = "org.opencontainers.image.source";
    /// The revision of the sources.
    pub const REVISION: &str = "org.opencontainers.image.revision";
}

/// A component in a registry, as its manifest describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The reference that it was found by, pinned to the digest of the manifest.
    pub reference: OciReference,
    /// The digest of the manifest.
    pub digest: Digest,
    /// The digest of the component's bytes, which the manifest promises.
    pub component: Digest,
    /// The number of the component's bytes, which the manifest promises.
    pub bytes: u64,
    /// The manifest's annotations. They are the publisher's words: don't trust them.
    pub annotations: Annotations,
}

/// The reason why an artifact isn't a component that this crate reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The manifest is larger than 4 MiB.
    #[error("its manifest is larger than {MAX_MANIFEST_BYTES} bytes")]
    ManifestTooLarge,
    /// The manifest isn't the JSON of an OCI manifest.
    #[error("its manifest is broken: {0}")]
    Syntax(String),
    /// The reference names an image index, which lists manifests for several platforms.
    #[error("it is an image index of {0} manifests, and a component has one for all platforms")]
    Index(usize),
    /// The manifest has another media type.
    #[error("its manifest has the media type {0:?} instead of {MANIFEST:?}")]
    ManifestType(String),
    /// The config has another media type, as in an image of a container.
    #[error("its config has the media type {0:?} instead of {CONFIG:?}")]
    ConfigType(String),
    /// The manifest has no layer, or more than one.
    #[error("it has {0} layers instead of one")]
    Layers(usize),
    /// The layer has another media type.
    #[error("its layer has the media type {0:?} instead of {COMPONENT:?}")]
    LayerType(String),
    /// The bytes to publish are not a component.
    #[error("{0}")]
    Bytes(String),
}
