//! Asks registries and web servers.

mod attach;
mod next_to;
mod publish;
mod referrers;
mod resolve;

use std::time::Duration;

use futures_util::future::BoxFuture;

pub use publish::Published;

use crate::auth::{Access, Answer, Auth};
use crate::download::{Download, Fetched, Progress};
use crate::http::{Http, host, unreachable};
use crate::{Artifact, Cache, Credentials, Digest, Error, WebReference};

/// The default of [`Options::max_component_bytes`]: 256 MiB.
pub const DEFAULT_MAX_COMPONENT_BYTES: u64 = 256 << 20;

/// Settings of a [`Client`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The most bytes that a component may have. [`DEFAULT_MAX_COMPONENT_BYTES`] by default.
    pub max_component_bytes: u64,
    /// The source of the credentials. Docker's by default.
    pub credentials: Credentials,
    /// The time that a connection may take to be made. 10 seconds by default.
    pub connect_timeout: Duration,
    /// The time that may pass without a byte. 30 seconds by default.
    pub read_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_component_bytes: DEFAULT_MAX_COMPONENT_BYTES,
            credentials: Credentials::default(),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
        }
    }
}

/// Finds, fetches and publishes components.
///
/// All methods need a Tokio runtime with I/O and time, and can be cancelled by dropping their
/// futures. The bytes of a download so far stay in the cache, and it is continued the next time.
pub struct Client {
    options: Options,
    http: Http,
    auth: Auth,
}

impl Client {
    /// Creates a client. Reads the system's certificates; asks nothing of a server.
    ///
    /// # Errors
    ///
    /// If encryption can't be set up.
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Self {
            http: Http::new(&options)?,
            auth: Auth::new(options.credentials.clone()),
            options,
        })
    }

    /// Downloads the component of `artifact` into `cache`, unless it is there.
    ///
    /// # Errors
    ///
    /// If the component is larger than the limit, or the registry doesn't send exactly the bytes
    /// that the manifest promises.
    pub fn fetch<'a>(
        &'a self,
        artifact: &'a Artifact,
        cache: &'a Cache,
        progress: Progress<'a>,
    ) -> BoxFuture<'a, Result<Fetched, Error>> {
        Box::pin(async move {
            let reference = &artifact.reference;
            let url = reference.url(&format!("blobs/{}", artifact.component))?;
            let download = Download {
                host: reference.host(),
                name: &reference.to_string(),
                what: "component",
                digest: Some(artifact.component),
                bytes: Some(artifact.bytes),
                limit: self.options.max_component_bytes,
            };
            let ask = |headers: reqwest::header::HeaderMap| -> BoxFuture<'_, _> {
                let url = url.clone();
                Box::pin(async move {
                    let request =
                        |client: &reqwest::Client| client.get(url.clone()).headers(headers.clone());
                    let auth = &self.auth;
                    auth.send(&self.http, reference, Access::Pull, &url, request)
                        .await
                })
            };
            download.run(cache, &ask, progress).await
        })
    }

    /// Downloads the file at `url` into `cache`.
    ///
    /// With an expected digest, a file that is in the cache isn't downloaded again.
    ///
    /// # Errors
    ///
    /// If the file is larger than the limit, doesn't have the expected digest, or isn't sent to its
    /// end.
    pub fn fetch_url<'a>(
        &'a self,
        url: &'a WebReference,
        expected: Option<Digest>,
        cache: &'a Cache,
        progress: Progress<'a>,
    ) -> BoxFuture<'a, Result<Fetched, Error>> {
        Box::pin(async move {
            let download = Download {
                host: &host(url.url()),
                name: url.as_str(),
                what: "file",
                digest: expected,
                bytes: None,
                limit: self.options.max_component_bytes,
            };
            let ask = |headers: reqwest::header::HeaderMap| -> BoxFuture<'_, _> {
                Box::pin(async move {
                    let url = url.url();
                    let request = self.http.client(url)?.get(url.clone()).headers(headers);
                    let sent = request.send().await;
                    Ok(Answer {
                        response: sent.map_err(|error| unreachable(url, error))?,
                        had_credentials: false,
                    })
                })
            };
            download.run(cache, &ask, progress).await
        })
    }
}
