//! What is being measured, on one line that is written over again; nothing where nobody watches.

use std::io::{IsTerminal, Write, stderr};

pub struct Progress {
    is_watched: bool,
}

impl Progress {
    pub fn new() -> Self {
        let is_watched = stderr().is_terminal();
        Self { is_watched }
    }

    pub fn say(&mut self, what: &str) {
        self.write(what);
    }

    pub fn clear(&mut self) {
        self.write("");
    }

    fn write(&mut self, text: &str) {
        if self.is_watched {
            let mut stderr = stderr().lock();
            let _ = write!(stderr, "\r\x1b[2K{text}");
            let _ = stderr.flush();
        }
    }
}
