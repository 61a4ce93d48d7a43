//! References to files on web servers.

use std::fmt;
use std::str::FromStr;

use url::Url;

use crate::ReferenceError;
use crate::local::is_local_url;

/// An `https://` URL, or an `http://` URL of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WebReference(Url);

impl WebReference {
    /// Returns the URL, in its normal form.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the host's name or address, without the port.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }
}

impl FromStr for WebReference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let problem = |problem: &str| ReferenceError::Url {
            text: text.to_owned(),
            problem: problem.to_owned(),
        };
        if !text.is_ascii() {
            return Err(problem(
                "it has characters outside of ASCII; write a host in its xn-- form, and escape other parts with %",
            ));
        }
        if text.contains(|c: char| c.is_ascii_whitespace() || c.is_ascii_control() || c == '\\') {
            return Err(problem(
                "it has a space, a control character or a backslash",
            ));
        }
        let url = Url::parse(text).map_err(|error| problem(&error.to_string()))?;
        let is_web = matches!(url.scheme(), "http" | "https");
        if !is_web || url.host_str().is_none() {
            return Err(problem("it doesn't begin with https:// and a host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(problem(
                "it has a name or a password before the host; leave them out",
            ));
        }
        if url.fragment().is_some() {
            return Err(problem("it has a # and a fragment; leave them out"));
        }
        if url.scheme() == "http" && !is_local_url(&url) {
            return Err(ReferenceError::NotEncrypted(text.to_owned()));
        }
        Ok(Self(url))
    }
}

impl fmt::Display for WebReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
