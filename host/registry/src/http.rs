//! Requests over HTTP: encryption, redirects, and answers of a bounded size.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Response, StatusCode};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use url::Url;

use crate::local::{is_local_url, is_safe};
use crate::{Error, Options};

/// The most bytes that are read of an error's body.
const MAX_ERROR_BYTES: usize = 16 << 10;
/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 10;

/// Sends requests to this machine without a proxy, and to others by way of one, if the environment
/// names one.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    remote: reqwest::Client,
    local: reqwest::Client,
}

impl Http {
    pub(crate) fn new(options: &Options) -> Result<Self, Error> {
        let encryption = encryption()?;
        let builder = || {
            reqwest::Client::builder()
                .tls_backend_preconfigured(encryption.clone())
                .user_agent(concat!("airlock/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(options.connect_timeout)
                .read_timeout(options.read_timeout)
        };
        let failed = |error: reqwest::Error| Error::Encryption(cause(&error));
        let remote = builder().redirect(Policy::custom(to_others));
        let local = builder().no_proxy().redirect(Policy::custom(to_here));
        Ok(Self {
            remote: remote.build().map_err(failed)?,
            local: local.build().map_err(failed)?,
        })
    }

    /// The client for requests to `url`.
    pub(crate) fn client(&self, url: &Url) -> Result<&reqwest::Client, Error> {
        if !is_safe(url) {
            return Err(Error::Server {
                host: host(url),
                problem: format!(
                    "it asks for a connection that is not encrypted, to {}",
                    shown(url)
                ),
            });
        }
        Ok(if is_local_url(url) {
            &self.local
        } else {
            &self.remote
        })
    }
}

fn to_others(attempt: Attempt) -> reqwest::redirect::Action {
    let is_safe = attempt.url().scheme() == "https";
    follow(attempt, is_safe)
}

fn to_here(attempt: Attempt) -> reqwest::redirect::Action {
    let is_safe = is_safe(attempt.url());
    follow(attempt, is_safe)
}

fn follow(attempt: Attempt, is_safe: bool) -> reqwest::redirect::Action {
    if !is_safe {
        let problem = format!(
            "it redirects to {}, which is not encrypted",
            shown(attempt.url())
        );
        attempt.error(problem)
    } else if attempt.previous().len() > MAX_REDIRECTS {
        attempt.error("it redirects too often")
    } else {
        attempt.follow()
    }
}

/// TLS by the system's certificates. No provider is installed for the whole process.
fn encryption() -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    // A certificate that can't be read is left out, as browsers do.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Encryption(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The host of `url`, with its port if it has one.
pub(crate) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// `url` without its query, which may have a signature or a token.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

/// The error for a request to `url` that got no answer.
pub(crate) fn unreachable(url: &Url, error: reqwest::Error) -> Error {
    unreachable_host(&host(url), error)
}

/// The error for a request to `host` that got no answer, or not all of it.
pub(crate) fn unreachable_host(host: &str, error: reqwest::Error) -> Error {
    let host = host.to_owned();
    let is_redirect = error.is_redirect();
    let problem = cause(&error.without_url());
    if is_redirect {
        Error::Server { host, problem }
    } else {
        Error::Unreachable { host, problem }
    }
}

/// The innermost message of an error: those around it only say that a request failed.
fn cause(error: &reqwest::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// The body of `response`, or `None` if it is larger than `limit`.
pub(crate) async fn bounded_body(
    mut response: Response,
    limit: usize,
) -> reqwest::Result<Option<Vec<u8>>> {
    if response
        .content_length()
        .is_some_and(|length| length > limit as u64)
    {
        return Ok(None);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The subject of a request, for its errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) host: &'a str,
    /// The reference or URL.
    pub(crate) name: &'a str,
    /// The thing that is missing if it isn't found.
    pub(crate) what: &'static str,
    pub(crate) had_credentials: bool,
}

/// The error for a response whose status isn't a success.
pub(crate) async fn refused(subject: Subject<'_>, response: Response) -> Error {
    let host = subject.host.to_owned();
    let name = subject.name.to_owned();
    let had_credentials = subject.had_credentials;
    match response.status() {
        StatusCode::UNAUTHORIZED => Error::Unauthorized {
            host,
            had_credentials,
        },
        StatusCode::FORBIDDEN => Error::Forbidden {
            host,
            name,
            had_credentials,
        },
        StatusCode::NOT_FOUND => Error::NotFound {
            host,
            name,
            what: subject.what,
        },
        StatusCode::TOO_MANY_REQUESTS => Error::TooManyRequests {
            host,
            retry_after: retry_after(&response),
            had_credentials,
        },
        status => {
            let body = bounded_body(response, MAX_ERROR_BYTES).await;
            let message = body.ok().flatten().and_then(|body| message(&body));
            Error::Server {
                host,
                problem: match message {
                    Some(message) => format!("{status}: {message}"),
                    None => status.to_string(),
                },
            }
        }
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    seconds.parse().ok().map(Duration::from_secs)
}

/// The first message of an error as OCI registries send it.
fn message(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let message = body["errors"][0]["message"].as_str()?;
    let visible = message.chars().filter(|c| !c.is_control());
    Some(visible.take(200).collect())
}
