//! Futures that are left in the middle, and futures that need no time.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Polls a future once, and gives its output if it has one by then.
pub async fn poll_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        Poll::Ready(match std::pin::Pin::new(&mut future).poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// The output of a future that has it when first polled, for code that is not async.
///
/// # Panics
/// Where it has none yet.
pub fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it needs time"),
    }
}
