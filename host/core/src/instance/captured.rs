//! The output of a program, which is its result.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::output::in_one_line;

/// The most bytes that are kept of a stream: the first ones.
const MAX_KEPT: usize = 256 << 10;

/// The standard output or error of a program. Clones are the same stream.
#[derive(Clone, Default)]
pub(super) struct Captured(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    kept: Vec<u8>,
    /// The number of bytes after those.
    dropped: u64,
}

impl Captured {
    /// Takes the text, with a note of the bytes that were left out.
    pub fn take(&self) -> String {
        let Written { kept, dropped } = std::mem::take(&mut *self.lock());
        let mut text = match String::from_utf8(kept) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        if dropped > 0 {
            text.push_str(&format!("\n[{dropped} more bytes]"));
        }
        text
    }

    /// Returns the last lines that were kept, as one.
    pub fn last_words(&self) -> String {
        in_one_line(&String::from_utf8_lossy(&self.lock().kept))
    }

    pub fn write(&self, bytes: &[u8]) {
        let mut written = self.lock();
        let room = MAX_KEPT.saturating_sub(written.kept.len());
        let (kept, dropped) = bytes.split_at(room.min(bytes.len()));
        written.kept.extend_from_slice(kept);
        written.dropped += dropped.len() as u64;
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
