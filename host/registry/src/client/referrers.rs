//! Finds the signatures that are attached to an artifact.

use std::collections::BTreeMap;

use futures_util::future::{BoxFuture, join_all};
use reqwest::header::{HeaderMap, LINK};
use reqwest::{Response, StatusCode};
use url::Url;

use super::Client;
use super::resolve::{KINDS, body_of, not_sent};
use crate::artifact::{MANIFEST, MAX_MANIFEST_BYTES};
use crate::referrers::{INDEX, Index, SignatureLayer, tag_of};
use crate::signatures::readable;
use crate::{Artifact, Digest, Error, FoundSignature, MAX_SIGNATURE_BYTES, OciReference};

/// The most bytes of an index, over all its pages.
const MAX_INDEX_BYTES: usize = MAX_MANIFEST_BYTES;
/// The most pages of an index.
const MAX_PAGES: usize = 100;
/// The most referrers that are read.
const MAX_READ: usize = 64;
/// The number of referrers that are read at the same time.
const AT_ONCE: usize = 8;

/// The manifests that may be of a signature, and whether their type says so.
type Candidates = BTreeMap<Digest, bool>;

impl Client {
    /// Reads the signatures that are attached to `artifact`, in the order of their manifests'
    /// digests. The registry's list of referrers is asked for, and if there is none, the tag that
    /// OCI's specification has for it.
    ///
    /// Every user with push access to the repository can attach something, so a signature that is
    /// broken, too large or of another artifact is left out.
    /// At most 64 are read: of those whose type is known, the ones with the lowest digests; then
    /// those that the list gives no type.
    ///
    /// # Errors
    ///
    /// If the list can't be read to its end, or is larger than 4 MiB; or if no signature could be
    /// read, and the registry failed for one of them, or has more than 64.
    pub fn signatures<'a>(
        &'a self,
        artifact: &'a Artifact,
    ) -> BoxFuture<'a, Result<Vec<FoundSignature>, Error>> {
        Box::pin(async move {
            let candidates = self.candidates(artifact).await?;
            let count = candidates.len();
            let mut candidates: Vec<(Digest, bool)> = candidates.into_iter().collect();
            // The sort is stable: the digests stay in their order.
            candidates.sort_by_key(|(_, has_type)| !has_type);
            candidates.truncate(MAX_READ);
            candidates.sort();
            let mut signatures = Vec::new();
            for some in candidates.chunks(AT_ONCE) {
                let reading = some.iter().map(|(digest, _)| self.read(artifact, *digest));
                signatures.extend(join_all(reading).await);
            }
            let signatures = readable(signatures)?;
            if signatures.is_empty() && count > MAX_READ {
                return Err(Error::TooManySignatures {
                    name: artifact.reference.to_string(),
                    count,
                    limit: MAX_READ,
                });
            }
            Ok(signatures)
        })
    }

    /// Reads the registry's list of referrers, or the one behind the tag.
    async fn candidates(&self, artifact: &Artifact) -> Result<Candidates, Error> {
        let reference = &artifact.reference;
        let mut candidates = Candidates::new();
        let mut url = reference.url(&format!("referrers/{}", artifact.digest))?;
        let mut remaining = MAX_INDEX_BYTES;
        for page in 0..MAX_PAGES {
            let answer = self.get(reference, &url, INDEX).await?;
            if page == 0 && lacks_list(answer.response.status()) {
                return self.tagged_candidates(artifact).await;
            }
            if !answer.response.status().is_success() {
                return Err(not_sent(reference, answer).await);
            }
            let next = next_page(reference, &answer.response);
            let body = body_of(answer, remaining).await?;
            let body = body.ok_or_else(|| reference.server_error(TOO_LARGE))?;
            remaining -= body.len();
            match Index::read(&body) {
                Some(index) => add(&mut candidates, &index),
                // Such as a page for people.
                None if page == 0 => return self.tagged_candidates(artifact).await,
                None => return Err(reference.server_error("its list of referrers is no index")),
            }
            match next {
                Some(next) => url = next?,
                None => return Ok(candidates),
            }
        }
        Err(reference.server_error("its list of referrers has too many pages"))
    }

    async fn tagged_candidates(&self, artifact: &Artifact) -> Result<Candidates, Error> {
        let mut candidates = Candidates::new();
        let body = self.tagged_index(&artifact.reference, artifact.digest);
        if let Some(body) = body.await? {
            let index = read_index(&artifact.reference, &body)?;
            add(&mut candidates, &index);
        }
        Ok(candidates)
    }

    /// The bytes behind the tag for the referrers of `digest`, if it exists.
    pub(super) async fn tagged_index(
        &self,
        reference: &OciReference,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, Error> {
        let url = reference.url(&format!("manifests/{}", tag_of(digest)))?;
        // Of another kind, it must not look as if it were missing: it would be replaced.
        let answer = self.get(reference, &url, &KINDS.join(", ")).await?;
        match answer.response.status() {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => {
                let body = body_of(answer, MAX_INDEX_BYTES).await?;
                body.map(Some)
                    .ok_or_else(|| reference.server_error(TOO_LARGE))
            }
            _ => Err(not_sent(reference, answer).await),
        }
    }

    /// Reads a signature, or returns `None` if it isn't one of `artifact`.
    async fn read(
        &self,
        artifact: &Artifact,
        digest: Digest,
    ) -> Result<Option<FoundSignature>, Error> {
        let reference = &artifact.reference;
        let url = reference.url(&format!("manifests/{digest}"))?;
        let manifest = self.bytes(reference, &url, MANIFEST, digest, MAX_MANIFEST_BYTES);
        let Some(manifest) = manifest.await? else {
            return Ok(None);
        };
        let layer = SignatureLayer::read(&manifest, artifact.digest);
        let Some(layer) = layer.filter(|it| it.size <= MAX_SIGNATURE_BYTES) else {
            return Ok(None);
        };
        let url = reference.url(&format!("blobs/{}", layer.digest))?;
        let limit = layer.size as usize;
        let bytes = self.bytes(reference, &url, "*/*", layer.digest, limit);
        Ok(bytes.await?.map(|bytes| FoundSignature {
            format: layer.format,
            bytes: bytes.into(),
            place: digest.to_string(),
        }))
    }

    /// The bytes with this digest, or `None` if the registry has none, others or too many.
    async fn bytes(
        &self,
        reference: &OciReference,
        url: &Url,
        accept: &str,
        digest: Digest,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, Error> {
        let answer = self.get(reference, url, accept).await?;
        match answer.response.status() {
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            status if status.is_success() => {}
            _ => return Err(not_sent(reference, answer).await),
        }
        let bytes = body_of(answer, limit).await?;
        Ok(bytes.filter(|bytes| Digest::of(bytes) == digest))
    }
}

const TOO_LARGE: &str = "its list of referrers is larger than 4194304 bytes";

/// Adds the candidates of an index. A type that one entry gives counts, if another has none.
fn add(candidates: &mut Candidates, index: &Index<'_>) {
    for (digest, has_type) in index.candidates() {
        *candidates.entry(digest).or_default() |= has_type;
    }
}

/// The index that the tag for referrers must be.
pub(super) fn read_index<'a>(
    reference: &OciReference,
    bytes: &'a [u8],
) -> Result<Index<'a>, Error> {
    let problem = "the tag for the referrers of a manifest is no index";
    Index::read(bytes).ok_or_else(|| reference.server_error(problem))
}

/// Whether a registry that answers so has no list of referrers.
///
/// OCI's specification has 404 for it; some older registries refuse the address in other ways.
fn lacks_list(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::NOT_FOUND
            | StatusCode::BAD_REQUEST
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_ACCEPTABLE
            | StatusCode::NOT_IMPLEMENTED
    )
}

/// The address of the next page, if there is one. It must be of the same registry.
fn next_page(reference: &OciReference, response: &Response) -> Option<Result<Url, Error>> {
    let link = next_link(response.headers())?;
    let own = match reference.base_url() {
        Ok(own) => own.origin(),
        Err(error) => return Some(Err(error)),
    };
    let url = response.url().join(link).ok();
    let url = url.filter(|url| url.origin() == own && url != response.url());
    let problem = "the next page of its list of referrers has a wrong address";
    Some(url.ok_or_else(|| reference.server_error(problem)))
}

/// The address in a header such as `</v2/x/referrers/sha256:…?n=2>; rel="next"`.
fn next_link(headers: &HeaderMap) -> Option<&str> {
    let links = headers.get_all(LINK).iter();
    let links = links.filter_map(|link| link.to_str().ok());
    links.filter_map(next_of).next()
}

fn next_of(mut links: &str) -> Option<&str> {
    while let Some((_, rest)) = links.split_once('<') {
        let (address, rest) = rest.split_once('>')?;
        let (parameters, after) = rest.split_once(",").unwrap_or((rest, ""));
        let is_next = parameters.split(';').any(|parameter| {
            let parameter = parameter.trim().to_ascii_lowercase();
            matches!(parameter.as_str(), "rel=\"next\"" | "rel=next")
        });
        if is_next {
            return Some(address);
        }
        links = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_to_the_next_page_is_found() {
        for (header, address) in [
            (r#"</a?b=1,2>; rel="next""#, Some("/a?b=1,2")),
            ("</a>;rel=next", Some("/a")),
            (r#"</a>; rel="first", </b>; x=y; rel="next""#, Some("/b")),
            (r#"</a>; rel="last""#, None),
            (r#"</a; rel="next""#, None),
            ("", None),
        ] {
            assert_eq!(next_of(header), address, "{header}");
        }
    }
}
