//! SIGHUP: from an operator, or since the terminal has gone.

#[cfg(unix)]
use std::fs::{self, File};

#[cfg(unix)]
use rustix::process::getpgrp;
#[cfg(unix)]
use rustix::termios::tcgetpgrp;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What it means.
#[cfg_attr(not(unix), allow(dead_code, reason = "there is none"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hangup {
    /// Somebody sent it, who wants something.
    Sent,
    /// The terminal has gone that this ran in, which ends what nobody watches for it.
    TerminalGone,
}

/// Those that come from here on.
pub struct Hangups {
    #[cfg(unix)]
    signals: Option<Signal>,
    /// Whether one comes when the terminal goes, and is not to be ignored then.
    #[cfg(unix)]
    ends_with_terminal: bool,
}

#[cfg(unix)]
impl Hangups {
    /// From here on: one that comes before anybody waits for it counts too.
    pub fn watch() -> Self {
        let ends_with_terminal = is_in_foreground() && !is_ignored();
        let signals = signal(SignalKind::hangup())
            .inspect_err(|error| tracing::warn!("can't handle SIGHUP: {error}"));
        Self {
            signals: signals.ok(),
            ends_with_terminal,
        }
    }

    /// Waits for the next one. Several that come at once are one.
    pub async fn next(&mut self) -> Hangup {
        let received = match &mut self.signals {
            Some(signals) => signals.recv().await,
            None => None,
        };
        match received {
            Some(()) if self.ends_with_terminal && terminal().is_none() => Hangup::TerminalGone,
            Some(()) => Hangup::Sent,
            None => std::future::pending().await,
        }
    }
}

/// Elsewhere there are none.
#[cfg(not(unix))]
impl Hangups {
    pub fn watch() -> Self {
        Self {}
    }

    pub async fn next(&mut self) -> Hangup {
        std::future::pending().await
    }
}

/// What this process belongs to, if it is still there.
#[cfg(unix)]
fn terminal() -> Option<File> {
    File::open("/dev/tty").ok()
}

/// Whether the terminal, when it goes, says so to this process.
#[cfg(unix)]
fn is_in_foreground() -> bool {
    terminal().is_some_and(|terminal| tcgetpgrp(&terminal).is_ok_and(|group| group == getpgrp()))
}

/// Whether it was started with SIGHUP ignored, as `nohup` does: to outlive its terminal. Where the
/// system doesn't tell, it was not.
#[cfg(unix)]
fn is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is the first signal.
    mask.is_some_and(|mask| mask & 1 == 1)
}
