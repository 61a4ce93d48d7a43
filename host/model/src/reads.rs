//! What a tool has read of the workspace, to find later whether that has changed since.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The contents of files that a preview was made from. By path, below the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFiles {
    /// The files.
    pub files: BTreeMap<String, ReadFile>,
    /// Whether more was read than is noted here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A file, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadFile {
    /// Of its metadata: while this is the same, so is the file. 0 where it had changed so shortly
    /// before that the file system's clock may not tell.
    pub fingerprint: u64,
    /// Permissions, as Unix has them: 0o7777 at most.
    pub mode: u32,
    /// The SHA-256 of its contents, in hexadecimal: none where that was not worth the time. Then
    /// the fingerprint alone counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl ReadFile {
    /// A file of which nothing but this is known.
    pub fn new(fingerprint: u64, mode: u32, digest: Option<String>) -> Self {
        Self {
            fingerprint,
            mode,
            digest,
        }
    }
}

impl ReadFiles {
    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.is_cut
    }
}

/// Everything that a rehearsal has looked at: names, metadata, listings and contents. By path, with
/// a fingerprint of what was there: 1 for nothing, 0 for what has to be taken for changed.
///
/// Where any of it has changed, the rehearsal may come to something else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprints(pub BTreeMap<String, u64>);

/// A file that is not as it was when an action was previewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StaleFile {
    /// Where, below the workspace.
    pub path: String,
    /// What became of it.
    pub what: Staleness,
}

/// What became of a file since a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Staleness {
    /// Other contents, other permissions, or something of another kind.
    Changed,
    /// It is no longer there.
    Gone,
    /// There is something where nothing was.
    Appeared,
}

impl StaleFile {
    /// This became of what is at that path.
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

/// The first of them, as a list in a sentence.
pub(crate) struct StaleFiles<'a>(pub &'a [StaleFile]);

/// How many files a sentence names.
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
