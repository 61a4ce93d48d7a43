//! Steps that say something beside the result: to the log, to whoever waits, to the standard
//! streams.

use std::io::Write;

use crate::airlock::tool::host::{self, Level};
use crate::airlock::tool::types::ToolError;
use crate::failed;

pub fn log(lines: u64, message: Option<&str>, level: Option<&str>) -> Result<(), ToolError> {
    let message = message.unwrap_or("puppet");
    let level = parse(level.unwrap_or("info"))?;
    if lines == 1 {
        host::log(level, message);
        return Ok(());
    }
    for line in 1..=lines {
        host::log(level, &format!("{message} {line}"));
    }
    Ok(())
}

/// Writes `<name> 1`, `<name> 2` and so on, each on its line.
pub fn lines(mut stream: impl Write, name: &str, lines: u64) -> Result<(), ToolError> {
    for line in 1..=lines {
        writeln!(stream, "{name} {line}").map_err(failed)?;
    }
    stream.flush().map_err(failed)
}

pub fn long_line(bytes: usize) -> Result<(), ToolError> {
    std::io::stderr()
        .write_all(&vec![b'x'; bytes])
        .map_err(failed)
}

pub fn progress(message: &str, progress: Option<f64>, total: Option<f64>) {
    host::report_progress(message, progress, total);
}

fn parse(level: &str) -> Result<Level, ToolError> {
    Ok(match level {
        "trace" => Level::Trace,
        "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warn,
        "error" => Level::Error,
        _ => return Err(failed(format!("there is no level {level:?}"))),
    })
}
