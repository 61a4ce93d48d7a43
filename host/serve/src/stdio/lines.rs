//! Lines, with a limit on the memory that each may take.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The most bytes of a line, without its terminator.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// The most bytes of memory that are kept from one line to the next.
const RETAINED_BYTES: usize = 64 << 10;

pub enum Line<'a> {
    /// A line without its terminator.
    Whole(&'a [u8]),
    /// A line that was skipped, with its length in bytes.
    TooLong(u64),
}

pub struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// The number of bytes of the line that were read. If the line is too long, that is more than
    /// `line` holds.
    length: u64,
    is_whole: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(reader: R) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            length: 0,
            is_whole: false,
        }
    }

    /// Returns the next line, or `None` at the end. A last line without a terminator is dropped.
    /// Cancel-safe: dropping the future loses nothing.
    ///
    /// # Errors
    /// Those of the reader.
    pub async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.is_whole {
            self.is_whole = false;
            self.length = 0;
            self.line.clear();
            self.line.shrink_to(RETAINED_BYTES);
        }
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                return Ok(None);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            self.length += part.len() as u64;
            let fits = self.length <= MAX_LINE_BYTES as u64;
            if fits {
                self.line.extend_from_slice(part)
            } else {
                self.line = Vec::new()
            }
            let taken = part.len() + usize::from(end.is_some());
            self.reader.consume(taken);
            if end.is_some() {
                self.is_whole = true;
                return Ok(Some(if fits {
                    Line::Whole(&self.line)
                } else {
                    Line::TooLong(self.length)
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_may_be_as_long_as_the_limit_and_a_longer_one_is_skipped() {
        let mut text = vec![b'a'; MAX_LINE_BYTES];
        text.extend_from_slice(b"\n\nb\n");
        text.resize(text.len() + MAX_LINE_BYTES + 1, b'c');
        text.extend_from_slice(b"\nd\nwithout an end");
        let mut lines = Lines::new(&text[..]);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(match line {
                Line::Whole(line) => (line.len(), line.first().copied()),
                Line::TooLong(bytes) => (usize::try_from(bytes).unwrap(), None),
            });
        }
        let expected = [
            (MAX_LINE_BYTES, Some(b'a')),
            (0, None),
            (1, Some(b'b')),
            (MAX_LINE_BYTES + 1, None),
            (1, Some(b'd')),
        ];
        assert_eq!(found, expected);
        assert!(lines.line.capacity() <= RETAINED_BYTES);
    }
}
