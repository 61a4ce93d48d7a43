//! The log on standard error, for those who ask for it.

use std::io;

use airlock_host::render::escape_line;
use anstream::{AutoStream, ColorChoice};
use tracing::Level;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::debug_fn;
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Shows, by how often `-v` was given: nothing; what guests say, and warnings; all of ours; everything.
pub fn start(verbose: u8) {
    let shown = match verbose {
        0 => return,
        1 => ours(Level::WARN).with_target("airlock::guest", Level::INFO),
        2 => ours(Level::DEBUG),
        _ => ours(Level::TRACE).with_default(LevelFilter::DEBUG),
    };
    let colored = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    // Guests write to the log too.
    let fields = debug_fn(|writer, field, value| {
        let value = format!("{value:?}");
        match field.name() {
            "message" => write!(writer, "{}", escape_line(&value)),
            name => write!(writer, "{name}={}", escape_line(&value)),
        }
    });
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_timer(uptime())
        .with_ansi(colored)
        .fmt_fields(fields.delimited(" "));
    tracing_subscriber::registry()
        .with(shown)
        .with(lines)
        .init();
}

fn ours(level: Level) -> Targets {
    // Crates and their parts are named after the library, or after the program.
    Targets::new().with_target("airlock", level)
}
