//! Attaches signatures to artifacts.

use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::Client;
use super::referrers::read_index;
use crate::artifact::{EMPTY_BYTES, MANIFEST, MAX_MANIFEST_BYTES, signature_manifest};
use crate::referrers::{INDEX, NewEntry, tag_of};
use crate::signatures::too_large;
use crate::{Digest, Error, MAX_SIGNATURE_BYTES, OciReference, SignatureFormat};

/// The most times that the tag for referrers is written, if others write it at the same time.
const ATTEMPTS: usize = 3;

/// The index of an artifact without referrers.
const EMPTY_INDEX: &[u8] = br#"{"schemaVersion":2,"manifests":[]}"#;

impl Client {
    /// Attaches a signature to the component that `reference` is pinned to, and returns the digest
    /// of the signature's manifest.
    ///
    /// The manifest depends on the bytes and the component alone: attaching the same again changes
    /// nothing.
    /// If the registry keeps no list of referrers, the signature is added to the tag that OCI's
    /// specification has for it.
    /// The bytes aren't verified.
    ///
    /// # Errors
    ///
    /// If the reference has no digest or isn't a component; if the signature is larger than
    /// [`MAX_SIGNATURE_BYTES`]; if the tag for referrers is something else, or doesn't keep the
    /// signature; or if the registry refuses.
    pub fn attach<'a>(
        &'a self,
        reference: &'a OciReference,
        format: SignatureFormat,
        signature: Bytes,
    ) -> BoxFuture<'a, Result<Digest, Error>> {
        Box::pin(async move {
            if reference.digest().is_none() {
                return Err(Error::AttachToTag(reference.to_string()));
            }
            if signature.len() as u64 > MAX_SIGNATURE_BYTES {
                return Err(too_large(format!("the signature for {reference}")));
            }
            let (artifact, subject) = self.read_artifact(reference).await?;
            let media_type = format.media_type(&signature);
            let digest = Digest::of(&signature);
            let manifest = signature_manifest(
                &media_type,
                (&signature, digest),
                (&subject, artifact.digest),
            );
            let manifest = Bytes::from(manifest.map_err(|error| reference.server_error(error))?);
            let config = Bytes::from_static(EMPTY_BYTES);
            let config_digest = Digest::of(EMPTY_BYTES);
            self.upload(reference, config_digest, config).await?;
            self.upload(reference, digest, signature).await?;
            let entry = NewEntry {
                media_type: MANIFEST,
                digest: Digest::of(&manifest),
                size: manifest.len() as u64,
                artifact_type: &media_type,
            };
            let name = entry.digest.to_string();
            let put = self.put_manifest(reference, &name, MANIFEST, manifest);
            if !put.await?.is_listed {
                self.list(reference, artifact.digest, &entry).await?;
            }
            Ok(entry.digest)
        })
    }

    /// Adds an entry to the tag for the referrers of `subject`.
    ///
    /// The tag is read again after it was written: OCI's specification has no conditional writes,
    /// so another client may have replaced it.
    async fn list(
        &self,
        reference: &OciReference,
        subject: Digest,
        entry: &NewEntry<'_>,
    ) -> Result<(), Error> {
        for attempt in 0..=ATTEMPTS {
            let old = self.tagged_index(reference, subject).await?;
            let index = match &old {
                Some(old) => read_index(reference, old)?,
                None => read_index(reference, EMPTY_INDEX)?,
            };
            if index.contains(entry.digest) {
                return Ok(());
            }
            if attempt == ATTEMPTS {
                break;
            }
            let new = index
                .with(entry)
                .map_err(|error| reference.server_error(error))?;
            if new.len() > MAX_MANIFEST_BYTES {
                return Err(reference.server_error("its list of referrers is full"));
            }
            self.put_manifest(reference, &tag_of(subject), INDEX, new.into())
                .await?;
        }
        let problem = "it doesn't keep the signature in its list of referrers";
        Err(reference.server_error(problem))
    }
}
