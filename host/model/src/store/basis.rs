//! What an action was made from, as stores keep it.

use std::sync::Arc;

use crate::effects::EffectsRecord;
use crate::reads::ReadFiles;

/// How many packed bytes a store reads for one answer of [bases](super::PendingStore::bases), but
/// for the first, which may have any number.
pub const BASES_BYTES: u64 = 4 << 20;

/// What an action was made from, and what it would do: whether it is stale depends on both.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ActionBasis {
    /// The files that the call read which pushed the action: the same for all that it pushed.
    pub read: Arc<ReadFiles>,
    /// What the host saw the action do, without what files hold.
    pub effects: Option<EffectsRecord>,
}

impl ActionBasis {
    /// Of what its call has read, and what is kept of its effects.
    pub fn new(read: Arc<ReadFiles>, mut effects: Option<EffectsRecord>) -> Self {
        if let Some(record) = &mut effects {
            record.effects.drop_contents();
        }
        Self { read, effects }
    }
}
