//! Frames: the sender, the number of bytes, and the bytes.

use std::io::{self, ErrorKind, Read, Write};

/// The first bytes of a frame. They distinguish a frame from other output, and the host's frames
/// from a process's, so that an echo doesn't count as an answer.
pub(crate) type Magic = [u8; 16];

/// The start of the host's frames. Both magics change with the layout.
pub(crate) const FROM_HOST: &Magic = b"airlock-asks-2\n\0";

/// The start of a process's frames.
pub(crate) const FROM_PROCESS: &Magic = b"airlock-gives-2\n";

const HEAD_BYTES: usize = size_of::<Magic>() + size_of::<u64>();

/// The reason why no message was received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The caller has stopped waiting.
    #[error("the caller stopped waiting")]
    GivenUp,
    /// The other side ended without sending anything.
    #[error("it said nothing")]
    Nothing,
    /// The other side ended within a message.
    #[error("it stopped in the middle of its answer")]
    Half,
    /// The bytes are not a message.
    #[error("its output is not an answer; it may be another version")]
    Garbage,
    /// The message has this many bytes and doesn't fit.
    #[error("its answer is {0} bytes, more than there is room for")]
    TooLong(u64),
    /// The socket failed.
    #[error(transparent)]
    Failed(io::Error),
}

impl From<io::Error> for ReceiveError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::TimedOut => ReceiveError::GivenUp,
            _ => ReceiveError::Failed(error),
        }
    }
}

/// Writes a frame that contains these parts.
pub(crate) fn write(mut to: impl Write, magic: &Magic, parts: &[&[u8]]) -> io::Result<()> {
    let length: u64 = parts.iter().map(|part| part.len() as u64).sum();
    to.write_all(&[&magic[..], &length.to_le_bytes()].concat())?;
    parts.iter().try_for_each(|part| to.write_all(part))
}

/// Reads the bytes of a frame if `admits` accepts their number. Allocates no memory for bytes that
/// have not arrived.
pub(crate) fn read(
    mut from: impl Read,
    magic: &Magic,
    admits: impl FnOnce(u64) -> bool,
) -> Result<Vec<u8>, ReceiveError> {
    let mut head = [0; HEAD_BYTES];
    let mut got = 0;
    while got < head.len() {
        match from.read(&mut head[got..]) {
            Ok(0) if got == 0 => return Err(ReceiveError::Nothing),
            Ok(0) => return Err(ReceiveError::Half),
            Ok(bytes) => got += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
        if !magic.starts_with(&head[..got.min(magic.len())]) {
            return Err(ReceiveError::Garbage);
        }
    }
    let length = u64::from_le_bytes(*head.last_chunk().unwrap_or(&[0; 8]));
    if !admits(length) {
        return Err(ReceiveError::TooLong(length));
    }
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok(bytes)
    } else {
        Err(ReceiveError::Half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(parts: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, FROM_PROCESS, parts).unwrap();
        bytes
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<u8>, ReceiveError> {
        read(bytes, FROM_PROCESS, |_| true)
    }

    #[test]
    fn a_frame_is_read_as_it_was_written_or_not_at_all() {
        let check = |parts: &[&[u8]]| {
            let bytes = frame(parts);
            assert_eq!(read_all(&bytes).unwrap(), parts.concat());
            assert!(matches!(read_all(&[]), Err(ReceiveError::Nothing)));
            for length in 1..bytes.len() {
                let half = read_all(&bytes[..length]);
                assert!(matches!(half, Err(ReceiveError::Half)), "{length}");
            }
            for place in 0..size_of::<Magic>() {
                let mut other = bytes.clone();
                other[place] ^= 1;
                let read = read_all(&other);
                assert!(matches!(read, Err(ReceiveError::Garbage)), "{place}");
            }
        };
        check(&[]);
        check(&[b"", b""]);
        check(&[b"question"]);
        check(&[b"code", &[7; 1000], b"kind"]);
    }

    #[test]
    fn garbage_is_recognized_before_there_is_as_much_as_a_head() {
        for bytes in [&b"no"[..], b"airlock-gives-1\n", FROM_HOST] {
            assert!(matches!(read_all(bytes), Err(ReceiveError::Garbage)));
        }
    }

    #[test]
    fn what_stands_behind_a_frame_is_left_for_the_next_one() {
        let bytes = [frame(&[b"one"]), frame(&[b"two"])].concat();
        let mut bytes = &bytes[..];
        for expected in [&b"one"[..], b"two"] {
            let read = read(&mut bytes, FROM_PROCESS, |_| true);
            assert_eq!(read.unwrap(), expected);
        }
        assert!(bytes.is_empty());
    }

    /// Says that there will be very much, and never has it.
    struct Announcing<'a>(&'a [u8]);

    impl Read for Announcing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(buffer.len() < 1 << 20, "memory for {} bytes", buffer.len());
            self.0.read(buffer)
        }
    }

    #[test]
    fn a_length_is_refused_before_any_byte_and_no_memory_is_taken_for_what_is_only_announced() {
        let head = [&FROM_PROCESS[..], &u64::MAX.to_le_bytes()].concat();
        let refused = read(&head[..], FROM_PROCESS, |length| length <= 100);
        assert!(matches!(refused, Err(ReceiveError::TooLong(u64::MAX))));
        let half = read(Announcing(&head), FROM_PROCESS, |_| true);
        assert!(matches!(half, Err(ReceiveError::Half)));
        let bytes = frame(&[&[7; 101]]);
        let refused = read(&bytes[..], FROM_PROCESS, |length| length <= 100);
        assert!(matches!(refused, Err(ReceiveError::TooLong(101))));
    }

    #[test]
    fn a_socket_that_fails_says_why() {
        struct Failing(ErrorKind);
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
        }
        let read = |kind| read(Failing(kind), FROM_PROCESS, |_| true).unwrap_err();
        assert!(matches!(read(ErrorKind::TimedOut), ReceiveError::GivenUp));
        let denied = io::Error::from(ErrorKind::PermissionDenied).to_string();
        assert_eq!(read(ErrorKind::PermissionDenied).to_string(), denied);
    }
}
