//! Referrers: the manifests that name another manifest as their subject, and the index that lists
//! them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::artifact::MANIFEST;
use crate::{Digest, SignatureFormat};

/// The media type of an index.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// The tag with the index of the referrers of `digest`, if the registry has no list of its own.
pub(crate) fn tag_of(digest: Digest) -> String {
    format!("sha256-{}", digest.to_hex())
}

/// An index of manifests. Fields and entries that aren't known stay as they are.
pub(crate) struct Index<'a> {
    fields: BTreeMap<String, &'a RawValue>,
    manifests: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    media_type: String,
    digest: Digest,
    artifact_type: Option<String>,
}

/// An entry as this crate writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewEntry<'a> {
    pub(crate) media_type: &'a str,
    pub(crate) digest: Digest,
    pub(crate) size: u64,
    pub(crate) artifact_type: &'a str,
}

impl<'a> Index<'a> {
    /// Reads an index, or returns `None` if `bytes` are something else.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let fields: BTreeMap<String, &'a RawValue> = serde_json::from_slice(bytes).ok()?;
        let version: u32 = serde_json::from_str(fields.get("schemaVersion")?.get()).ok()?;
        let media_type = match fields.get("mediaType") {
            Some(media_type) => serde_json::from_str(media_type.get()).ok()?,
            None => INDEX.to_owned(),
        };
        // Some registries write an empty list as null.
        let manifests: Option<Vec<&'a RawValue>> =
            serde_json::from_str(fields.get("manifests")?.get()).ok()?;
        (version == 2 && media_type == INDEX).then(|| Self {
            fields,
            manifests: manifests.unwrap_or_default(),
        })
    }

    /// The manifests that may be of a signature, and whether their type says so.
    ///
    /// Entries that can't be read are left out.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (Digest, bool)> {
        self.entries().filter_map(|entry| {
            // Old clients leave out the type.
            let has_type = entry.artifact_type.is_some();
            let media_type = entry.artifact_type.unwrap_or_default();
            let is_signature = SignatureFormat::of_media_type(&media_type).is_some();
            let may_be_one = entry.media_type == MANIFEST && (is_signature || !has_type);
            may_be_one.then_some((entry.digest, is_signature))
        })
    }

    pub(crate) fn contains(&self, digest: Digest) -> bool {
        self.entries().any(|entry| entry.digest == digest)
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        self.manifests
            .iter()
            .filter_map(|entry| serde_json::from_str(entry.get()).ok())
    }

    /// The index with one more entry. The others keep their text.
    pub(crate) fn with(&self, entry: &NewEntry<'_>) -> serde_json::Result<Vec<u8>> {
        let entry = to_raw_value(entry)?;
        let mut manifests = self.manifests.clone();
        manifests.push(&entry);
        let manifests = to_raw_value(&manifests)?;
        let media_type = to_raw_value(INDEX)?;
        let mut fields = self.fields.clone();
        fields.insert("manifests".to_owned(), &manifests);
        fields.insert("mediaType".to_owned(), &media_type);
        serde_json::to_vec(&fields)
    }
}

/// The fields of a signature's manifest, as far as they matter.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u32,
    media_type: Option<String>,
    artifact_type: Option<String>,
    config: Option<Layer>,
    layers: Vec<Layer>,
    subject: Subject,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layer {
    media_type: String,
    digest: Digest,
    size: u64,
}

#[derive(Deserialize)]
struct Subject {
    digest: Digest,
}

/// The file that a signature's manifest names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SignatureLayer {
    pub(crate) format: SignatureFormat,
    pub(crate) digest: Digest,
    pub(crate) size: u64,
}

impl SignatureLayer {
    /// Reads the manifest of a signature of `subject`, or returns `None` if it is something else.
    pub(crate) fn read(manifest: &[u8], subject: Digest) -> Option<Self> {
        let manifest: Manifest = serde_json::from_slice(manifest).ok()?;
        let is_manifest = manifest.media_type.is_none_or(|it| it == MANIFEST);
        let is_about = manifest.subject.digest == subject;
        if manifest.schema_version != 2 || !is_manifest || !is_about {
            return None;
        }
        let [layer] = manifest.layers.as_slice() else {
            return None;
        };
        let format = match manifest.artifact_type {
            Some(media_type) => SignatureFormat::of_media_type(&media_type)?,
            // Before OCI 1.1, the type of the config was that of the artifact.
            None => {
                let config = manifest.config.map(|it| it.media_type);
                let config = config.and_then(|it| SignatureFormat::of_media_type(&it));
                config.or_else(|| SignatureFormat::of_media_type(&layer.media_type))?
            }
        };
        Some(Self {
            format,
            digest: layer.digest,
            size: layer.size,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
    const EMPTY: &str = "application/vnd.oci.empty.v1+json";

    fn entry(name: &str, artifact_type: Option<&str>) -> Value {
        let digest = Digest::of(name.as_bytes());
        let mut entry = json!({"mediaType": MANIFEST, "digest": digest, "size": 1});
        if let Some(artifact_type) = artifact_type {
            entry["artifactType"] = artifact_type.into();
        }
        entry
    }

    #[test]
    fn entries_that_may_be_signatures_are_candidates() {
        let mut nested = entry("nested", None);
        nested["mediaType"] = INDEX.into();
        let index = json!({
            "schemaVersion": 2,
            "manifests": [
                entry("bundle", Some(BUNDLE)),
                entry("untyped", None),
                entry("other", Some("application/spdx+json")),
                nested,
                {"mediaType": MANIFEST, "digest": "sha512:00", "size": 1},
                {}, null, 1, "x",
            ],
        });
        let index = index.to_string();
        let index = Index::read(index.as_bytes()).unwrap();
        let candidates: Vec<_> = index.candidates().collect();
        assert_eq!(
            candidates,
            [
                (Digest::of(b"bundle"), true),
                (Digest::of(b"untyped"), false)
            ]
        );
    }

    #[test]
    fn other_documents_are_no_index() {
        for other in [
            "<html></html>",
            "",
            "[]",
            "{}",
            r#"{"schemaVersion":2}"#,
            r#"{"schemaVersion":1,"manifests":[]}"#,
            r#"{"schemaVersion":2,"manifests":{}}"#,
            r#"{"schemaVersion":2,"mediaType":"text/html","manifests":[]}"#,
        ] {
            assert!(Index::read(other.as_bytes()).is_none(), "{other}");
        }
        assert!(Index::read(br#"{"schemaVersion":2,"manifests":null}"#).is_some());
    }

    #[test]
    fn an_added_entry_leaves_the_others_as_they_are() {
        let old = r#"{"z" :  1.0,"digest":"x"}"#;
        let text = format!(r#"{{"schemaVersion":2,"manifests":[ {old} ],"y":{{"b":1,"a":2}}}}"#);
        let index = Index::read(text.as_bytes()).unwrap();
        let new = NewEntry {
            media_type: MANIFEST,
            digest: Digest::of(b""),
            size: 3,
            artifact_type: BUNDLE,
        };
        assert!(!index.contains(new.digest));
        let bytes = index.with(&new).unwrap();
        let index = Index::read(&bytes).unwrap();
        assert!(index.contains(new.digest));
        let digest = new.digest;
        assert_eq!(
            String::from_utf8(bytes.clone()).unwrap(),
            format!(
                r#"{{"manifests":[{old},{{"mediaType":"{MANIFEST}","digest":"{digest}","size":3,"artifactType":"{BUNDLE}"}}],"mediaType":"{INDEX}","schemaVersion":2,"y":{{"b":1,"a":2}}}}"#
            )
        );
    }

    fn manifest() -> Value {
        json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": BUNDLE,
            "config": {"mediaType": EMPTY, "digest": Digest::of(b"{}"), "size": 2},
            "layers": [{"mediaType": BUNDLE, "digest": Digest::of(b"x"), "size": 1}],
            "subject": {"mediaType": MANIFEST, "digest": Digest::of(b"subject"), "size": 1},
        })
    }

    fn read(manifest: &Value) -> Option<SignatureFormat> {
        let manifest = manifest.to_string();
        let layer = SignatureLayer::read(manifest.as_bytes(), Digest::of(b"subject"))?;
        assert_eq!((layer.digest, layer.size), (Digest::of(b"x"), 1));
        Some(layer.format)
    }

    #[test]
    fn the_artifact_the_config_or_the_layer_tells_the_format() {
        let minisign = "application/vnd.airlock.minisign.v1";
        let mut value = manifest();
        assert_eq!(read(&value), Some(SignatureFormat::SigstoreBundle));
        value["layers"][0]["mediaType"] = "text/plain".into();
        value["artifactType"] = minisign.into();
        assert_eq!(read(&value), Some(SignatureFormat::Minisign));
        value.as_object_mut().unwrap().remove("artifactType");
        assert_eq!(read(&value), None);
        value["config"]["mediaType"] = BUNDLE.into();
        assert_eq!(read(&value), Some(SignatureFormat::SigstoreBundle));
        value["config"]["mediaType"] = EMPTY.into();
        value["layers"][0]["mediaType"] = minisign.into();
        assert_eq!(read(&value), Some(SignatureFormat::Minisign));
    }

    #[test]
    fn other_manifests_are_no_signatures() {
        let layer = manifest()["layers"][0].clone();
        for (field, value) in [
            ("schemaVersion", json!(1)),
            ("mediaType", json!(INDEX)),
            ("artifactType", json!("application/spdx+json")),
            ("layers", json!([])),
            ("layers", json!([layer, layer])),
            ("layers", Value::Null),
            ("subject", Value::Null),
            ("subject", json!({"digest": Digest::of(b"another")})),
        ] {
            let mut manifest = manifest();
            manifest[field] = value;
            assert_eq!(read(&manifest), None, "{manifest}");
        }
    }
}
