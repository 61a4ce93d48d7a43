//! The runtime of guests: wasmtime's engine with its pool, the thread that interrupts computations,
//! and the resources that all guests share.

mod live;
mod room;
mod ticker;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use airlock_model::error::{Error, HostError};
use airlock_model::limits::Limits;
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::budget::Budget;

pub(crate) use live::{IdleMemory, LiveInstances, Reclaim, Reclaimed, Room};
pub(crate) use room::{guest_memory, instances as instances_by_memory};

/// The number of free descriptors below which a new instance might get none for its directories and
/// a file.
const FEW_DESCRIPTORS: usize = 8;

pub(crate) struct Runtime {
    wasmtime: wasmtime::Engine,
    live: Arc<LiveInstances>,
    descriptors: Arc<Budget>,
}

impl Runtime {
    /// Reserves the pool and starts the epoch thread. `stack_bytes` is a guest's part of the stack,
    /// `descriptors` is the number that all guests may have open, and `memory` is the number of
    /// bytes they may have.
    pub fn new(
        limits: &Limits,
        instances: u32,
        stack_bytes: usize,
        descriptors: usize,
        memory: usize,
    ) -> Result<Self, Error> {
        let mut config = code_config();
        config
            .max_wasm_stack(stack_bytes)
            // Host functions run on the same stack, after the guest's part.
            .async_stack_size(stack_bytes + (1 << 20))
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits, instances)));
        let wasmtime =
            wasmtime::Engine::new(&config).map_err(|error| HostError::Engine(error.into()))?;
        ticker::start(&wasmtime).map_err(HostError::EpochThread)?;
        Ok(Self {
            wasmtime,
            live: Arc::new(LiveInstances::new(instances, memory)),
            descriptors: Arc::new(Budget::new(descriptors)),
        })
    }

    pub fn wasmtime(&self) -> &wasmtime::Engine {
        &self.wasmtime
    }

    pub fn live(&self) -> &Arc<LiveInstances> {
        &self.live
    }

    pub fn descriptors(&self) -> &Arc<Budget> {
        &self.descriptors
    }

    /// Drops idle instances while descriptors are nearly exhausted, because instances hold their
    /// directories open.
    pub fn make_room_for_files(&self) {
        while self.descriptors.free() < FEW_DESCRIPTORS {
            let before = self.descriptors.free();
            self.live.reclaim_one();
            if self.descriptors.free() <= before {
                break;
            }
        }
    }
}

fn pool(limits: &Limits, instances: u32) -> PoolingAllocationConfig {
    let per_instance = u32::try_from(limits.core_instances).unwrap_or(u32::MAX);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_stacks(instances)
        // Most components have one memory and a handful of core instances and tables. The totals
        // fit the average, and the maxima fit components linked from many modules.
        .total_memories(instances.saturating_mul(2))
        .total_core_instances(instances.saturating_mul(16).max(per_instance))
        .total_tables(instances.saturating_mul(8).max(per_instance))
        .max_core_instances_per_component(per_instance)
        .max_memories_per_component(per_instance.min(instances.saturating_mul(2)))
        .max_tables_per_component(per_instance)
        .max_component_instance_size(4 << 20)
        .max_core_instance_size(4 << 20)
        .table_elements(limits.table_elements)
        .max_memory_size(limits.memory.max(4 << 30))
        // Resetting a page in place is cheaper than returning it and faulting it in again.
        .linear_memory_keep_resident(256 << 10)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Returns the settings that compiled code depends on. The remaining settings of an engine only
/// affect running it.
pub(crate) fn code_config() -> Config {
    let mut config = Config::new();
    config
        // No guest of the world uses async component functions, and enabling them makes every call
        // more expensive.
        .concurrency_support(false)
        .epoch_interruption(true)
        // A rehearsal and its apply must produce the same bytes, even on another processor.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .memory_init_cow(true)
        // Errors describe what a guest did, not the position in its code, so half of the compiled
        // code's metadata can go.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(false);
    config
}

/// Returns a value that differs between engines that can't run each other's code: by version,
/// settings or processor.
pub(crate) fn code_compatibility(engine: &wasmtime::Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}
