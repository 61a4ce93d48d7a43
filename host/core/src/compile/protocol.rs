//! What a host and the process that compiles for it say to each other, over pipes that nobody else
//! has.
//!
//! The host writes a [`Request`] and the component, and keeps its end open for as long as it wants
//! the answer. The process writes an [`Answer`] and what belongs to it, once.

use std::io::{self, Read, Write};

use airlock_worker::Bounds;

/// The argument that makes a program a compiler.
pub const ARGUMENT: &str = "airlock-compile-a-component";

/// Changes with this protocol.
const REQUEST: &[u8; 16] = b"airlock-asks-1\n\0";
const ANSWER: &[u8; 16] = b"airlock-gives-1\n";

/// The longest reason that is said.
pub const REASON_BYTES: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Which code the host's engine can run.
    pub compatibility: u64,
    /// What the process may take.
    pub bounds: Bounds,
    /// Bytes of the component that follows.
    pub component: u64,
}

impl Request {
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let Self {
            compatibility,
            bounds,
            component,
        } = *self;
        let mut bytes = REQUEST.to_vec();
        let Bounds {
            memory,
            processor_seconds,
        } = bounds;
        for number in [compatibility, memory, processor_seconds, component] {
            bytes.extend(number.to_le_bytes());
        }
        to.write_all(&bytes)
    }

    pub fn read(mut from: impl Read) -> io::Result<Self> {
        let mut magic = [0; REQUEST.len()];
        from.read_exact(&mut magic)?;
        if magic != *REQUEST {
            return Err(io::Error::other("the host has another version"));
        }
        let mut number = || {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes)?;
            io::Result::Ok(u64::from_le_bytes(bytes))
        };
        Ok(Self {
            compatibility: number()?,
            bounds: Bounds {
                memory: number()?,
                processor_seconds: number()?,
            },
            component: number()?,
        })
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// The compiled code.
    Code(Vec<u8>),
    /// The bytes are not a component, for this reason.
    Refused(String),
    /// The memory was not enough.
    OutOfMemory,
    /// This program makes code that the host can't run: it is of another version.
    OtherEngine,
}

impl Answer {
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let (kind, body): (u8, &[u8]) = match self {
            Answer::Code(code) => (0, code),
            Answer::Refused(reason) => (
                1,
                &reason.as_bytes()[..reason.floor_char_boundary(REASON_BYTES)],
            ),
            Answer::OutOfMemory => (2, &[]),
            Answer::OtherEngine => (3, &[]),
        };
        to.write_all(ANSWER)?;
        to.write_all(&[kind])?;
        to.write_all(&(body.len() as u64).to_le_bytes())?;
        to.write_all(body)?;
        to.flush()
    }

    /// Reads no more than `max_bytes` of it, and takes no memory for what only was announced.
    pub fn read(mut from: impl Read, max_bytes: u64) -> Result<Self, Unanswered> {
        let mut head = [0; ANSWER.len() + 1 + 8];
        let mut got = 0;
        while got < head.len() {
            match from.read(&mut head[got..]) {
                Ok(0) if got == 0 => return Err(Unanswered::Nothing),
                Ok(0) => return Err(Unanswered::Half),
                Ok(bytes) => got += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Unanswered::Half),
            }
            if !ANSWER.starts_with(&head[..got.min(ANSWER.len())]) {
                return Err(Unanswered::Garbage);
            }
        }
        let (kind, length) = (head[ANSWER.len()], &head[ANSWER.len() + 1..]);
        let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
        let max_bytes = match kind {
            0 => max_bytes,
            _ => REASON_BYTES as u64,
        };
        if length > max_bytes {
            return Err(Unanswered::TooMuch(length));
        }
        let mut body = Vec::new();
        // One more than announced: what says more than it means to is not ours.
        let read = from.take(length + 1).read_to_end(&mut body);
        match body.len() as u64 {
            got if got > length => return Err(Unanswered::Garbage),
            got if got < length || read.is_err() => return Err(Unanswered::Half),
            _ => {}
        }
        match kind {
            0 => Ok(Answer::Code(body)),
            1 => Ok(Answer::Refused(String::from_utf8_lossy(&body).into_owned())),
            2 => Ok(Answer::OutOfMemory),
            3 => Ok(Answer::OtherEngine),
            _ => Err(Unanswered::Garbage),
        }
    }
}

/// Why what came back is no answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    #[error("it said nothing")]
    Nothing,
    #[error("it stopped in the middle of its answer")]
    Half,
    #[error("its output is not an answer; it may be another version")]
    Garbage,
    #[error("its answer is {0} bytes, more than compiled code may be")]
    TooMuch(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let request = Request {
            compatibility: u64::MAX,
            bounds: Bounds {
                memory: 2 << 30,
                processor_seconds: 7,
            },
            component: 12,
        };
        let mut bytes = Vec::new();
        request.write(&mut bytes).unwrap();
        assert_eq!(Request::read(&bytes[..]).unwrap(), request);
        assert!(Request::read(&bytes[..bytes.len() - 1]).is_err());
        bytes[0] ^= 1;
        assert!(Request::read(&bytes[..]).is_err());
    }

    #[test]
    fn an_answer_is_read_as_it_was_written_or_not_at_all() {
        let check = |answer: Answer| {
            let mut bytes = Vec::new();
            answer.write(&mut bytes).unwrap();
            assert_eq!(Answer::read(&bytes[..], 100).as_ref(), Ok(&answer));
            for length in 0..bytes.len() {
                let expected = match length {
                    0 => Unanswered::Nothing,
                    _ => Unanswered::Half,
                };
                assert_eq!(Answer::read(&bytes[..length], 100), Err(expected));
            }
            bytes.push(0);
            assert_eq!(Answer::read(&bytes[..], 100), Err(Unanswered::Garbage));
            bytes[3] ^= 1;
            assert_eq!(Answer::read(&bytes[..], 100), Err(Unanswered::Garbage));
        };
        check(Answer::Code(vec![7; 100]));
        check(Answer::Code(Vec::new()));
        check(Answer::Refused("no".to_owned()));
        check(Answer::OutOfMemory);
        check(Answer::OtherEngine);
    }

    #[test]
    fn an_answer_that_is_too_long_is_not_read() {
        let mut bytes = Vec::new();
        Answer::Code(vec![7; 101]).write(&mut bytes).unwrap();
        assert_eq!(Answer::read(&bytes[..], 100), Err(Unanswered::TooMuch(101)));
        let mut bytes = Vec::new();
        let long = "ä".repeat(REASON_BYTES);
        Answer::Refused(long).write(&mut bytes).unwrap();
        assert!(matches!(
            Answer::read(&bytes[..], 100),
            Ok(Answer::Refused(reason)) if reason.len() == REASON_BYTES
        ));
    }
}
