//! Work on the disk, on a thread that may wait for it.

use airlock_model::store::{BackendErrorKind, StoreError};
use tokio::task::spawn_blocking;

/// Runs what waits for the disk where it holds up nobody.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Nobody waits for the answer: the runtime is about to end.
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
