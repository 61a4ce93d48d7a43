//! Blocking disk work on a separate thread.

use airlock_model::store::{BackendErrorKind, StoreError};
use tokio::task::spawn_blocking;

/// Runs disk work on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, so no caller waits for the answer.
            Err(_) => {
                let problem = "is no longer used: its runtime has ended";
                Err(StoreError::backend(
                    BackendErrorKind::Other,
                    "in a file",
                    problem,
                ))
            }
        },
    }
}
