//! Facts about an object, before and after a change.

use std::fs::File;
use std::io;

use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::deadline::Deadline;
use crate::content::{Content, read_full};
use crate::facts::Facts;
use crate::lower::{Kind, Stamp};
use crate::parents::Parents;
use crate::tree::{Body, Node};

const READ_AT_ONCE: usize = 256 * 1024;

/// Maximum size of a moved file that is read for its digest, in bytes.
const DIGESTED: u64 = 1 << 20;

/// Returns the facts of an object that the layer created or has contents of.
pub(super) fn own_facts(node: &Node, until: Deadline) -> io::Result<Facts> {
    let mut facts = Facts {
        kind: node.body.kind(),
        size: 0,
        mode: node.mode,
        digest: None,
        identity: None,
        target: None,
    };
    match &node.body {
        Body::File(Some(content)) => {
            facts.size = content.len();
            facts.digest = Some(digest_of_content(content, until)?);
        }
        Body::Link(Some(target)) => {
            facts.size = target.len() as u64;
            facts.mode = 0;
            facts.target = Some(target.to_string());
        }
        _ => {}
    }
    Ok(facts)
}

/// Returns the facts of an object of the real folder that the layer only moves or removes. A large
/// file is not read.
pub(super) fn unread_facts(
    parents: &mut Parents<'_>,
    path: &str,
    stamp: &Stamp,
    until: Deadline,
) -> io::Result<Facts> {
    if stamp.kind != Kind::File || stamp.size <= DIGESTED {
        return real_facts(parents, path, stamp, until);
    }
    let now = parents.stamp(path)?.ok_or(Errno::NOENT)?;
    if !stamp.has_same_contents(&now) {
        return Err(Errno::STALE.into());
    }
    Ok(Facts {
        kind: stamp.kind,
        size: stamp.size,
        mode: stamp.mode,
        digest: None,
        identity: Some(Box::new(stamp.identity())),
        target: None,
    })
}

pub(crate) fn real_facts(
    parents: &mut Parents<'_>,
    path: &str,
    stamp: &Stamp,
    until: Deadline,
) -> io::Result<Facts> {
    let mut facts = Facts {
        kind: stamp.kind,
        size: stamp.size,
        mode: stamp.mode,
        digest: None,
        identity: None,
        target: None,
    };
    match stamp.kind {
        Kind::File => {
            let (file, now) = parents.open_file(path)?;
            if !stamp.has_same_contents(&now) {
                return Err(Errno::STALE.into());
            }
            facts.digest = Some(digest_of_file(&file, now.size, until)?);
        }
        Kind::Link => {
            facts.mode = 0;
            match parents.read_link(path) {
                Ok(target) => facts.target = Some(target),
                Err(error) if error.raw_os_error() == Some(Errno::ILSEQ.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
        Kind::Directory => facts.size = 0,
        Kind::Special => {}
    }
    Ok(facts)
}

pub(crate) fn digest_of_content(content: &Content, until: Deadline) -> io::Result<String> {
    digest_of(content.len(), until, |buffer, offset| {
        content.read_at(buffer, offset)
    })
}

pub(crate) fn digest_of_text(text: &str) -> String {
    hexadecimal(Sha256::digest(text))
}

fn digest_of_file(file: &File, size: u64, until: Deadline) -> io::Result<String> {
    digest_of(size, until, |buffer, offset| {
        read_full(file, buffer, offset)
    })
}

/// Computes a digest. `size` is the expected size in bytes. `read` fills the buffer, or reads up
/// to the end.
fn digest_of(
    size: u64,
    until: Deadline,
    read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<String> {
    let mut hasher = Sha256::new();
    // One extra byte lets the first read detect the end.
    let length = usize::try_from(size).unwrap_or(READ_AT_ONCE);
    let mut buffer = vec![0; READ_AT_ONCE.min(length.saturating_add(1))];
    let mut offset = 0;
    loop {
        until.check()?;
        let length = read(&mut buffer, offset)?;
        hasher.update(&buffer[..length]);
        offset += length as u64;
        if length < buffer.len() {
            break;
        }
    }
    Ok(hexadecimal(hasher.finalize()))
}

fn hexadecimal(digest: impl IntoIterator<Item = u8>) -> String {
    use std::fmt::Write;
    let mut hex = String::with_capacity(64);
    for byte in digest {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
