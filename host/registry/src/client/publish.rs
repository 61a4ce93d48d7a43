//! Publishes components.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use reqwest::{Method, StatusCode};
use url::Url;

use super::Client;
use super::resolve::{digest_of, not_sent};
use crate::artifact::{self, Config, MANIFEST};
use crate::auth::{Access, Answer};
use crate::{Annotations, Digest, Error, OciReference};

/// A component that was published.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Published {
    /// The reference that it was published to, pinned to the digest of the manifest.
    pub reference: OciReference,
    /// The digest of the manifest.
    pub digest: Digest,
    /// The digest of the component's bytes.
    pub component: Digest,
}

/// The header in which a registry says that it lists a manifest among those of its subject.
const SUBJECT_HEADER: &str = "oci-subject";

/// A manifest that a registry has stored.
pub(super) struct Stored {
    pub(super) digest: Digest,
    /// Whether the registry itself lists it among the referrers of its subject.
    pub(super) is_listed: bool,
}

impl Client {
    /// Publishes `component` to the tag of `reference`, which is moved if it exists.
    ///
    /// The manifest depends on the component's bytes and the annotations alone: publishing the same
    /// again gives the same digest.
    /// [`annotation`](crate::annotation) has OCI's keys.
    ///
    /// # Errors
    ///
    /// If the bytes are not a component, or are more than the limit; if the reference has a
    /// digest; or if the registry refuses.
    pub fn publish<'a>(
        &'a self,
        reference: &'a OciReference,
        component: Bytes,
        annotations: &'a Annotations,
    ) -> BoxFuture<'a, Result<Published, Error>> {
        Box::pin(async move {
            let name = reference.to_string();
            if reference.digest().is_some() {
                return Err(Error::PublishToDigest(name));
            }
            let limit = self.options.max_component_bytes;
            if component.len() as u64 > limit {
                return Err(Error::TooLarge { name, limit });
            }
            let digest = Digest::of(&component);
            let wrong = |source| Error::Artifact { name, source };
            let config = Config::of(&component, digest).map_err(wrong)?;
            let config =
                serde_json::to_vec(&config).map_err(|error| reference.server_error(error))?;
            let config = Bytes::from(config);
            let config_digest = Digest::of(&config);
            let manifest =
                artifact::manifest((&component, digest), (&config, config_digest), annotations);
            let manifest = manifest.map_err(|error| reference.server_error(error))?;
            self.upload(reference, digest, component).await?;
            self.upload(reference, config_digest, config).await?;
            let tag = reference.tag_or_latest();
            let put = self.put_manifest(reference, tag, MANIFEST, manifest.into());
            let manifest_digest = put.await?.digest;
            Ok(Published {
                reference: reference.clone().pinned(manifest_digest),
                digest: manifest_digest,
                component: digest,
            })
        })
    }

    /// Uploads bytes, unless the repository has them.
    pub(super) async fn upload(
        &self,
        reference: &OciReference,
        digest: Digest,
        bytes: Bytes,
    ) -> Result<(), Error> {
        let url = reference.url(&format!("blobs/{digest}"))?;
        let answer = self.send(reference, Method::HEAD, &url, None).await?;
        if answer.response.status() == StatusCode::OK {
            return Ok(());
        }
        let start = reference.url("blobs/uploads/")?;
        let empty = Some((Bytes::new(), None));
        let answer = self.send(reference, Method::POST, &start, empty).await?;
        let answer = accepted(reference, answer, StatusCode::ACCEPTED).await?;
        let location = answer.response.headers().get(LOCATION);
        let location = location.and_then(|it| it.to_str().ok());
        let url = location.and_then(|it| answer.response.url().join(it).ok());
        let mut url =
            url.ok_or_else(|| reference.server_error("it doesn't say where to upload to"))?;
        url.query_pairs_mut()
            .append_pair("digest", &digest.to_string());
        let body = Some((bytes, Some("application/octet-stream")));
        let answer = self.send(reference, Method::PUT, &url, body).await?;
        accepted(reference, answer, StatusCode::CREATED).await?;
        Ok(())
    }

    /// Stores a manifest or an index under `name`: a tag, or its digest.
    pub(super) async fn put_manifest(
        &self,
        reference: &OciReference,
        name: &str,
        media_type: &str,
        manifest: Bytes,
    ) -> Result<Stored, Error> {
        let actual = Digest::of(&manifest);
        let url = reference.url(&format!("manifests/{name}"))?;
        let body = Some((manifest, Some(media_type)));
        let answer = self.send(reference, Method::PUT, &url, body).await?;
        let answer = accepted(reference, answer, StatusCode::CREATED).await?;
        match digest_of(answer.response.headers()) {
            Some(other) if other != actual => Err(Error::WrongManifest {
                host: reference.host().to_owned(),
                expected: actual,
                actual: other,
            }),
            _ => Ok(Stored {
                digest: actual,
                is_listed: answer.response.headers().contains_key(SUBJECT_HEADER),
            }),
        }
    }

    async fn send(
        &self,
        reference: &OciReference,
        method: Method,
        url: &Url,
        body: Option<(Bytes, Option<&str>)>,
    ) -> Result<Answer, Error> {
        let request = |client: &reqwest::Client| {
            let request = client.request(method.clone(), url.clone());
            let Some((bytes, media_type)) = &body else {
                return request;
            };
            let request = request.header(CONTENT_LENGTH, bytes.len());
            let request = match media_type {
                Some(media_type) => request.header(CONTENT_TYPE, *media_type),
                None => request,
            };
            request.body(bytes.clone())
        };
        let auth = &self.auth;
        auth.send(&self.http, reference, Access::Push, url, request)
            .await
    }
}

/// Checks that an answer has the status that OCI's specification wants.
async fn accepted(
    reference: &OciReference,
    answer: Answer,
    status: StatusCode,
) -> Result<Answer, Error> {
    if answer.response.status() == status {
        return Ok(answer);
    }
    Err(not_sent(reference, answer).await)
}
