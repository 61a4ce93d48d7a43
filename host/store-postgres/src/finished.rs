//! Runs work to completion even if its caller goes away.

use std::pin::Pin;
use std::task::{Context, Poll};

use airlock_model::store::StoreError;
use tokio::runtime::Handle;

type Work<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// Runs `work` in place. If this future is dropped earlier, the work continues in the background,
/// and is undone if it succeeds.
pub fn or_undone<T: Send + 'static, U: FnOnce() + Send + Unpin + 'static>(
    runtime: &Handle,
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    undo: U,
) -> impl Future<Output = Result<T, StoreError>> + Send {
    Finished {
        runtime: runtime.clone(),
        rest: Some((Box::pin(work) as Work<T>, undo)),
    }
}

struct Finished<T: Send + 'static, U: FnOnce() + Send + 'static> {
    runtime: Handle,
    /// `None` once the work has ended.
    rest: Option<(Work<T>, U)>,
}

impl<T: Send + 'static, U: FnOnce() + Send + Unpin + 'static> Future for Finished<T, U> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some((work, _)) = &mut self.rest else {
            // As for any future that has ended.
            return Poll::Pending;
        };
        let polled = work.as_mut().poll(context);
        if polled.is_ready() {
            self.rest = None;
        }
        polled
    }
}

impl<T: Send + 'static, U: FnOnce() + Send + 'static> Drop for Finished<T, U> {
    fn drop(&mut self) {
        if let Some((work, undo)) = self.rest.take() {
            self.runtime.spawn(async move {
                if work.await.is_ok() {
                    undo();
                }
            });
        }
    }
}
