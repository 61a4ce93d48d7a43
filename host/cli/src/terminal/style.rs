//! The style of blocks on this program's streams.

use std::io;
use std::os::fd::AsFd;

use airlock_render::Renderer;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use terminal_size::{Width, terminal_size_of};

/// The width of a terminal that doesn't report it.
const USUAL_COLUMNS: usize = 80;

/// Applies a color choice to both output streams.
pub fn use_everywhere(choice: ColorChoice) {
    choice.write_global();
}

pub fn on_stdout() -> Renderer {
    within(io::stdout())
}

pub fn on_stderr() -> Renderer {
    within(io::stderr())
}

/// Returns a renderer as wide as the stream's terminal. In a pipe or file, each line is one row.
fn within(stream: impl RawStream + AsFd) -> Renderer {
    let renderer = in_colors_of(&stream);
    if stream.is_terminal() {
        renderer.width(columns_of(&stream))
    } else {
        renderer
    }
}

/// Returns the width of standard error's terminal.
pub fn columns_of_stderr() -> usize {
    columns_of(&io::stderr())
}

fn columns_of(stream: &impl AsFd) -> usize {
    terminal_size_of(stream).map_or(USUAL_COLUMNS, |(Width(columns), _)| columns.into())
}

/// Returns a renderer of any width. The terminal wraps lines, and text that is copied from it is
/// complete.
pub fn on_stderr_unbroken() -> Renderer {
    in_colors_of(&io::stderr())
}

fn in_colors_of(stream: &impl RawStream) -> Renderer {
    match AutoStream::choice(stream) {
        ColorChoice::Never => Renderer::plain(),
        _ => Renderer::ansi(),
    }
}
