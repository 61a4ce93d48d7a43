//! The memory and tables that a guest uses, and its refused requests.

use std::sync::Arc;

use airlock_model::limits::Limits;
use wasmtime::{ResourceLimiter, Result};

use crate::budget::Held;
use crate::runtime::LiveInstances;

pub(crate) struct Usage {
    /// Share of the engine's memory that the instance's tenant holds for it.
    held: Held,
    live: Arc<LiveInstances>,
    max_memory: usize,
    max_table_elements: usize,
    max_core_instances: usize,
    /// Size of all memories of the instance, in bytes.
    pub memory: usize,
    /// The last refused request. If the guest then traps, this is the reason.
    pub refused: Option<Refused>,
}

/// A refused request of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Memory above the limit of the instance.
    Memory,
    /// Memory above the tenant's portion of the engine's memory.
    TenantMemory,
    TableElements,
}

impl Usage {
    pub fn new(limits: &Limits, held: Held, live: &Arc<LiveInstances>) -> Self {
        Self {
            held,
            live: Arc::clone(live),
            max_memory: limits.memory,
            max_table_elements: limits.table_elements,
            max_core_instances: limits.core_instances,
            memory: 0,
            refused: None,
        }
    }
}

impl ResourceLimiter for Usage {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.max_memory {
            self.refused = Some(Refused::Memory);
            return Ok(false);
        }
        let more = total.saturating_sub(self.held.count());
        if more > 0 && !self.live.grow(&mut self.held, more) {
            self.refused = Some(Refused::TenantMemory);
            return Ok(false);
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > self.max_table_elements {
            self.refused = Some(Refused::TableElements);
            return Ok(false);
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.max_core_instances
    }

    fn tables(&self) -> usize {
        self.max_core_instances
    }

    fn memories(&self) -> usize {
        self.max_core_instances
    }
}
