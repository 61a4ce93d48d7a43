//! A claim, held while a decision is carried out.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use airlock_model::actor::DecidedBy;
use airlock_model::content::ResolutionOutcome;
use airlock_model::error::Error;
use airlock_model::pending::Decision;
use airlock_model::store::{Completion, Lease, PendingStore, StoreError};
use tokio::time::{Instant, sleep_until};

/// A claim that goes back to the store whatever happens, also when the future that holds it is
/// dropped.
pub(super) struct HeldLease<'a> {
    store: &'a Arc<dyn PendingStore>,
    /// Always there until it is handed back.
    lease: Option<Lease>,
    /// How long it lasts without being renewed, and since when. Counted from before the store was
    /// asked, so that this host never believes in it for longer than the store does.
    lasts: Option<(Duration, Instant)>,
}

/// When a claim is asked for, where claims run out.
pub(super) struct Asked(Option<(Duration, Instant)>);

impl Asked {
    pub fn now(store: &Arc<dyn PendingStore>) -> Self {
        Self(
            store
                .lease_time()
                .map(|lease_time| (lease_time, Instant::now())),
        )
    }
}

impl<'a> HeldLease<'a> {
    pub fn new(store: &'a Arc<dyn PendingStore>, lease: Lease, asked: Asked) -> Self {
        Self {
            store,
            lease: Some(lease),
            lasts: asked.0,
        }
    }

    /// Does `work`, and renews the lease as long as that takes. The work is lent, since moving it
    /// would copy its kilobytes.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where the lease could not be renewed in time. The work was dropped
    /// in the middle then, since somebody else may do it now.
    pub async fn during<T>(
        &self,
        mut work: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, StoreError> {
        let Some((lease_time, began)) = self.lasts else {
            return Ok(work.await);
        };
        // Most decisions are carried out at the first poll, and need no timers.
        let first = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
        if let Poll::Ready(done) = first {
            return Ok(done);
        }
        tokio::select! {
            biased;
            done = work => Ok(done),
            lost = self.keep_renewing(began, lease_time) => Err(lost),
        }
    }

    /// Ends when the lease is lost.
    async fn keep_renewing(&self, began: Instant, lease_time: Duration) -> StoreError {
        let Some(lease) = &self.lease else {
            return std::future::pending().await;
        };
        let mut good_until = began + lease_time;
        loop {
            sleep_until(Instant::now() + lease_time / 3).await;
            let asked = Instant::now();
            // A store that doesn't answer must not keep us from noticing that the time is up.
            let renewed = tokio::time::timeout_at(good_until, self.store.renew(lease)).await;
            match renewed {
                Ok(Ok(())) => good_until = asked + lease_time,
                Ok(Err(lost @ StoreError::LeaseLost(_))) => return lost,
                Ok(Err(error)) => tracing::warn!("could not renew a claim: {error}"),
                Err(_) => {}
            }
            if Instant::now() >= good_until {
                return StoreError::LeaseLost(lease.action.clone());
            }
        }
    }

    /// Asks the store whether the claim is still ours. To be asked by another thread, and when this
    /// is gone.
    pub fn confirm(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let store = Arc::clone(self.store);
        let lease = self.lease.as_ref().map(|lease| Lease {
            session: lease.session.clone(),
            action: lease.action.clone(),
            token: lease.token,
        });
        let lasts = self.lasts.map(|(lease_time, _)| lease_time);
        async move {
            let (Some(lease), Some(lasts)) = (lease, lasts) else {
                return Ok(());
            };
            // A store that doesn't answer in that time has given the claim to somebody else.
            let renewed = tokio::time::timeout(lasts, store.renew(&lease)).await;
            renewed.unwrap_or(Err(StoreError::LeaseLost(lease.action)))
        }
    }

    /// Which claim it is, apart from all others of the action.
    pub fn token(&self) -> u64 {
        self.lease.as_ref().map_or(0, |lease| lease.token)
    }

    pub async fn complete(
        mut self,
        decision: Decision,
        outcome: &Result<ResolutionOutcome, Error>,
    ) -> Result<(), Error> {
        let Some(lease) = self.lease.take() else {
            return Ok(());
        };
        let failure;
        let completion = match outcome {
            Ok(outcome) => Completion::Succeeded(outcome),
            Err(error) => {
                failure = error.to_string();
                Completion::RejectFailed(&failure)
            }
        };
        let completed = self.store.complete(lease, completion).await;
        completed.map_err(|source| Error::NotRecorded { decision, source })
    }

    /// An apply had taken effect before, whatever this claim was for.
    pub async fn complete_as_applied_before(
        mut self,
        outcome: &ResolutionOutcome,
        decided_by: Option<&DecidedBy>,
    ) -> Result<(), Error> {
        let Some(lease) = self.lease.take() else {
            return Ok(());
        };
        let completion = Completion::AppliedBefore {
            outcome,
            decided_by,
        };
        let completed = self.store.complete(lease, completion).await;
        completed.map_err(|source| Error::NotRecorded {
            decision: Decision::Apply,
            source,
        })
    }

    /// Where the store can't take the claim back, it runs out.
    pub async fn release(mut self) {
        if let Some(lease) = self.lease.take()
            && let Err(error) = self.store.release(lease).await
        {
            tracing::warn!("could not release a claim: {error}");
        }
    }

    /// An apply that was cut off before has changed nothing.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn recovered(mut self, what: &str) -> Result<(), Error> {
        match self.lease.take() {
            Some(lease) => Ok(self.store.recovered(lease, what).await?),
            None => Ok(()),
        }
    }

    /// Where the store can't take note of the failure, the lease runs out, and the action is listed
    /// as interrupted: who hears of the failure needs no second one.
    pub async fn requeue(mut self, failure: &str) {
        if let Some(lease) = self.lease.take()
            && let Err(error) = self.store.requeue(lease, failure).await
        {
            tracing::warn!("could not record that an apply failed: {error}");
        }
    }
}

impl Drop for HeldLease<'_> {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            self.store.abandon(lease);
        }
    }
}
