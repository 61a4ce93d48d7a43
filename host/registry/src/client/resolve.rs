//! Reads manifests.

use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT, HeaderMap};
use url::Url;

use super::Client;
use crate::artifact::{MANIFEST, MAX_MANIFEST_BYTES};
use crate::auth::{Access, Answer};
use crate::http::{Subject, bounded_body, refused, unreachable};
use crate::{Artifact, ArtifactError, Digest, Error, OciReference};

/// The kinds of manifests that a registry may send: those that aren't read are refused by name.
pub(super) const KINDS: [&str; 4] = [
    MANIFEST,
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];

/// The header in which a registry says the digest of a manifest.
const DIGEST_HEADER: &str = "docker-content-digest";

impl Client {
    /// Finds the artifact that `reference` names, and reads its manifest.
    ///
    /// The result is pinned: fetching it gives the component of this manifest, even if the tag has
    /// moved since.
    ///
    /// # Errors
    ///
    /// If there is no such artifact, the registry requires a login, the manifest isn't that of a
    /// component, or it doesn't have the digest of the reference.
    pub fn resolve<'a>(
        &'a self,
        reference: &'a OciReference,
    ) -> BoxFuture<'a, Result<Artifact, Error>> {
        Box::pin(async move {
            let (artifact, _) = self.read_artifact(reference).await?;
            Ok(artifact)
        })
    }

    /// The artifact that `reference` names, and the bytes of its manifest.
    pub(super) async fn read_artifact(
        &self,
        reference: &OciReference,
    ) -> Result<(Artifact, Vec<u8>), Error> {
        let wrong = |source| Error::Artifact {
            name: reference.to_string(),
            source,
        };
        let name = match reference.digest() {
            Some(digest) => digest.to_string(),
            None => reference.tag_or_latest().to_owned(),
        };
        let url = reference.url(&format!("manifests/{name}"))?;
        let answer = self.get(reference, &url, &KINDS.join(", ")).await?;
        if !answer.response.status().is_success() {
            return Err(not_sent(reference, answer).await);
        }
        let promised = digest_of(answer.response.headers());
        let body = body_of(answer, MAX_MANIFEST_BYTES).await?;
        let body = body.ok_or_else(|| wrong(ArtifactError::ManifestTooLarge))?;
        let actual = Digest::of(&body);
        let expected = [reference.digest(), promised].into_iter().flatten();
        if let Some(expected) = expected.into_iter().find(|it| *it != actual) {
            return Err(Error::WrongManifest {
                host: reference.host().to_owned(),
                expected,
                actual,
            });
        }
        let artifact = Artifact::read(reference, actual, &body).map_err(wrong)?;
        Ok((artifact, body))
    }

    /// Asks a registry for something of the media types in `accept`.
    pub(super) async fn get(
        &self,
        reference: &OciReference,
        url: &Url,
        accept: &str,
    ) -> Result<Answer, Error> {
        let request = |client: &reqwest::Client| client.get(url.clone()).header(ACCEPT, accept);
        let auth = &self.auth;
        auth.send(&self.http, reference, Access::Pull, url, request)
            .await
    }
}

/// The error for an answer whose status isn't a success.
pub(super) async fn not_sent(reference: &OciReference, answer: Answer) -> Error {
    let subject = Subject {
        host: reference.host(),
        name: &reference.to_string(),
        what: "repository or tag",
        had_credentials: answer.had_credentials,
    };
    refused(subject, answer.response).await
}

/// The body of an answer, or `None` if it is larger than `limit`.
pub(super) async fn body_of(answer: Answer, limit: usize) -> Result<Option<Vec<u8>>, Error> {
    let url = answer.response.url().clone();
    let body = bounded_body(answer.response, limit).await;
    body.map_err(|error| unreachable(&url, error))
}

/// The digest that a registry says a manifest has. Another algorithm's can't be checked.
pub(super) fn digest_of(headers: &HeaderMap) -> Option<Digest> {
    headers.get(DIGEST_HEADER)?.to_str().ok()?.parse().ok()
}
