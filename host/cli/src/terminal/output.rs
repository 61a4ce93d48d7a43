//! Standard output, in one of two formats.

use std::fmt::Display;
use std::io::{self, Write};

use airlock_render::{Block, Line, Renderer, escape_json};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::terminal::pager::Pager;
use crate::terminal::style;

/// For whom the output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people: as it comes.
    Text,
    /// For programs: one object, at the end.
    Json,
}

/// Standard output. What can't be written changes nothing about what is done, and is told at the
/// end.
pub struct Output {
    stream: io::Stdout,
    renderer: Renderer,
    format: Format,
    /// Whether anything was written.
    is_begun: bool,
    /// Whether the list that was begun has any.
    has_items: bool,
    error: Option<io::Error>,
}

impl Output {
    pub fn new(format: Format) -> Self {
        Self {
            stream: io::stdout(),
            renderer: style::on_stdout(),
            format,
            is_begun: false,
            has_items: false,
            error: None,
        }
    }

    /// Shows something long: on a terminal in a pager, all at once.
    pub fn page(&mut self, block: &Block) {
        if self.format != Format::Text {
            return;
        }
        let text = self.renderer.render(block);
        if let Some(mut pager) = Pager::start() {
            // Who has read enough closes it, and nothing is left to be told.
            let _ = writeln!(pager, "{text}");
            if let Ok(true) = pager.finish() {
                self.is_begun = true;
                return;
            }
        }
        self.write(text);
    }

    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// What people read; nothing in JSON.
    pub fn show(&mut self, block: &Block) {
        if self.format == Format::Text && !block.is_empty() {
            self.write(self.renderer.render(block));
        }
    }

    /// A line for people.
    pub fn line(&mut self, line: impl Into<Line>) {
        self.show(&Block::from(line.into()));
    }

    /// An empty line for people, if something stands before it.
    pub fn gap(&mut self) {
        if self.is_begun {
            self.line("");
        }
    }

    /// The object for programs; nothing in text.
    pub fn json(&mut self, object: &impl Serialize) {
        if self.format == Format::Json {
            match escape_json(object) {
                Ok(json) => self.write(json),
                Err(error) => self.error = Some(error.into()),
            }
        }
    }

    /// The beginning of an object for programs whose first member is a list: that may be more than
    /// fits into memory. Then come its [items](Self::json_item), and the object's
    /// [end](Self::end_json_list).
    pub fn begin_json_list(&mut self, name: &str) {
        if self.is_json() {
            self.put(format_args!("{{\"{name}\":["));
            self.has_items = false;
        }
    }

    /// One item of the list that was begun.
    pub fn json_item(&mut self, item: &impl Serialize) {
        if !self.is_json() {
            return;
        }
        match escape_json(item) {
            Ok(item) => {
                let comma = if self.has_items { "," } else { "" };
                self.has_items = true;
                self.put(format_args!("{comma}{item}"));
            }
            Err(error) => self.error = Some(error.into()),
        }
    }

    /// The end of the list that was begun, and what else the object has.
    pub fn end_json_list(&mut self, others: &Map<String, Value>) {
        if !self.is_json() {
            return;
        }
        match escape_json(others) {
            Ok(others) => {
                let comma = if others == "{}" { "" } else { "," };
                self.write(format_args!("]{comma}{}", &others[1..]));
            }
            Err(error) => self.error = Some(error.into()),
        }
    }

    /// Whether something could not be written: nothing more will be.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    fn put(&mut self, text: impl Display) {
        self.is_begun = true;
        if self.error.is_none() {
            self.error = write!(self.stream, "{text}").err();
        }
    }

    /// A line in either format, as it is.
    pub fn write(&mut self, line: impl Display) {
        self.put(format_args!("{line}\n"));
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// If something could not be written, unless the reader had enough, as `head` has.
    pub fn finish(mut self) -> io::Result<()> {
        let written = match self.error.take() {
            Some(error) => Err(error),
            None => self.stream.flush(),
        };
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

/// A line on standard error. There is nobody to tell where it can't be written.
pub fn on_stderr(line: impl Into<Line>) {
    say(&Block::from(line.into()));
}

/// Lines on standard error that hold a command line to copy, which the terminal breaks by itself.
/// Never for a guest's text: rows that the terminal breaks have no margin.
pub fn say(block: &Block) {
    let _ = writeln!(
        io::stderr(),
        "{}",
        style::on_stderr_unbroken().render(block)
    );
}

/// An error or a guest's text on standard error, in rows that fit the terminal.
pub fn show_on_stderr(block: &Block) {
    let _ = writeln!(io::stderr(), "{}", style::on_stderr().render(block));
}
