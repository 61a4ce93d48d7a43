//! How blocks look on the streams of this program.

use std::io;
use std::os::fd::AsFd;

use airlock_render::Renderer;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use terminal_size::{Width, terminal_size_of};

/// Of a terminal that doesn't say.
const USUAL_COLUMNS: usize = 80;

/// Makes a choice hold for both output streams.
pub fn use_everywhere(choice: ColorChoice) {
    choice.write_global();
}

pub fn on_stdout() -> Renderer {
    within(io::stdout())
}

pub fn on_stderr() -> Renderer {
    within(io::stderr())
}

/// As wide as the stream's terminal. What goes into a pipe or a file has a row for each line.
fn within(stream: impl RawStream + AsFd) -> Renderer {
    let renderer = in_colors_of(&stream);
    match stream.is_terminal() {
        true => renderer.width(columns_of(&stream)),
        false => renderer,
    }
}

/// The width of standard error's terminal.
pub fn columns_of_stderr() -> usize {
    columns_of(&io::stderr())
}

fn columns_of(stream: &impl AsFd) -> usize {
    terminal_size_of(stream).map_or(USUAL_COLUMNS, |(Width(columns), _)| columns.into())
}

/// As wide as the lines are. A terminal breaks them by itself, and what is copied from it is whole.
pub fn on_stderr_unbroken() -> Renderer {
    in_colors_of(&io::stderr())
}

fn in_colors_of(stream: &impl RawStream) -> Renderer {
    match AutoStream::choice(stream) {
        ColorChoice::Never => Renderer::plain(),
        _ => Renderer::ansi(),
    }
}
