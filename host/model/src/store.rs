//! Where pending actions are kept, and the promise that one of them is resolved at most once.

mod basis;
mod budget;
mod claim;
mod durable;
mod error;
mod memory;
mod pending;
mod plugin_bytes;
mod push;
pub mod rows;
mod watch;

pub use crate::interruption::{APPLY_INTERRUPTED, DISCARD_INTERRUPTED};
pub use basis::{ActionBasis, BASES_BYTES};
pub use budget::{Budget, SPENDING_KEPT, Spending, Spent};
pub use claim::{Claim, Claimed, Completion, Lease, Standing};
pub use durable::{
    ActionRecord, DEFAULT_BYTE_LIMIT, DENIALS_KEPT, DETAILS_KEPT, DeniedAction, DurableStore,
    LeaseRecord, Pruned, ResolvedQuery, ResolvedRecord, Scope, StoreStats, UnreadableAction,
};
pub use error::{BackendError, BackendErrorKind, StoreError};
pub use memory::MemoryStore;
pub use pending::PendingStore;
pub use plugin_bytes::PluginBytes;
pub use push::{NewAction, Push, Replacement, Room, SessionRoom};
pub use watch::{Watch, Watchers};
