//! The clients of all connections. A client without a token makes room for others, and no principal
//! takes all the room.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use airlock_host::cancel::CancellationToken;

/// The client of a connection.
#[derive(Debug)]
pub struct Visitor {
    /// The name of the principal whose token arrived first on this connection.
    principal: OnceLock<String>,
    leave: CancellationToken,
    visitors: Arc<Visitors>,
}

impl Visitor {
    /// Records the principal whose token a request had.
    ///
    /// # Errors
    /// The most connections that a principal may have, if this one has more.
    pub fn know(&self, principal: &str) -> Result<(), usize> {
        if self.principal.get().is_some() {
            return Ok(());
        }
        // Count and record under one lock.
        let visitors = self.visitors.lock();
        let known = visitors
            .iter()
            .filter_map(|visitor| visitor.principal.get());
        let share = self.visitors.share;
        if known.filter(|name| *name == principal).count() >= share {
            return Err(share);
        }
        let _ = self.principal.set(principal.to_owned());
        Ok(())
    }

    /// Waits until its place is needed for another client.
    pub async fn asked_to_leave(&self) {
        self.leave.cancelled().await;
    }
}

/// The clients of the open connections, oldest first.
#[derive(Debug)]
pub struct Visitors {
    all: Mutex<VecDeque<Arc<Visitor>>>,
    /// The most connections of one principal.
    share: usize,
}

impl Visitors {
    /// Allows `most` connections. If there are several principals, each may use at most three
    /// quarters of them.
    pub fn new(most: usize, principals: usize) -> Self {
        let others = if principals > 1 { most / 4 } else { 0 };
        Self {
            all: Mutex::default(),
            share: most - others,
        }
    }

    pub fn enter(self: &Arc<Self>) -> Arc<Visitor> {
        let visitor = Arc::new(Visitor {
            principal: OnceLock::new(),
            leave: CancellationToken::new(),
            visitors: Arc::clone(self),
        });
        self.lock().push_back(Arc::clone(&visitor));
        visitor
    }

    pub fn remove(&self, visitor: &Arc<Visitor>) {
        self.lock().retain(|other| !Arc::ptr_eq(other, visitor));
    }

    /// Asks the oldest client without a token to leave, if there is one.
    pub fn make_room(&self) {
        let visitors = self.lock();
        let mut strangers = visitors
            .iter()
            .filter(|visitor| visitor.principal.get().is_none() && !visitor.leave.is_cancelled());
        if let Some(oldest) = strangers.next() {
            oldest.leave.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Visitor>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
