//! Writes records of the private folder, each preceded by its keyed hash.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

use serde::Serialize;

use super::files::{Durable, create, sync};
use super::private::Private;
use crate::fault::step;

/// The length of a hash in a record.
const HASH: u64 = blake3::OUT_LEN as u64 * 2;

/// The number of bytes that are hashed and written at once.
const AT_ONCE: usize = 64 << 10;

impl Private<'_> {
    /// Writes a record piece by piece, because it may be large. Returns its size in bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`] if the record has more than `most` bytes.
    pub(super) fn write_sealed(
        &self,
        folder: &File,
        name: &str,
        what: &str,
        record: &impl Serialize,
        most: u64,
        durable: Durable,
    ) -> io::Result<u64> {
        let file = create(folder, name)?;
        step()?;
        let mut sealing = Sealing {
            to: &file,
            hasher: self.hasher(what),
            size: 0,
            most,
        };
        let mut pieces = BufWriter::with_capacity(AT_ONCE, &mut sealing);
        serde_json::to_writer(&mut pieces, record)?;
        pieces.flush()?;
        drop(pieces);
        let hash = sealing.hasher.finalize().to_hex();
        file.write_all_at(format!("{hash}\n").as_bytes(), 0)?;
        sync(&file, durable)?;
        Ok(sealing.size)
    }
}

/// Hashes a record while it is written behind the place of its hash.
struct Sealing<'a> {
    to: &'a File,
    hasher: blake3::Hasher,
    size: u64,
    most: u64,
}

impl Write for Sealing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.most - self.size < bytes.len() as u64 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.to.write_all_at(bytes, HASH + 1 + self.size)?;
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
