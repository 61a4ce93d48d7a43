//! Finds the signatures next to a file on the web.

use futures_util::future::BoxFuture;
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use url::Url;

use super::Client;
use crate::http::{Subject, bounded_body, host, refused, unreachable};
use crate::signatures::{readable, too_large};
use crate::{Error, FoundSignature, MAX_SIGNATURE_BYTES, SignatureFormat, WebReference};

impl Client {
    /// Reads the signatures next to the file at `url`, which itself isn't asked for.
    ///
    /// The endings of [`SignatureFormat::suffix`] are added to the path; the query stays.
    /// A signature isn't there if the server says so (HTTP 403, 404 or 410), or sends a page in
    /// HTML.
    /// A signature that can't be read is left out if there is another one.
    ///
    /// # Errors
    ///
    /// If no signature could be read, and the server may have one: because it can't be reached, it
    /// refuses, or the signature is larger than [`MAX_SIGNATURE_BYTES`].
    pub fn signatures_next_to<'a>(
        &'a self,
        url: &'a WebReference,
    ) -> BoxFuture<'a, Result<Vec<FoundSignature>, Error>> {
        Box::pin(async move {
            let mut signatures = Vec::new();
            for format in SignatureFormat::ALL {
                signatures.push(self.signature_next_to(url.url(), format).await);
            }
            readable(signatures)
        })
    }

    async fn signature_next_to(
        &self,
        file: &Url,
        format: SignatureFormat,
    ) -> Result<Option<FoundSignature>, Error> {
        let mut url = file.clone();
        url.set_path(&format!("{}{}", file.path(), format.suffix()));
        let request = self.http.client(&url)?.get(url.clone());
        let response = request.send().await;
        let response = response.map_err(|error| unreachable(&url, error))?;
        let status = response.status();
        // S3 answers 403 for a missing file in a folder that can't be listed.
        if let StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::FORBIDDEN = status {
            return Ok(None);
        }
        if status != StatusCode::OK {
            let subject = Subject {
                host: &host(&url),
                name: url.as_str(),
                what: "file",
                had_credentials: false,
            };
            return Err(refused(subject, response).await);
        }
        let media_type = response.headers().get(CONTENT_TYPE);
        let media_type = media_type.and_then(|it| it.to_str().ok());
        // Some servers send a page instead of the status 404.
        if media_type.is_some_and(|it| it.to_ascii_lowercase().starts_with("text/html")) {
            return Ok(None);
        }
        let limit = MAX_SIGNATURE_BYTES as usize;
        let bytes = bounded_body(response, limit).await;
        let bytes = bytes.map_err(|error| unreachable(&url, error))?;
        let bytes = bytes.ok_or_else(|| too_large(url.to_string()))?;
        Ok(Some(FoundSignature {
            format,
            bytes: bytes.into(),
            place: url.to_string(),
        }))
    }
}
