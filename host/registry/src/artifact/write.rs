//! Writes the manifest of a component.

use serde::Serialize;

use super::{Annotations, COMPONENT, CONFIG, MANIFEST};
use crate::Digest;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    schema_version: u32,
    media_type: &'a str,
    config: Descriptor<'a>,
    layers: [Descriptor<'a>; 1],
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
        config: Descriptor::of(CONFIG, config.0, config.1),
        layers: [Descriptor::of(COMPONENT, component.0, component.1)],
        annotations,
    })
}
