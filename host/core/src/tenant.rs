//! The owner of a session, for sharing out the process's resources.

use std::sync::Arc;

use crate::budget::{Budget, Portion, Share};

/// A user of an engine. The memory and file descriptors that guests use are divided between
/// tenants, no matter how many sessions each tenant has.
///
/// A tenant may hold as much of a resource as is still free. A single tenant gets half, two get a
/// third each, and a tenant that holds nothing yet always finds some. Clones are the same tenant.
///
/// Default: each [`Session`](crate::Session) is a separate tenant.
#[derive(Debug, Clone, Default)]
pub struct Tenant(Arc<Shares>);

#[derive(Debug, Default)]
struct Shares {
    descriptors: Arc<Share>,
    memory: Arc<Share>,
}

impl Tenant {
    /// Creates a tenant that holds nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn descriptors(&self, of: &Arc<Budget>) -> Portion {
        Portion::new(of, &self.0.descriptors)
    }

    /// Returns the tenant's portion of the memory, in bytes.
    pub(crate) fn memory(&self, of: &Arc<Budget>) -> Portion {
        Portion::new(of, &self.0.memory)
    }
}
