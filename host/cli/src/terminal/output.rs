//! Standard output, in one of two formats.

use std::fmt::Display;
use std::io::{self, Write};

use airlock_render::{Block, Line, Renderer, escape_json};
use serde::Serialize;

use crate::terminal::pager::Pager;
use crate::terminal::style;

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text for people, printed as it arrives.
    Text,
    /// A JSON object for programs, printed at the end.
    Json,
}

/// Standard output. Write errors don't stop the command; they are reported at the end.
pub struct Output {
    stream: io::Stdout,
    renderer: Renderer,
    format: Format,
    /// True if anything was written.
    is_begun: bool,
    /// True if the current list has any items.
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

    /// Shows a long block at once, on a terminal in a pager.
    pub fn page(&mut self, block: &Block) {
        if self.format != Format::Text {
            return;
        }
        let text = self.renderer.render(block);
        if let Some(mut pager) = Pager::start() {
            // A reader who has seen enough closes it, and there is nothing left to print.
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

    /// Shows a block to people. Prints nothing in JSON.
    pub fn show(&mut self, block: &Block) {
        if self.format == Format::Text && !block.is_empty() {
            self.write(self.renderer.render(block));
        }
    }

    /// Shows a line to people.
    pub fn line(&mut self, line: impl Into<Line>) {
        self.show(&Block::from(line.into()));
    }

    /// Shows an empty line to people, unless it would be the first.
    pub fn gap(&mut self) {
        if self.is_begun {
            self.line("");
        }
    }

    /// Prints the object for programs. Prints nothing in text format.
    pub fn json(&mut self, object: &impl Serialize) {
        if self.format == Format::Json {
            match escape_json(object) {
                Ok(json) => self.write(json),
                Err(error) => self.error = Some(error.into()),
            }
        }
    }

    /// Begins an object for programs whose first member is a list, which may be too large for
    /// memory. Add its [items](Self::json_item), then [end](Self::end_json_list) the object.
    pub fn begin_json_list(&mut self, name: &str) {
        if self.is_json() {
            self.put(format_args!("{{\"{name}\":["));
            self.has_items = false;
        }
    }

    /// Adds an item to the current list.
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

    /// Ends the current list, and adds the object's other members.
    pub fn end_json_list(&mut self, others: &impl Serialize) {
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

    /// Returns whether a write failed. Nothing more is written then.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    fn put(&mut self, text: impl Display) {
        self.is_begun = true;
        if self.error.is_none() {
            self.error = write!(self.stream, "{text}").err();
        }
    }

    /// Writes a line in either format, unchanged.
    pub fn write(&mut self, line: impl Display) {
        self.put(format_args!("{line}\n"));
    }

    /// Flushes the output.
    ///
    /// # Errors
    /// If a write failed, unless the reader stopped early, as `head` does.
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

/// Prints a line to standard error. Write errors are ignored, because there is nowhere to report
/// them.
pub fn on_stderr(line: impl Into<Line>) {
    say(&Block::from(line.into()));
}

/// Prints lines with a command to copy to standard error; the terminal wraps them. Never use it for
/// a guest's text: rows that the terminal wraps have no margin.
pub fn say(block: &Block) {
    let _ = writeln!(
        io::stderr(),
        "{}",
        style::on_stderr_unbroken().render(block)
    );
}

/// Prints an error or a guest's text to standard error, in rows that fit the terminal.
pub fn show_on_stderr(block: &Block) {
    let _ = writeln!(io::stderr(), "{}", style::on_stderr().render(block));
}
