//! The memory and tables that a guest has taken, and what it was refused.

use airlock_model::limits::{LimitKind, Limits};
use wasmtime::{ResourceLimiter, Result};

pub(crate) struct Usage {
    max_memory: usize,
    max_table_elements: usize,
    max_core_instances: usize,
    /// Over all memories of the instance, in bytes.
    pub memory: usize,
    /// The last request that was refused. A guest that then traps, trapped for this.
    pub refused: Option<LimitKind>,
}

impl Usage {
    pub fn new(limits: &Limits) -> Self {
        Self {
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
            self.refused = Some(LimitKind::Memory);
            return Ok(false);
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > self.max_table_elements {
            self.refused = Some(LimitKind::TableElements);
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
