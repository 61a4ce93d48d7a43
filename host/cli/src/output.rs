//! Standard output, in one of two formats.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;

use crate::failure::Failure;

/// For whom the output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people: as it comes.
    Text,
    /// For programs: one object, at the end.
    Json,
}

/// Standard output. What can't be written changes nothing about what is done, and is told at the end.
pub struct Output {
    stream: anstream::Stdout,
    format: Format,
    error: Option<io::Error>,
}

impl Output {
    pub fn new(format: Format) -> Self {
        Self {
            stream: anstream::stdout(),
            format,
            error: None,
        }
    }

    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// A line for people; nothing in JSON.
    pub fn line(&mut self, line: impl Display) {
        if self.format == Format::Text {
            self.write(line);
        }
    }

    /// The object for programs; nothing in text.
    pub fn json(&mut self, object: &impl Serialize) {
        if self.format == Format::Json {
            match serde_json::to_string(object) {
                Ok(json) => self.write(json),
                Err(error) => self.error = Some(error.into()),
            }
        }
    }

    /// A line in either format.
    pub fn write(&mut self, line: impl Display) {
        if self.error.is_none() {
            self.error = writeln!(self.stream, "{line}").err();
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// If something could not be written, unless the reader had enough, as `head` has.
    pub fn finish(mut self) -> Result<(), Failure> {
        let written = match self.error.take() {
            Some(error) => Err(error),
            None => self.stream.flush(),
        };
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::host(format!(
                "could not write the output: {error}"
            ))),
            _ => Ok(()),
        }
    }
}

/// A line on standard error. There is nobody to tell where it can't be written.
pub fn on_stderr(line: impl Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}
