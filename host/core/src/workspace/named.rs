//! The last file that a guest asked about, so that its next question needs no second lookup.
//!
//! C libraries identify files as POSIX requires: their `stat` calls `metadata-hash-at` and
//! `stat-at` for the same path, in either order, and their `readdir` asks for the hash of each
//! returned name.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_workspace::{Directory, Kind, Metadata};
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;

use super::{Gate, Handle};

/// Maximum time between the two questions. Later ones need a lookup.
const FRESH_FOR: Duration = Duration::from_millis(1);

/// The last name that a guest asked about. It answers the other question of the two if that comes
/// next, no descriptor was closed, and the guest changed nothing in the meantime.
#[derive(Default)]
pub(super) struct LastNamed(Option<NamedPath>);

/// The subject of a question.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// The descriptor's index in the resource table.
    pub fd: u32,
    pub path: &'a str,
    pub follow: bool,
}

struct NamedPath {
    fd: u32,
    path: String,
    follow: bool,
    /// True if the entry is a link, or if its kind is unknown.
    may_be_link: bool,
    other: Other,
    when: Instant,
    /// The gate's count of passes at that time.
    passed: u64,
}

/// The answer to the other question.
enum Other {
    /// The answer to `metadata-hash-at`, after a stat or a listing.
    Identity([u8; 16]),
    /// The answer to `stat-at`, after `metadata-hash-at`.
    Metadata(Metadata),
}

impl LastNamed {
    /// Notes the result of a stat.
    pub fn stat(&mut self, question: Question<'_>, found: &Metadata, gate: &Gate) {
        let is_link = found.kind == Kind::Link;
        self.put(question, is_link, Other::Identity(found.identity), gate);
    }

    /// Notes the result of a lookup for the hash.
    pub fn hashed(&mut self, question: Question<'_>, found: Metadata, gate: &Gate) {
        let is_link = found.kind == Kind::Link;
        self.put(question, is_link, Other::Metadata(found), gate);
    }

    /// Notes a name from a listing.
    pub fn listed(&mut self, of: Option<&Listed>, name: &str, gate: &Gate) {
        self.0 = None;
        if let Some(of) = of
            && let Ok(Some(identity)) = of.directory.identity_of(name)
        {
            let question = Question {
                fd: of.fd,
                path: name,
                follow: false,
            };
            self.put(question, true, Other::Identity(identity), gate);
        }
    }

    fn put(&mut self, question: Question<'_>, may_be_link: bool, other: Other, gate: &Gate) {
        self.0 = Some(NamedPath {
            fd: question.fd,
            path: question.path.to_owned(),
            follow: question.follow,
            may_be_link,
            other,
            when: Instant::now(),
            passed: gate.passed(),
        });
    }

    pub fn identity(&mut self, question: Question<'_>, gate: &Gate) -> Option<[u8; 16]> {
        match self.take(question, gate)? {
            Other::Identity(identity) => Some(identity),
            Other::Metadata(_) => None,
        }
    }

    pub fn metadata(&mut self, question: Question<'_>, gate: &Gate) -> Option<Metadata> {
        match self.take(question, gate)? {
            Other::Metadata(metadata) => Some(metadata),
            Other::Identity(_) => None,
        }
    }

    fn take(&mut self, question: Question<'_>, gate: &Gate) -> Option<Other> {
        let named = self.0.take()?;
        named.is_about(question, gate).then_some(named.other)
    }

    pub fn forget(&mut self) {
        self.0 = None;
    }
}

impl NamedPath {
    fn is_about(&self, question: Question<'_>, gate: &Gate) -> bool {
        // Following links makes no difference for an entry that is not a link.
        let is_as_followed = !self.follow && !self.may_be_link;
        (self.fd, &*self.path) == (question.fd, question.path)
            && (self.follow == question.follow || is_as_followed)
            && self.passed == gate.passed()
            && self.when.elapsed() < FRESH_FOR
    }
}

/// The directory of a listing.
pub(super) struct Listed {
    /// The descriptor's index in the resource table.
    fd: u32,
    pub directory: Arc<Directory>,
}

impl Listed {
    pub fn new(fd: &Resource<Descriptor>, directory: &Arc<Directory>) -> Self {
        Self {
            fd: fd.rep(),
            directory: Arc::clone(directory),
        }
    }

    /// Returns whether the descriptor still refers to the directory.
    pub fn is_open(&self, handles: &HashMap<u32, Handle>) -> bool {
        let viewed = handles.get(&self.fd).and_then(|it| it.viewed.as_ref());
        let directory = viewed.and_then(|viewed| viewed.directory().ok());
        directory.is_some_and(|directory| Arc::ptr_eq(directory, &self.directory))
    }
}
