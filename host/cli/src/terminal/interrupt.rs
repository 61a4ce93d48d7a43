//! Ctrl-C.

use std::process;

use airlock_host::cancel::CancellationToken;
use tokio::signal::ctrl_c;

use crate::exit::Exit;

/// Watches for Ctrl-C: the first cancels, so that what runs can clean up; the second ends the
/// process. Clones are the same watch.
#[derive(Clone)]
pub struct Interrupt(CancellationToken);

impl Interrupt {
    pub fn watch() -> Self {
        let token = CancellationToken::new();
        let first = token.clone();
        tokio::spawn(async move {
            while ctrl_c().await.is_ok() {
                if first.is_cancelled() {
                    process::exit(Exit::Interrupted.code().into());
                }
                first.cancel();
            }
        });
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
