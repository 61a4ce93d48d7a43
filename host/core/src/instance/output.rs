//! Output of a guest besides its results: log lines, progress, standard output and error. All of it
//! is counted.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use airlock_model::event::{self, Event, EventSource, LogLevel, Refusal};
use airlock_model::pending::PendingAction;
use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use super::captured::Captured;
use super::state::InstanceContext;
use crate::pushing::SessionContext;

/// Bytes of standard error to keep for a crash message.
const LAST_WORDS: usize = 2048;

/// Maximum size of one write to standard output or error. A write can't be interrupted.
const PERMITTED: usize = 64 << 10;

/// A guest's log; clones share it.
#[derive(Clone)]
pub(crate) struct GuestLog(Arc<Mutex<Log>>);

struct Log {
    /// `None` while a plugin is being loaded.
    session: Option<Arc<SessionContext>>,
    plugin: Arc<str>,
    tool: String,
    call: u64,
    max_lines: usize,
    max_line_bytes: usize,
    lines: usize,
    dropped: u64,
    /// Unfinished lines of standard output and standard error.
    partial: [Vec<u8>; 2],
    /// The end of standard error in the current call.
    last_words: String,
}

impl GuestLog {
    pub fn new(context: &InstanceContext) -> Self {
        Self(Arc::new(Mutex::new(Log {
            session: context.session.clone(),
            plugin: Arc::clone(&context.plugin.name),
            tool: String::new(),
            call: 0,
            max_lines: context.limits.log_lines,
            max_line_bytes: context.limits.log_line_bytes,
            lines: 0,
            dropped: 0,
            partial: Default::default(),
            last_words: String::new(),
        })))
    }

    pub fn begin_call(&self, call: u64, tool: &str) {
        let mut log = self.lock();
        log.call = call;
        log.tool.clear();
        log.tool.push_str(tool);
        log.lines = 0;
        log.dropped = 0;
        log.last_words.clear();
    }

    pub fn end_call(&self) {
        let mut log = self.lock();
        log.finish_line(LogLevel::Info);
        log.finish_line(LogLevel::Warn);
        if log.dropped > 0 {
            let lines = log.dropped;
            log.emit(&Event::LogsDropped { lines });
        }
    }

    /// Logs a line.
    pub fn line(&self, level: LogLevel, message: String) {
        let mut log = self.lock();
        let most = log.max_line_bytes;
        log.count_and_emit(|| Event::Log {
            level,
            message: cut(message, most),
        });
    }

    pub fn progress(&self, message: String, progress: Option<f64>, total: Option<f64>) {
        let mut log = self.lock();
        let most = log.max_line_bytes;
        log.count_and_emit(|| Event::Progress {
            message: cut(message, most),
            progress,
            total,
        });
    }

    /// Emits a pushed action. It is not counted as a line, because the number of actions has its
    /// own limit.
    pub fn staged(&self, action: Arc<PendingAction>) {
        self.lock().emit(&Event::Staged { action });
    }

    /// Emits the number of names that listings left out, once at the end of a call.
    pub fn left_out(&self, names: u64, listings: u64) {
        self.lock().emit(&Event::NamesLeftOut { names, listings });
    }

    /// Emits a refusal. It is counted as a line, because a guest can cause any number of refusals.
    pub fn refused(&self, refusal: Refusal) {
        self.lock().count_and_emit(|| Event::Refused(refusal));
    }

    /// Returns the last lines that the guest wrote to its standard error in this call, without
    /// surrounding whitespace.
    pub fn last_words(&self) -> String {
        let log = self.lock();
        let unfinished = String::from_utf8_lossy(&log.partial[stream_index(LogLevel::Warn)]);
        in_one_line(&format!("{}{unfinished}", log.last_words))
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the last lines of a guest's standard error as one.
pub(super) fn in_one_line(words: &str) -> String {
    let start = words.ceil_char_boundary(words.len().saturating_sub(LAST_WORDS));
    let lines = words[start..].lines().map(str::trim).filter(|line| {
        // Rust's advice to set an environment variable, which guests don't have.
        !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE")
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// Standard output is logged at one level, and standard error at another.
fn stream_index(level: LogLevel) -> usize {
    usize::from(level == LogLevel::Warn)
}

impl Log {
    fn emit(&self, event: &Event) {
        let (plugin, tool) = (&self.plugin, &self.tool);
        match &self.session {
            Some(session) => session.emit(plugin, tool, self.call, event),
            None => event::emit(None, EventSource::new(None, plugin, tool), event),
        }
    }

    fn count_and_emit(&mut self, event: impl FnOnce() -> Event) {
        if self.lines < self.max_lines {
            self.lines += 1;
            self.emit(&event());
        } else {
            self.dropped += 1;
        }
    }

    fn write(&mut self, level: LogLevel, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            let partial = &mut self.partial[stream_index(level)];
            // One byte more than allowed, so that the cut is visible.
            let room = (self.max_line_bytes + 1).saturating_sub(partial.len());
            partial.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                self.finish_line(level);
            }
        }
    }

    fn finish_line(&mut self, level: LogLevel) {
        if self.partial[stream_index(level)].is_empty() {
            return;
        }
        // Skip the line, because it would not be shown and a guest may write a million of them.
        if self.lines >= self.max_lines && level != LogLevel::Warn {
            self.partial[stream_index(level)].clear();
            self.dropped += 1;
            return;
        }
        let bytes = std::mem::take(&mut self.partial[stream_index(level)]);
        let message = String::from_utf8_lossy(&bytes).into_owned();
        let message = cut(message, self.max_line_bytes);
        if level == LogLevel::Warn {
            self.last_words.push_str(&message);
            self.last_words.push('\n');
            let excess = self.last_words.len().saturating_sub(LAST_WORDS);
            self.last_words
                .drain(..self.last_words.ceil_char_boundary(excess));
        }
        self.count_and_emit(|| Event::Log { level, message });
    }
}

fn cut(mut message: String, most: usize) -> String {
    if message.len() > most {
        message.truncate(message.floor_char_boundary(most));
        message.push('…');
    }
    message
}

/// The guest's standard output or error.
#[derive(Clone)]
pub(super) enum GuestOutput {
    /// Split into log lines.
    Logged(GuestLog, LogLevel),
    /// Kept, because it is the result.
    Captured(Captured),
}

impl GuestOutput {
    fn write(&self, bytes: &[u8]) {
        match self {
            GuestOutput::Logged(log, level) => log.lock().write(*level, bytes),
            GuestOutput::Captured(captured) => captured.write(bytes),
        }
    }
}

impl IsTerminal for GuestOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestOutput {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for GuestOutput {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for GuestOutput {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > PERMITTED {
            let message = "wrote more to a standard stream than `check-write` permitted";
            return Err(StreamError::trap(message));
        }
        GuestOutput::write(self, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMITTED)
    }
}

impl AsyncWrite for GuestOutput {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let bytes = &bytes[..bytes.len().min(PERMITTED)];
        GuestOutput::write(&self, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
