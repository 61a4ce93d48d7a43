//! Downloads a file of a bounded size, and continues when the connection is cut.

mod part;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_RANGE, RANGE};

use self::part::Part;
use crate::auth::Answer;
use crate::cache::{Cache, Partial};
use crate::http::{Subject, refused, unreachable_host};
use crate::{Digest, Error};

/// How often in a row an attempt may bring no byte.
const MAX_STALLS: u32 = 3;
/// How often a download may begin again from its first byte.
const MAX_RESTARTS: u32 = 3;
/// The pause after the first attempt that brought nothing; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// Receives the number of bytes so far, and the number of all bytes if it is known.
///
/// The number of bytes so far decreases if a download must begin again.
pub type Progress<'a> = &'a mut (dyn FnMut(u64, Option<u64>) + Send);

/// A component that is in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// The file, which has exactly the bytes with this digest.
    pub path: PathBuf,
    /// The digest of the component's bytes.
    pub digest: Digest,
    /// The number of bytes.
    pub bytes: u64,
}

/// Asks for the file with these further headers.
pub(crate) type Ask<'a> = &'a (dyn Fn(HeaderMap) -> BoxFuture<'a, Result<Answer, Error>> + Sync);

/// A download, with the facts that are known before.
pub(crate) struct Download<'a> {
    pub(crate) host: &'a str,
    /// The reference or URL.
    pub(crate) name: &'a str,
    /// The thing that is missing if it isn't found.
    pub(crate) what: &'static str,
    pub(crate) digest: Option<Digest>,
    pub(crate) bytes: Option<u64>,
    pub(crate) limit: u64,
}

/// Why an attempt didn't bring the rest of a file.
enum Failure {
    /// Another attempt can help.
    Cut(Error),
    /// Another attempt can help, but only from the first byte.
    Restart(Error),
    Final(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Unreachable { .. } => Self::Cut(error),
            _ => Self::Final(error),
        }
    }
}

impl Download<'_> {
    /// Downloads into `cache`, unless the file is there.
    pub(crate) async fn run(
        &self,
        cache: &Cache,
        ask: Ask<'_>,
        progress: Progress<'_>,
    ) -> Result<Fetched, Error> {
        if self.bytes.is_some_and(|bytes| bytes > self.limit) {
            return Err(self.too_large());
        }
        if let Some(fetched) = self.find(cache).await? {
            progress(fetched.bytes, Some(fetched.bytes));
            return Ok(fetched);
        }
        let mut partial = self.open(cache).await?;
        self.complete(&mut partial, ask, progress).await?;
        if self.digest.is_some_and(|digest| digest != partial.digest()) && partial.is_old() {
            // The bytes of the earlier process were damaged, or are of another file.
            partial.clear()?;
            self.complete(&mut partial, ask, progress).await?;
        }
        let actual = partial.digest();
        if let Some(expected) = self.digest.filter(|expected| *expected != actual) {
            partial.discard();
            return Err(Error::WrongContents {
                name: self.name.to_owned(),
                expected,
                actual,
            });
        }
        let bytes = partial.bytes();
        let cache = cache.clone();
        let path = blocking(move || partial.finish(&cache)).await?;
        Ok(Fetched {
            path,
            digest: actual,
            bytes,
        })
    }

    async fn find(&self, cache: &Cache) -> Result<Option<Fetched>, Error> {
        let Some(digest) = self.digest else {
            return Ok(None);
        };
        let path = cache.path(digest);
        let cache = cache.clone();
        let bytes = blocking(move || cache.find(digest)).await?;
        Ok(bytes.map(|bytes| Fetched {
            path,
            digest,
            bytes,
        }))
    }

    /// Opens the partial file, which has a name by the digest if that is known.
    async fn open(&self, cache: &Cache) -> Result<Partial, Error> {
        let name = match self.digest {
            Some(digest) => digest.to_hex(),
            None => format!("url-{}", Digest::of(self.name.as_bytes()).to_hex()),
        };
        let cache = cache.clone();
        let mut partial = blocking(move || cache.partial(&name)).await?;
        let is_too_long = partial.bytes() > self.bytes.unwrap_or(self.limit);
        let is_unknown = self.digest.is_none() && partial.note().is_none();
        if is_too_long || is_unknown {
            partial.clear()?;
        }
        Ok(partial)
    }

    /// Asks until all bytes have come.
    async fn complete(
        &self,
        partial: &mut Partial,
        ask: Ask<'_>,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let mut stalls = 0;
        let mut restarts = 0;
        loop {
            let before = partial.bytes();
            let error = match self.attempt(partial, ask, progress).await {
                Ok(()) => return Ok(()),
                Err(Failure::Final(error)) => {
                    if is_about_contents(&error) {
                        partial.discard();
                    }
                    return Err(error);
                }
                Err(Failure::Cut(error)) => error,
                Err(Failure::Restart(error)) => {
                    partial.clear()?;
                    restarts += 1;
                    error
                }
            };
            stalls = if partial.bytes() > before {
                0
            } else {
                stalls + 1
            };
            if stalls > MAX_STALLS || restarts > MAX_RESTARTS {
                return Err(error);
            }
            if stalls > 0 {
                tokio::time::sleep(FIRST_PAUSE * 2_u32.pow(stalls - 1)).await;
            }
        }
    }

    /// Asks for the bytes that are missing.
    async fn attempt(
        &self,
        partial: &mut Partial,
        ask: Ask<'_>,
        progress: Progress<'_>,
    ) -> Result<(), Failure> {
        if self.bytes == Some(partial.bytes()) {
            progress(partial.bytes(), self.bytes);
            return Ok(());
        }
        let answer = ask(self.headers(partial)).await?;
        let part = self.part(partial, answer).await?;
        let Part {
            mut response,
            version,
            total,
        } = part;
        if response.status() == StatusCode::OK {
            partial.clear()?;
        }
        if partial.bytes() == 0 && self.digest.is_none() {
            partial.set_note(version.as_deref())?;
        }
        self.check_total(total)?;
        progress(partial.bytes(), total.or(self.bytes));
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    self.check_length(partial.bytes() + chunk.len() as u64)?;
                    partial.append(&chunk)?;
                    progress(partial.bytes(), total.or(self.bytes));
                }
                Ok(None) => break,
                Err(error) => {
                    let error = unreachable_host(self.host, error);
                    // Without a version, the rest might be of another file.
                    return Err(if self.digest.is_none() && version.is_none() {
                        Failure::Restart(error)
                    } else {
                        Failure::Cut(error)
                    });
                }
            }
        }
        match self.bytes.or(total) {
            Some(expected) if partial.bytes() < expected => {
                Err(Failure::Cut(self.truncated(expected, partial.bytes())))
            }
            _ => Ok(()),
        }
    }

    fn headers(&self, partial: &Partial) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let bytes = partial.bytes();
        if bytes > 0
            && let Ok(range) = HeaderValue::try_from(format!("bytes={bytes}-"))
        {
            headers.insert(RANGE, range);
            let version = partial.note().filter(|_| self.digest.is_none());
            if let Some(version) = version.and_then(|it| HeaderValue::try_from(it).ok()) {
                headers.insert(IF_RANGE, version);
            }
        }
        headers
    }

    /// Checks that the answer has the bytes that were asked for, or all of them.
    async fn part(&self, partial: &Partial, answer: Answer) -> Result<Part, Failure> {
        let Answer {
            response,
            had_credentials,
        } = answer;
        let wrong = |problem: String| Error::Server {
            host: self.host.to_owned(),
            problem,
        };
        let status = response.status();
        if status == StatusCode::RANGE_NOT_SATISFIABLE && partial.bytes() > 0 {
            let error = match self.bytes {
                Some(expected) => self.truncated(expected, partial.bytes()),
                None => wrong(status.to_string()),
            };
            return Err(Failure::Restart(error));
        }
        if !status.is_success() {
            let subject = Subject {
                host: self.host,
                name: self.name,
                what: self.what,
                had_credentials,
            };
            let error = refused(subject, response).await;
            return Err(if status.is_server_error() {
                Failure::Cut(error)
            } else {
                Failure::Final(error)
            });
        }
        let part = Part::read(response).map_err(wrong)?;
        if status == StatusCode::PARTIAL_CONTENT {
            if part::start(&part.response) != Some(partial.bytes()) || partial.bytes() == 0 {
                let problem = "it sent another part of the file than was asked for";
                return Err(Failure::Restart(wrong(problem.to_owned())));
            }
            let is_of_another_file = self.digest.is_none() && part.version != partial.note();
            if is_of_another_file {
                let problem = "the file changed during the download";
                return Err(Failure::Restart(wrong(problem.to_owned())));
            }
        } else if status != StatusCode::OK {
            return Err(Failure::Final(wrong(status.to_string())));
        }
        Ok(part)
    }

    /// Checks the number of bytes that the server says the file has.
    fn check_total(&self, total: Option<u64>) -> Result<(), Error> {
        match (total, self.bytes) {
            (Some(total), Some(expected)) if total < expected => {
                Err(self.truncated(expected, total))
            }
            (Some(total), _) => self.check_length(total),
            (None, _) => Ok(()),
        }
    }

    /// Checks that a file with this many bytes isn't too long.
    fn check_length(&self, length: u64) -> Result<(), Error> {
        match self.bytes {
            Some(expected) if length > expected => Err(Error::Padded {
                name: self.name.to_owned(),
                expected,
            }),
            None if length > self.limit => Err(self.too_large()),
            _ => Ok(()),
        }
    }

    fn too_large(&self) -> Error {
        Error::TooLarge {
            name: self.name.to_owned(),
            limit: self.limit,
        }
    }

    fn truncated(&self, expected: u64, actual: u64) -> Error {
        Error::Truncated {
            name: self.name.to_owned(),
            expected,
            actual,
        }
    }
}

/// Whether an error is about the bytes, so that those that have come are of no use.
fn is_about_contents(error: &Error) -> bool {
    matches!(
        error,
        Error::Truncated { .. } | Error::Padded { .. } | Error::TooLarge { .. }
    )
}

/// Runs work that reads or writes much of a file on another thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Error::Cache {
            path: PathBuf::new(),
            source: io::Error::other(error),
        }),
    }
}
