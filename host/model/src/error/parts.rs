//! Parts of errors and of their messages.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A place in a JSON value that doesn't match its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The JSON Pointer (RFC 6901) to the place; empty for the whole value.
    pub path: String,
    /// The problem at that place.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

pub(super) struct Here<'a>(pub &'a str, pub &'a Option<u32>);

impl fmt::Display for Here<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name, here) = self;
        match here {
            None => write!(
                f,
                "and this session has none; resolve it in a session that was opened with `{name}`, or discard it"
            ),
            Some(version) => write!(
                f,
                "and the `{name}` here reads format {version}; resolve it with the version of the program that previewed it, or discard it and preview again"
            ),
        }
    }
}

pub(super) struct WorkspaceName<'a>(pub &'a Option<Arc<Path>>);

impl fmt::Display for WorkspaceName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(path) => path.display().fmt(f),
            None => f.write_str("no workspace"),
        }
    }
}

pub(super) struct Listed<'a>(pub &'a [Violation]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{violation}")?;
        }
        Ok(())
    }
}
