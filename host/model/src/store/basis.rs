//! The data that an action was made from, as stores keep it.

use std::sync::Arc;

use crate::effects::EffectsRecord;
use crate::reads::ReadFiles;

/// The maximum number of packed bytes that a store reads for one answer of
/// [bases](super::Records::bases). The first basis may exceed it.
pub const BASES_BYTES: u64 = 4 << 20;

/// The files that an action was made from, and its effects. Both determine whether it is stale.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ActionBasis {
    /// The files that were read by the call that pushed the action. All actions of a call share
    /// them.
    pub read: Arc<ReadFiles>,
    /// The effects that the host saw, without file contents.
    pub effects: Option<EffectsRecord>,
}

impl ActionBasis {
    /// Creates a basis from the files that the call read and the stored effects. Drops file
    /// contents.
    pub fn new(read: Arc<ReadFiles>, mut effects: Option<EffectsRecord>) -> Self {
        if let Some(record) = &mut effects {
            record.effects.drop_contents();
        }
        Self { read, effects }
    }
}
