//! Reads manifests.

use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT, HeaderMap};

use super::Client;
use crate::artifact::{MANIFEST, MAX_MANIFEST_BYTES};
use crate::auth::{Access, Answer};
use crate::http::{Subject, bounded_body, refused, unreachable};
use crate::{Artifact, ArtifactError, Digest, Error, OciReference};

/// The kinds of manifests that a registry may send: those that aren't read are refused by name.
const KINDS: [&str; 4] = [
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
            let name = reference.to_string();
            let wrong = |source| Error::Artifact {
                name: name.clone(),
                source,
            };
            let Answer {
                response,
                had_credentials,
            } = self.ask_for_manifest(reference).await?;
            if !response.status().is_success() {
                let subject = Subject {
                    host: reference.host(),
                    name: &name,
                    what: "repository or tag",
                    had_credentials,
                };
                return Err(refused(subject, response).await);
            }
            let promised = digest_of(response.headers());
            let url = response.url().clone();
            let body = bounded_body(response, MAX_MANIFEST_BYTES).await;
            let body = body.map_err(|error| unreachable(&url, error))?;
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
            Artifact::read(reference, actual, &body).map_err(wrong)
        })
    }

    async fn ask_for_manifest(&self, reference: &OciReference) -> Result<Answer, Error> {
        let name = match reference.digest() {
            Some(digest) => digest.to_string(),
            None => reference.tag_or_latest().to_owned(),
        };
        let url = reference.url(&format!("manifests/{name}"))?;
        let request =
            |client: &reqwest::Client| client.get(url.clone()).header(ACCEPT, KINDS.join(", "));
        let auth = &self.auth;
        auth.send(&self.http, reference, Access::Pull, &url, request)
            .await
    }
}

/// The digest that a registry says a manifest has. Another algorithm's can't be checked.
pub(super) fn digest_of(headers: &HeaderMap) -> Option<Digest> {
    headers.get(DIGEST_HEADER)?.to_str().ok()?.parse().ok()
}
