//! The headers of an answer, as far as they describe the bytes in it.

use reqwest::header::{CONTENT_ENCODING, CONTENT_RANGE, ETAG};
use reqwest::{Response, StatusCode};

/// An answer with some bytes of a file, or all.
pub(super) struct Part {
    pub(super) response: Response,
    /// The version of the file, if two files never have the same.
    pub(super) version: Option<String>,
    /// The number of bytes of the whole file, if it is known.
    pub(super) total: Option<u64>,
}

impl Part {
    /// Reads the headers.
    pub(super) fn read(response: Response) -> Result<Self, String> {
        let header = |name| response.headers().get(name).and_then(|it| it.to_str().ok());
        if let Some(encoding) = header(CONTENT_ENCODING).filter(|it| *it != "identity") {
            let encoding: String = encoding.chars().take(40).collect();
            return Err(format!(
                "it compresses with {encoding:?}, which was not asked for"
            ));
        }
        let version = header(ETAG).filter(|tag| tag.starts_with('"'));
        let total = match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                let range = header(CONTENT_RANGE).and_then(|it| it.rsplit_once('/'));
                range.and_then(|(_, total)| total.parse().ok())
            }
            _ => response.content_length(),
        };
        Ok(Self {
            version: version.map(str::to_owned),
            total,
            response,
        })
    }
}

/// The first byte of a partial answer, counted from 0.
pub(super) fn start(response: &Response) -> Option<u64> {
    let range = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (start, _) = range.strip_prefix("bytes ")?.split_once('-')?;
    start.parse().ok()
}
