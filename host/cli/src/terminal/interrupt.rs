//! Ctrl-C.

use std::io;
use std::process;

use airlock_host::cancel::CancellationToken;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

use crate::exit::Exit;

/// Watches for Ctrl-C: the first cancels, so that what runs can clean up; the second ends the
/// process. Clones are the same watch.
#[derive(Clone)]
pub struct Interrupt(CancellationToken);

impl Interrupt {
    /// From here on: one that comes before the task below has run for the first time counts too.
    pub fn watch() -> Self {
        let token = CancellationToken::new();
        let first = token.clone();
        // Where the system has none, Ctrl-C ends the process as it would anyway.
        if let Ok(mut presses) = presses() {
            tokio::spawn(async move {
                while presses.recv().await.is_some() {
                    if first.is_cancelled() {
                        process::exit(Exit::Interrupted.code().into());
                    }
                    first.cancel();
                }
            });
        }
        Self(token)
    }

    /// What the first one cancels.
    pub fn token(&self) -> &CancellationToken {
        &self.0
    }

    /// Whether there was one.
    pub fn happened(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Takes Ctrl-C from the system, at once.
#[cfg(unix)]
fn presses() -> io::Result<Signal> {
    signal(SignalKind::interrupt())
}

/// Takes Ctrl-C from the system, at once.
#[cfg(windows)]
fn presses() -> io::Result<CtrlC> {
    ctrl_c()
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    /// On a runtime of this thread alone, the task that watches has not begun when Ctrl-C comes.
    #[tokio::test]
    async fn an_interrupt_counts_from_the_moment_that_it_is_watched_for() {
        let interrupt = Interrupt::watch();
        let me = process::id().to_string();
        let sent = Command::new("kill").args(["-INT", &me]).status().unwrap();
        assert!(sent.success());
        interrupt.token().cancelled().await;
        assert!(interrupt.happened());
    }
}
