//! Reads manifests, and refuses those that aren't of components.

use serde::Deserialize;

use super::{Annotations, Artifact, ArtifactError, COMPONENT, CONFIG, MANIFEST};
use crate::{Digest, OciReference};

/// The fields of a manifest and of an index, as far as they matter.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u32,
    media_type: Option<String>,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
    /// Only an index has them.
    manifests: Option<Vec<serde::de::IgnoredAny>>,
    annotations: Option<Annotations>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: String,
    digest: Digest,
    size: u64,
}

impl Artifact {
    /// Reads the manifest with the given bytes and digest.
    pub(crate) fn read(
        reference: &OciReference,
        digest: Digest,
        manifest: &[u8],
    ) -> Result<Self, ArtifactError> {
        let manifest: Manifest = serde_json::from_slice(manifest)
            .map_err(|error| ArtifactError::Syntax(shown(&error.to_string())))?;
        if let Some(manifests) = &manifest.manifests {
            return Err(ArtifactError::Index(manifests.len()));
        }
        if manifest.schema_version != 2 {
            let problem = format!("schemaVersion is {} instead of 2", manifest.schema_version);
            return Err(ArtifactError::Syntax(problem));
        }
        if let Some(other) = manifest.media_type.filter(|it| it != MANIFEST) {
            return Err(ArtifactError::ManifestType(shown(&other)));
        }
        let missing = |field: &str| ArtifactError::Syntax(format!("it has no {field}"));
        let config = manifest.config.ok_or_else(|| missing("config"))?;
        if config.media_type != CONFIG {
            return Err(ArtifactError::ConfigType(shown(&config.media_type)));
        }
        let layers = manifest.layers.ok_or_else(|| missing("layers"))?;
        let [layer] = layers.as_slice() else {
            return Err(ArtifactError::Layers(layers.len()));
        };
        if layer.media_type != COMPONENT {
            return Err(ArtifactError::LayerType(shown(&layer.media_type)));
        }
        Ok(Self {
            reference: reference.clone().pinned(digest),
            digest,
            component: layer.digest,
            bytes: layer.size,
            annotations: manifest.annotations.unwrap_or_default(),
        })
    }
}

/// Text of a registry's that goes into a message.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(manifest: &Value) -> Result<Artifact, String> {
        let reference = "localhost/x:1".parse().unwrap();
        let manifest = manifest.to_string();
        let digest = Digest::of(manifest.as_bytes());
        let artifact = Artifact::read(&reference, digest, manifest.as_bytes());
        artifact.map_err(|error| error.to_string())
    }

    fn good() -> Value {
        json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "digest": Digest::of(b"{}"), "size": 2},
            "layers": [{"mediaType": COMPONENT, "digest": Digest::of(b"x"), "size": 1}],
        })
    }

    /// The message for a good manifest in which one field is another.
    fn refused(pointer: &str, value: Value) -> String {
        let mut manifest = good();
        *manifest.pointer_mut(pointer).unwrap() = value;
        read(&manifest).unwrap_err()
    }

    #[test]
    fn a_components_manifest_is_read() {
        let artifact = read(&good()).unwrap();
        assert_eq!(artifact.component, Digest::of(b"x"));
        assert_eq!(artifact.bytes, 1);
        assert_eq!(artifact.reference.digest(), Some(artifact.digest));
        assert!(artifact.annotations.is_empty());
    }

    #[test]
    fn a_media_type_may_be_left_out() {
        let mut manifest = good();
        manifest.as_object_mut().unwrap().remove("mediaType");
        assert!(read(&manifest).is_ok());
    }

    #[test]
    fn other_manifests_are_refused_by_name() {
        let mut index = good();
        index["manifests"] = json!([{}, {}]);
        assert_eq!(
            read(&index).unwrap_err(),
            "it is an image index of 2 manifests, and a component has one for all platforms"
        );
        let layer = good()["layers"][0].clone();
        let cases = [
            (
                "/schemaVersion",
                json!(1),
                "its manifest is broken: schemaVersion is 1 instead of 2",
            ),
            (
                "/mediaType",
                json!("application/vnd.docker.distribution.manifest.v2+json"),
                r#"its manifest has the media type "application/vnd.docker.distribution.manifest.v2+json" instead of "application/vnd.oci.image.manifest.v1+json""#,
            ),
            (
                "/config/mediaType",
                json!("application/vnd.oci.image.config.v1+json"),
                r#"its config has the media type "application/vnd.oci.image.config.v1+json" instead of "application/vnd.wasm.config.v0+json""#,
            ),
            (
                "/config",
                Value::Null,
                "its manifest is broken: it has no config",
            ),
            (
                "/layers",
                Value::Null,
                "its manifest is broken: it has no layers",
            ),
            ("/layers", json!([]), "it has 0 layers instead of one"),
            (
                "/layers",
                json!([layer, layer]),
                "it has 2 layers instead of one",
            ),
            (
                "/layers/0/mediaType",
                json!("application/vnd.oci.image.layer.v1.tar+gzip\u{1b}[31m"),
                r#"its layer has the media type "application/vnd.oci.image.layer.v1.tar+gzip[31m" instead of "application/wasm""#,
            ),
        ];
        for (pointer, value, message) in cases {
            assert_eq!(refused(pointer, value), message);
        }
    }

    #[test]
    fn broken_fields_are_refused() {
        for (pointer, value) in [
            ("/layers/0/size", json!(-1)),
            ("/layers/0/size", json!("1")),
            ("/layers/0/size", json!(1e30)),
            ("/layers/0/digest", json!("sha256:00")),
            (
                "/layers/0/digest",
                json!("md5:d41d8cd98f00b204e9800998ecf8427e"),
            ),
            ("/layers/0/mediaType", Value::Null),
        ] {
            let message = refused(pointer, value);
            assert!(message.starts_with("its manifest is broken: "), "{message}");
        }
    }
}
