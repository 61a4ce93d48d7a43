//! Where pending actions are kept, and the promise that one of them is resolved at most once.

mod basis;
mod budget;
mod budgets;
mod claim;
mod claims;
mod denials;
mod durable;
mod error;
mod memory;
mod pending;
mod plugin_bytes;
mod push;
mod records;
pub mod rows;
mod stacks;
mod watch;

pub use crate::interruption::{APPLY_INTERRUPTED, DISCARD_INTERRUPTED};
pub use basis::{ActionBasis, BASES_BYTES};
pub use budget::{Budget, SPENDING_KEPT, Spending, Spent};
pub use budgets::Budgets;
pub use claim::{Claim, Claimed, Completion, Lease, Standing};
pub use claims::Claims;
pub use denials::Denials;
pub use durable::{
    ActionOutline, ActionRecord, DEFAULT_BYTE_LIMIT, DENIALS_KEPT, DETAILS_KEPT, DeniedAction,
    DurableStore, LeaseRecord, Pruned, ResolvedQuery, ResolvedRecord, Scope, StoreStats,
    UnreadableAction,
};
pub use error::{BackendError, BackendErrorKind, StoreError};
pub use memory::MemoryStore;
pub use pending::PendingStore;
pub use plugin_bytes::PluginBytes;
pub use push::{NewAction, Push, Replacement, Room, SessionRoom};
pub use records::Records;
pub use stacks::Stacks;
pub use watch::{Watch, Watchers};
