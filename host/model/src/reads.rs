//! Records of the files that a tool read, to detect later changes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The files that a preview was made from, by path below the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFiles {
    /// The files.
    pub files: BTreeMap<String, ReadFile>,
    /// True if the tool read more files than are recorded here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A file at the time when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadFile {
    /// A fingerprint of the metadata. While it is unchanged, so is the file. 0 if the file had
    /// changed so recently that the file system's clock might not show another change.
    pub fingerprint: u64,
    /// The Unix permissions, at most 0o7777.
    pub mode: u32,
    /// The SHA-256 of the contents in hexadecimal, or `None` if computing it was too expensive.
    /// Only the fingerprint counts then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl ReadFile {
    /// Creates a record of a file.
    pub fn new(fingerprint: u64, mode: u32, digest: Option<String>) -> Self {
        Self {
            fingerprint,
            mode,
            digest,
        }
    }
}

impl ReadFiles {
    /// Returns true if nothing was read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.is_cut
    }
}

/// The fingerprints of everything that a rehearsal looked at: names, metadata, listings and
/// contents, by path. A missing file has the fingerprint 1, and one that must be treated as changed
/// has 0.
///
/// If any of them has changed, the rehearsal may have another result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprints(pub BTreeMap<String, u64>);

/// A file that has changed since an action was previewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StaleFile {
    /// The path below the workspace.
    pub path: String,
    /// The kind of change.
    pub what: Staleness,
}

/// A kind of change to a file since a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Staleness {
    /// The contents, the permissions or the kind of file changed.
    Changed,
    /// The file no longer exists.
    Gone,
    /// A file exists now that didn't before.
    Appeared,
}

impl StaleFile {
    /// Creates a record of a change at `path`.
    pub fn new(path: impl Into<String>, what: Staleness) -> Self {
        Self {
            path: path.into(),
            what,
        }
    }
}

impl fmt::Display for StaleFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            Staleness::Changed => "has changed",
            Staleness::Gone => "is gone",
            Staleness::Appeared => "is there now",
        };
        write!(f, "{} {what}", crate::effects::plain_path(&self.path))
    }
}

/// Formats the first files as a list in a sentence.
pub(crate) struct StaleFiles<'a>(pub &'a [StaleFile]);

/// The number of files that a sentence names.
const NAMED: usize = 10;

impl fmt::Display for StaleFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, file) in self.0.iter().take(NAMED).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{file}")?;
        }
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}
