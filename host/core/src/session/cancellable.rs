//! Cancellation of session operations.

use std::pin::Pin;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::listeners::{EventStream, OperationEvents, listening};

/// A session operation, which starts when it is awaited.
///
/// ```no_run
/// use airlock_host::cancel::CancellationToken;
/// # async fn example(session: airlock_host::Session) -> Result<(), airlock_host::Error> {
/// # let params = serde_json::json!({});
/// session.call("plain", &params).await?;
///
/// let token = CancellationToken::new();
/// session.call("cancellable", &params).cancelled_by(&token).await?;
/// # Ok(())
/// # }
/// ```
///
/// This type is not itself a future. To spawn, box, join or instrument it, get the future from
/// [`IntoFuture::into_future`]:
///
/// ```no_run
/// # async fn example(session: airlock_host::Session) -> Result<(), airlock_host::Error> {
/// # let params = serde_json::json!({});
/// let one = session.call("one", &params).into_future();
/// let other = session.call("other", &params).into_future();
/// tokio::try_join!(one, other)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing happens until it is awaited"]
pub struct Cancellable<'a, T> {
    work: Work<'a, T>,
    cancel: Option<&'a CancellationToken>,
    events: Option<OperationEvents>,
}

/// Boxed so that it is compiled in this crate. Otherwise each crate that awaits it would compile it
/// and everything it calls again.
type Work<'a, T> = Box<dyn FnOnce(Option<&'a CancellationToken>) -> BoxFuture<'a, T> + Send + 'a>;

impl<'a, T> Cancellable<'a, T> {
    /// Wraps work. Call it only from non-generic functions.
    pub(super) fn new<F>(work: impl FnOnce(Option<&'a CancellationToken>) -> F + Send + 'a) -> Self
    where
        F: Future<Output = T> + Send + 'a,
    {
        Self {
            work: Box::new(move |cancel| Box::pin(work(cancel))),
            cancel: None,
            events: None,
        }
    }

    /// Ends the operation with [`Error::Cancelled`](crate::Error::Cancelled) when this token is
    /// cancelled. The tool is notified and has
    /// [`Limits::cancel_grace`](crate::Limits::cancel_grace) to clean up.
    pub fn cancelled_by(mut self, token: &'a CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Returns a stream of the events of this operation's calls: of the call, or of the apply or
    /// reject that carries out a decision. Rehearsals are calls of their own. The stream ends when
    /// the operation ends, after all its events, or when it is dropped.
    ///
    /// ```no_run
    /// # async fn example(session: airlock_host::Session) -> Result<(), airlock_host::Error> {
    /// # let params = serde_json::json!({});
    /// let mut call = session.call("slow", &params);
    /// let mut events = call.events();
    /// let shown = async {
    ///     while let Some(event) = events.recv().await {
    ///         println!("{:?}", event.event);
    ///     }
    /// };
    /// let (outcome, ()) = tokio::join!(call.into_future(), shown);
    /// # outcome?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&mut self) -> EventStream {
        self.events.get_or_insert_default().stream()
    }
}

impl<'a, T: 'a> IntoFuture for Cancellable<'a, T> {
    type Output = T;
    type IntoFuture = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        listening(self.events, (self.work)(self.cancel))
    }
}
