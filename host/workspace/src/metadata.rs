//! The metadata that a view returns for an object.

use std::io;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blake3::hazmat::{ContextKey, HasherExt, hash_derive_key_context};

use crate::answer::Metadata;
use crate::lower::{Kind, Lower, Stamp};
use crate::tree::{At, Body, ROOT};
use crate::view::State;

impl Metadata {
    /// Reads the real object, if there is one.
    pub(crate) fn of(state: &State, lower: &Lower, at: &At) -> io::Result<Self> {
        let real = match origin(state, at) {
            Some((path, seen)) => {
                let now = lower.stamp(path)?.filter(|now| now.is_same_object(&seen));
                Some(now.unwrap_or(seen))
            }
            None => None,
        };
        Ok(Self::known(state, at, real))
    }

    /// Builds the metadata from the known state of the real object.
    pub(crate) fn known(state: &State, at: &At, real: Option<Stamp>) -> Self {
        let node = match at {
            At::Lower(..) => None,
            At::Node(id) => Some(state.tree.node(*id)),
        };
        let identity = identity_of(state, at);
        let kind = state.tree.kind(at);
        let size = match node.map(|node| &node.body) {
            Some(Body::File(Some(content))) => content.len(),
            Some(Body::Link(Some(target))) => target.len() as u64,
            _ => real.map_or(0, |stamp| stamp.size),
        };
        let made_links = if kind == Kind::Directory { 2 } else { 1 };
        let parted = matches!(node.map(|node| &node.body), Some(Body::File(Some(_))));
        let links = real
            .filter(|_| !parted)
            .map_or(made_links, |stamp| stamp.links);
        // An object that was removed while open has one name less.
        let removed = match at {
            At::Node(id) => *id != ROOT && state.tree.node(*id).link.is_none(),
            At::Lower(..) => false,
        };
        let links = if removed && kind != Kind::Directory {
            links.saturating_sub(1)
        } else {
            links
        };
        let time = |own: Option<SystemTime>, real: Option<(i64, u32)>| {
            own.or(real.map(system_time)).unwrap_or(UNIX_EPOCH)
        };
        let modified = node.and_then(|node| node.modified);
        Self {
            kind,
            size,
            links,
            mode: node.map_or_else(|| real.map_or(0, |stamp| stamp.mode), |node| node.mode),
            accessed: time(
                node.and_then(|node| node.accessed),
                real.map(|stamp| stamp.accessed),
            ),
            modified: time(modified, real.map(|stamp| stamp.modified)),
            changed: time(modified, real.map(|stamp| stamp.changed)),
            identity,
        }
    }
}

impl Metadata {
    /// Returns this metadata of a directory without what changes with its contents.
    pub(crate) fn without_contents(self) -> Self {
        Self {
            size: 0,
            links: 2,
            accessed: UNIX_EPOCH,
            modified: UNIX_EPOCH,
            changed: UNIX_EPOCH,
            ..self
        }
    }
}

/// Returns the path of the object in the real folder and the stamp that was seen first.
fn origin<'a>(state: &'a State, at: &'a At) -> Option<(&'a str, Stamp)> {
    match at {
        At::Lower(path, stamp) => Some((path, *stamp)),
        At::Node(id) => {
            let origin = state.tree.node(*id).origin.as_ref()?;
            Some((&origin.path, origin.stamp))
        }
    }
}

/// Computes [`Metadata::identity`] without reading the real object.
pub(crate) fn identity_of(state: &State, at: &At) -> [u8; 16] {
    match (origin(state, at), at) {
        (Some((path, _)), _) => identity_of_real(path),
        (None, At::Node(id)) => identity("made", &state.tree.node(*id).serial.to_le_bytes()),
        (None, At::Lower(..)) => [0; 16],
    }
}

pub(crate) fn identity_of_real(path: &str) -> [u8; 16] {
    identity("real", path.as_bytes())
}

fn identity(of: &str, what: &[u8]) -> [u8; 16] {
    static CONTEXT: LazyLock<ContextKey> =
        LazyLock::new(|| hash_derive_key_context("airlock workspace 2026 object identity"));
    let mut hasher = blake3::Hasher::new_from_context_key(&CONTEXT);
    hasher.update(of.as_bytes()).update(b"\0").update(what);
    let mut identity = [0; 16];
    identity.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    identity
}

fn system_time((seconds, nanoseconds): (i64, u32)) -> SystemTime {
    let part = Duration::from_nanos(u64::from(nanoseconds));
    match u64::try_from(seconds) {
        Ok(seconds) => UNIX_EPOCH + Duration::from_secs(seconds) + part,
        Err(_) => UNIX_EPOCH - Duration::from_secs(seconds.unsigned_abs()) + part,
    }
}
