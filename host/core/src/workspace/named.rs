//! What a guest was told of last, so that what it asks of that next needs no second look.
//!
//! C libraries number a file as POSIX has it: a `stat` of theirs is `metadata-hash-at` and
//! `stat-at` of the same path, in either order, and their `readdir` asks for the hash of each name
//! that it gives.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_workspace::{Directory, Kind, Metadata};
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;

use super::{Gate, Handle};

/// How long it takes a guest at most to ask the second question of the two. Later ones are answered
/// by a look.
const AT_ONCE: Duration = Duration::from_millis(1);

/// The last name that a guest was told of. It answers one question, which comes next, unless a
/// descriptor was closed meanwhile, or anything might have been changed.
#[derive(Default)]
pub(super) struct LastNamed(Option<Named>);

/// What is asked about.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// The descriptor's index in the resource table.
    pub fd: u32,
    pub path: &'a str,
    pub follow: bool,
}

struct Named {
    fd: u32,
    path: String,
    follow: bool,
    identity: [u8; 16],
    /// None where a listing has told of it.
    metadata: Option<Metadata>,
    when: Instant,
    /// How often the gate had been passed.
    passed: u64,
}

impl LastNamed {
    /// By a look.
    pub fn found(&mut self, question: Question<'_>, metadata: &Metadata, gate: &Gate) {
        self.put(question, metadata.identity, Some(metadata.clone()), gate);
    }

    /// By a listing.
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
            self.put(question, identity, None, gate);
        }
    }

    fn put(
        &mut self,
        question: Question<'_>,
        identity: [u8; 16],
        metadata: Option<Metadata>,
        gate: &Gate,
    ) {
        self.0 = Some(Named {
            fd: question.fd,
            path: question.path.to_owned(),
            follow: question.follow,
            identity,
            metadata,
            when: Instant::now(),
            passed: gate.passed(),
        });
    }

    pub fn identity(&mut self, question: Question<'_>, gate: &Gate) -> Option<[u8; 16]> {
        let named = self.0.take()?;
        named.answers(question, gate).then_some(named.identity)
    }

    pub fn metadata(&mut self, question: Question<'_>, gate: &Gate) -> Option<Metadata> {
        let named = self.0.take()?;
        let answers = named.answers(question, gate);
        named.metadata.filter(|_| answers)
    }

    pub fn forget(&mut self) {
        self.0 = None;
    }
}

impl Named {
    fn answers(&self, question: Question<'_>, gate: &Gate) -> bool {
        // What is no link is the same where links are followed.
        let is_no_link = |found: &Metadata| found.kind != Kind::Link;
        let is_as_followed = !self.follow && self.metadata.as_ref().is_some_and(is_no_link);
        (self.fd, &*self.path) == (question.fd, question.path)
            && (self.follow == question.follow || is_as_followed)
            && self.passed == gate.passed()
            && self.when.elapsed() < AT_ONCE
    }
}

/// The directory that a listing is of.
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

    /// Whether the descriptor stands for the directory still.
    pub fn is_open(&self, handles: &HashMap<u32, Handle>) -> bool {
        let viewed = handles.get(&self.fd).and_then(|it| it.viewed.as_ref());
        let directory = viewed.and_then(|viewed| viewed.directory().ok());
        directory.is_some_and(|directory| Arc::ptr_eq(directory, &self.directory))
    }
}
