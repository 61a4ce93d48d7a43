//! Writes the manifests of components and signatures.

use serde::Serialize;

use super::{Annotations, COMPONENT, CONFIG, EMPTY, EMPTY_BYTES, MANIFEST};
use crate::Digest;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    schema_version: u32,
    media_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<&'a str>,
    config: Descriptor<'a>,
    layers: [Descriptor<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<Descriptor<'a>>,
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    annotations: &'a Annotations,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor<'a> {
    media_type: &'a str,
    digest: Digest,
    size: u64,
}

impl<'a> Descriptor<'a> {
    fn of(media_type: &'a str, bytes: &[u8], digest: Digest) -> Self {
        Self {
            media_type,
            digest,
            size: bytes.len() as u64,
        }
    }
}

/// The manifest of the component with these bytes, this config and these annotations.
///
/// It depends on nothing else, so the same component has the same digest everywhere.
pub(crate) fn manifest(
    component: (&[u8], Digest),
    config: (&[u8], Digest),
    annotations: &Annotations,
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Manifest {
        schema_version: 2,
        media_type: MANIFEST,
        artifact_type: None,
        config: Descriptor::of(CONFIG, config.0, config.1),
        layers: [Descriptor::of(COMPONENT, component.0, component.1)],
        subject: None,
        annotations,
    })
}

/// The manifest of the signature with these bytes, of the artifact with the manifest `subject`.
///
/// It depends on nothing else, so the same signature has the same digest everywhere.
pub(crate) fn signature_manifest(
    media_type: &str,
    signature: (&[u8], Digest),
    subject: (&[u8], Digest),
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Manifest {
        schema_version: 2,
        media_type: MANIFEST,
        artifact_type: Some(media_type),
        config: Descriptor::of(EMPTY, EMPTY_BYTES, Digest::of(EMPTY_BYTES)),
        layers: [Descriptor::of(media_type, signature.0, signature.1)],
        subject: Some(Descriptor::of(MANIFEST, subject.0, subject.1)),
        annotations: &Annotations::new(),
    })
}
