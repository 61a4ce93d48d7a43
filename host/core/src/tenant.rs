//! Whom a session works for, as far as the process's resources are concerned.

use std::sync::Arc;

use crate::budget::{Budget, Portion, Share};

/// A user of an engine. What guests share, which is memory and descriptors of the process, is
/// shared out between tenants, however many sessions each of them has.
///
/// A tenant may hold as much of either as is still free: one alone gets half, two get a third each,
/// and a tenant that has nothing yet always finds some. Clones are the same tenant.
///
/// Default: each [`Session`](crate::Session) is a tenant of its own.
#[derive(Debug, Clone, Default)]
pub struct Tenant(Arc<Shares>);

#[derive(Debug, Default)]
struct Shares {
    descriptors: Arc<Share>,
    memory: Arc<Share>,
}

impl Tenant {
    /// One that holds nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn descriptors(&self, of: &Arc<Budget>) -> Portion {
        Portion::new(of, &self.0.descriptors)
    }

    /// In bytes.
    pub(crate) fn memory(&self, of: &Arc<Budget>) -> Portion {
        Portion::new(of, &self.0.memory)
    }
}
