//! A claim, held while a decision is carried out.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use airlock_model::error::Error;
use airlock_model::pending::Decision;
use airlock_model::store::{Claims, Completion, Lease, StoreError};
use futures_util::future::select_all;
use tokio::time::{Instant, sleep_until};

/// A claim that always returns to the store, even if the future that holds it is dropped.
pub(super) struct HeldLease<'a> {
    claims: &'a Arc<dyn Claims>,
    lease: Lease,
    is_handed_back: bool,
    /// The duration of the lease without renewal, and its start. `None` if leases don't expire. The
    /// start is before the request to the store, so this host never trusts the lease for longer
    /// than the store does.
    lasts: Option<(Duration, Instant)>,
}

/// The time at which a claim was requested, if claims expire.
pub(super) struct LeaseStart(Option<(Duration, Instant)>);

impl LeaseStart {
    pub fn now(claims: &Arc<dyn Claims>) -> Self {
        Self(
            claims
                .lease_time()
                .map(|lease_time| (lease_time, Instant::now())),
        )
    }
}

impl<'a> HeldLease<'a> {
    pub fn new(claims: &'a Arc<dyn Claims>, lease: Lease, start: LeaseStart) -> Self {
        Self {
            claims,
            lease,
            is_handed_back: false,
            lasts: start.0,
        }
    }

    /// Renews the lease until it is lost, and returns the error. Leases that don't expire are never
    /// lost.
    async fn losing(&self) -> StoreError {
        match self.lasts {
            Some((lease_time, began)) => self.keep_renewing(began, lease_time).await,
            None => pending().await,
        }
    }

    async fn keep_renewing(&self, began: Instant, lease_time: Duration) -> StoreError {
        let lease = &self.lease;
        let mut good_until = began + lease_time;
        loop {
            sleep_until(Instant::now() + lease_time / 3).await;
            let asked = Instant::now();
            // A store that doesn't answer must not keep us from noticing that the time is up.
            let renewed = tokio::time::timeout_at(good_until, self.claims.renew(lease)).await;
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

    /// Asks the store whether the claim is still valid. The future can run on another thread, and
    /// outlive this value.
    pub fn confirm(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let claims = Arc::clone(self.claims);
        let lease = self.copy();
        let lasts = self.lasts.map(|(lease_time, _)| lease_time);
        async move {
            let Some(lasts) = lasts else {
                return Ok(());
            };
            // If the store doesn't answer in time, the lease has expired, and another process may
            // have the claim.
            let renewed = tokio::time::timeout(lasts, claims.renew(&lease)).await;
            renewed.unwrap_or(Err(StoreError::LeaseLost(lease.action)))
        }
    }

    /// Returns the token that distinguishes this claim from other claims of the action.
    pub fn token(&self) -> u64 {
        self.lease.token
    }

    fn copy(&self) -> Lease {
        Lease {
            session: self.lease.session.clone(),
            action: self.lease.action.clone(),
            token: self.lease.token,
        }
    }

    fn hand_back(mut self) -> (&'a Arc<dyn Claims>, Lease) {
        self.is_handed_back = true;
        (self.claims, self.copy())
    }

    /// Records the outcome, which ends the claim and the action.
    ///
    /// # Errors
    /// [`Error::NotRecorded`].
    pub async fn complete(
        self,
        decision: Decision,
        completion: Completion<'_>,
    ) -> Result<(), Error> {
        let (claims, lease) = self.hand_back();
        let completed = claims.complete(lease, completion).await;
        completed.map_err(|source| Error::NotRecorded { decision, source })
    }

    /// Releases the claim. If the store can't take it back, it expires.
    pub async fn release(self) {
        let (claims, lease) = self.hand_back();
        if let Err(error) = claims.release(lease).await {
            tracing::warn!("could not release a claim: {error}");
        }
    }

    /// Records that an interrupted apply changed nothing.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn recovered(self, what: &str) -> Result<(), Error> {
        let (claims, lease) = self.hand_back();
        Ok(claims.recovered(lease, what).await?)
    }

    /// Records a failed apply and returns the action to the stack. If the store can't record it,
    /// the lease expires and the action is listed as interrupted. The caller already has an error,
    /// so this one is only logged.
    pub async fn requeue(self, failure: &str) {
        let (claims, lease) = self.hand_back();
        if let Err(error) = claims.requeue(lease, failure).await {
            tracing::warn!("could not record that an apply failed: {error}");
        }
    }
}

/// Runs `work` and renews these leases until it finishes. `work` is borrowed, because moving it
/// would copy kilobytes.
///
/// # Errors
/// [`StoreError::LeaseLost`] if a lease could not be renewed in time. The work was then dropped in
/// the middle, because another process may do it now.
pub(super) async fn while_renewing<T>(
    leases: &[&HeldLease<'_>],
    mut work: Pin<&mut impl Future<Output = T>>,
) -> Result<T, StoreError> {
    // Most decisions finish at the first poll and need no timers.
    let first = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
    if let Poll::Ready(done) = first {
        return Ok(done);
    }
    let losing = leases.iter().map(|lease| Box::pin(lease.losing()));
    tokio::select! {
        biased;
        done = work => Ok(done),
        (lost, ..) = select_all(losing) => Err(lost),
    }
}

impl Drop for HeldLease<'_> {
    fn drop(&mut self) {
        if !self.is_handed_back {
            self.claims.abandon(self.copy());
        }
    }
}
