//! Ctrl-C.

use std::io;
use std::process;

use airlock_host::cancel::CancellationToken;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

use crate::exit::Exit;

/// A watch for Ctrl-C. The first one cancels, so that running work can clean up. The second one
/// ends the process. Clones share state.
#[derive(Clone)]
pub struct Interrupt(CancellationToken);

impl Interrupt {
    /// Starts to watch. A Ctrl-C that arrives before the task below first runs counts too.
    pub fn watch() -> Self {
        let token = CancellationToken::new();
        let first = token.clone();
        // If the system can't report it, Ctrl-C ends the process as usual.
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

    /// Returns the token that the first Ctrl-C cancels.
    pub fn token(&self) -> &CancellationToken {
        &self.0
    }

    /// Returns whether Ctrl-C was pressed.
    pub fn happened(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Handles Ctrl-C from now on.
#[cfg(unix)]
fn presses() -> io::Result<Signal> {
    signal(SignalKind::interrupt())
}

/// Handles Ctrl-C from now on.
#[cfg(windows)]
fn presses() -> io::Result<CtrlC> {
    ctrl_c()
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    /// Checks a single-threaded runtime, on which the watching task has not started when Ctrl-C
    /// arrives.
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
