//! SIGHUP, either from an operator or because the terminal is gone.

#[cfg(unix)]
use std::fs::{self, File};

#[cfg(unix)]
use rustix::process::getpgrp;
#[cfg(unix)]
use rustix::termios::tcgetpgrp;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The cause of a SIGHUP.
#[cfg_attr(not(unix), allow(dead_code, reason = "there is none"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hangup {
    /// A process or user sent it to request a reload.
    Sent,
    /// The terminal in which this ran is gone, which ends programs that don't handle it.
    TerminalGone,
}

/// A stream of SIGHUP signals.
pub struct Hangups {
    #[cfg(unix)]
    signals: Option<Signal>,
    /// True if one arrives when the terminal is gone, and must not be ignored then.
    #[cfg(unix)]
    ends_with_terminal: bool,
}

#[cfg(unix)]
impl Hangups {
    /// Starts to watch. A signal that arrives before the first wait counts too.
    pub fn watch() -> Self {
        let ends_with_terminal = is_in_foreground() && !is_ignored();
        let signals = signal(SignalKind::hangup())
            .inspect_err(|error| tracing::warn!("can't handle SIGHUP: {error}"));
        Self {
            signals: signals.ok(),
            ends_with_terminal,
        }
    }

    /// Waits for the next signal. Simultaneous signals count as one.
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

/// Other systems have no SIGHUP.
#[cfg(not(unix))]
impl Hangups {
    pub fn watch() -> Self {
        Self {}
    }

    pub async fn next(&mut self) -> Hangup {
        std::future::pending().await
    }
}

/// Returns the terminal of this process, if it still exists.
#[cfg(unix)]
fn terminal() -> Option<File> {
    File::open("/dev/tty").ok()
}

/// Returns whether this process gets a signal when its terminal is gone.
#[cfg(unix)]
fn is_in_foreground() -> bool {
    terminal().is_some_and(|terminal| tcgetpgrp(&terminal).is_ok_and(|group| group == getpgrp()))
}

/// Returns whether the process was started with SIGHUP ignored, as by `nohup`, to outlive its
/// terminal. Returns false if the system doesn't say.
#[cfg(unix)]
fn is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is the first signal.
    mask.is_some_and(|mask| mask & 1 == 1)
}
