//! How what a session is asked to do is cancelled from elsewhere.

use tokio_util::sync::CancellationToken;

/// What a session is asked to do, which it does once this is awaited.
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
/// It is no future itself. Where one is wanted, to spawn, box, join or instrument it,
/// [`IntoFuture::into_future`] gives it:
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
pub struct Cancellable<'a, W> {
    work: W,
    cancel: Option<&'a CancellationToken>,
}

/// What is behind a [`Cancellable`]: there is nothing else to be done with it.
pub trait Work<'a> {
    /// What comes of it.
    type Output;
    /// It, while it is done.
    type Future: Future<Output = Self::Output> + Send;

    /// Has it begin, when the future is first polled.
    fn start(self, cancel: Option<&'a CancellationToken>) -> Self::Future;
}

impl<'a, F, R> Work<'a> for F
where
    F: FnOnce(Option<&'a CancellationToken>) -> R,
    R: Future + Send,
{
    type Output = R::Output;
    type Future = R;

    fn start(self, cancel: Option<&'a CancellationToken>) -> R {
        self(cancel)
    }
}

impl<'a, W: Work<'a>> Cancellable<'a, W> {
    pub(super) fn new(work: W) -> Self {
        Self { work, cancel: None }
    }

    /// Has it end with [`Error::Cancelled`](crate::Error::Cancelled) when this token is cancelled.
    /// The tool hears of that, and has [`Limits::cancel_grace`](crate::Limits::cancel_grace) to
    /// clean up.
    pub fn cancelled_by(mut self, token: &'a CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }
}

impl<'a, W: Work<'a>> IntoFuture for Cancellable<'a, W> {
    type Output = W::Output;
    type IntoFuture = W::Future;

    fn into_future(self) -> W::Future {
        self.work.start(self.cancel)
    }
}
