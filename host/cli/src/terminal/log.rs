//! The optional log on standard error.

use std::fmt::{self, Debug, Write as _};
use std::io;

use airlock_render::{Block, Line, Role};
use jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::terminal::style;

/// Starts the log. By the number of `-v` options, it shows: nothing; guest messages, decisions and
/// warnings; Airlock's debug events; all of Airlock's events, and debug events of other crates.
pub fn start(verbose: u8) {
    let shown = match verbose {
        0 => return,
        1 => ours(Level::INFO),
        2 => ours(Level::DEBUG),
        _ => ours(Level::TRACE).with_default(LevelFilter::DEBUG),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .event_format(LogFormat);
    tracing_subscriber::registry()
        .with(shown)
        .with(lines)
        .init();
}

fn ours(level: Level) -> Targets {
    // Crates and their modules are named after the library or the program.
    Targets::new().with_target("airlock", level)
}

/// The log format: one line per event. It starts with the host's facts: the time in UTC, the level
/// and the source. The message follows. It may come from a guest, so its further rows have the
/// margin of quoted text.
struct LogFormat;

impl<S, N> FormatEvent<S, N> for LogFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut said = EventText::default();
        event.record(&mut said);
        let metadata = event.metadata();
        let role = match *metadata.level() {
            Level::ERROR => Role::Error,
            Level::WARN => Role::Note,
            _ => Role::Plain,
        };
        let line = Line::new()
            .with_role(Role::Faint, format!("{:.3}", Timestamp::now()))
            .with_role(role, format!(" {:>5}", metadata.level().as_str()))
            .with_role(Role::Faint, format!(" {}", metadata.target()))
            .with_quoted(Role::Faint, said.fields)
            .with_role(Role::Faint, ": ")
            .with_quoted(Role::Plain, said.message)
            .hanging(2);
        writeln!(writer, "{}", style::on_stderr().render(&Block::from(line)))
    }
}

#[derive(Default)]
struct EventText {
    message: String,
    /// The fields, each after a space.
    fields: String,
}

impl Visit for EventText {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string never fails.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
