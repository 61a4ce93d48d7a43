//! Closes connections that have not authenticated when there is no room for another one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_host::cancel::CancellationToken;

/// The client of a connection.
#[derive(Debug, Default)]
pub struct Visitor {
    /// Whether a request on it had a token.
    is_known: AtomicBool,
    leave: CancellationToken,
}

impl Visitor {
    /// Notes that a request had a token.
    pub fn know(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Waits until its place is needed for another client.
    pub async fn asked_to_leave(&self) {
        self.leave.cancelled().await;
    }
}

/// All connections, the oldest first.
#[derive(Debug, Default)]
pub struct Visitors(Mutex<VecDeque<Arc<Visitor>>>);

impl Visitors {
    pub fn enter(&self) -> Arc<Visitor> {
        let visitor = Arc::new(Visitor::default());
        self.lock().push_back(Arc::clone(&visitor));
        visitor
    }

    pub fn left(&self, visitor: &Arc<Visitor>) {
        self.lock().retain(|other| !Arc::ptr_eq(other, visitor));
    }

    /// Asks the oldest client without a token to leave, if there is one.
    pub fn make_room(&self) {
        let visitors = self.lock();
        let mut strangers = visitors.iter().filter(|visitor| {
            !visitor.is_known.load(Ordering::Relaxed) && !visitor.leave.is_cancelled()
        });
        if let Some(oldest) = strangers.next() {
            oldest.leave.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Visitor>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
