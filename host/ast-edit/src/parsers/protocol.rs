//! What a search and the processes that parse for it say to each other, over a socket that nobody
//! else has.
//!
//! The search writes a [`Handshake`], and then a [`Request`] with a source at a time; the process
//! answers each. All of it is frames: the length in four bytes, little-endian, and so many bytes.

use std::io::{self, Read, Write};

use airlock_worker::Bounds;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::code::Op;

/// The argument that makes a program a parser.
pub(super) const ARGUMENT: &str = "airlock-parse-sources";

/// Changes with what is said: both sides are the same program, unless it was replaced while the
/// host ran.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "-1");

/// No frame is longer.
pub(super) const MAX_BYTES: u32 = 1 << 30;

/// The first that is said.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Handshake {
    version: String,
    memory: u64,
    processor_seconds: u64,
    ops: Vec<Op>,
}

impl Handshake {
    pub fn new(bounds: Bounds, ops: &[Op]) -> Self {
        Self {
            version: VERSION.to_owned(),
            memory: bounds.memory,
            processor_seconds: bounds.processor_seconds,
            ops: ops.to_vec(),
        }
    }

    pub fn take(self) -> io::Result<(Bounds, Vec<Op>)> {
        if self.version != VERSION {
            return Err(io::Error::other("the host has another version"));
        }
        let bounds = Bounds {
            memory: self.memory,
            processor_seconds: self.processor_seconds,
        };
        Ok((bounds, self.ops))
    }
}

/// What is asked of one source. Languages go by their names.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Request {
    /// The ops themselves; the source is empty.
    Outline { language: String },
    /// What the ops make of the source, in so many bytes.
    Find {
        language: String,
        room: usize,
        checks_contents: bool,
    },
    /// The source's errors.
    Errors { language: String },
}

/// Writes a value, as JSON in a frame.
pub(super) fn write(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    write_bytes(to, &serde_json::to_vec(value)?)
}

/// Writes bytes in a frame.
pub(super) fn write_bytes(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok();
    let length = length.filter(|length| *length <= MAX_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(bytes)
}

/// Reads a value that was written so.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    Ok(serde_json::from_slice(&read_bytes(from)?)?)
}

/// Reads bytes that were written so.
pub(super) fn read_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    match read_length(from)? {
        length if length > MAX_BYTES => Err(io::Error::other("the message is too long")),
        length => read_body(from, length),
    }
}

/// How many bytes follow, by what is announced.
pub(super) fn read_length(from: &mut impl Read) -> io::Result<u32> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    Ok(u32::from_le_bytes(length))
}

/// Reads so many bytes. It takes no memory for what was only announced.
pub(super) fn read_body(from: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == u64::from(length) {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_half_of_it_is_not() {
        let question = Request::Find {
            language: "rust".to_owned(),
            room: 7,
            checks_contents: true,
        };
        let mut bytes = Vec::new();
        write(&mut bytes, &question).unwrap();
        assert_eq!(read::<Request>(&mut &bytes[..]).unwrap(), question);
        for length in 0..bytes.len() {
            let error = read::<Request>(&mut &bytes[..length]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{length}");
        }
        let error = read_bytes(&mut &[255; 8][..]).unwrap_err().to_string();
        assert_eq!(error, "the message is too long");
    }

    #[test]
    fn a_host_of_another_version_is_told_apart() {
        let bounds = Bounds {
            memory: 1,
            processor_seconds: 2,
        };
        let mut hello = Handshake::new(bounds, &[]);
        hello.version.push('x');
        assert!(hello.take().is_err());
        assert_eq!(
            Handshake::new(bounds, &[]).take().unwrap(),
            (bounds, vec![])
        );
    }
}
