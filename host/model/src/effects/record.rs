//! Records of an action's effects.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::summary::EffectsSummary;
use super::{Answer, Change, Effects, is_false};
use crate::packed;
use crate::reads::Fingerprints;

/// Secret bytes from which an action's randomness is derived, both in its rehearsal and when it is
/// applied.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Creates a seed from these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed")
    }
}

/// The effects of an action, with the data that is needed to reproduce them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectsRecord {
    /// The effects, as reviewers see them.
    pub effects: Effects,
    /// The seed of the action's randomness.
    pub seed: Seed,
    /// The time of the action's clocks, if it is not the time of the push. In that case these are
    /// the effects of an apply that was refused because it did something other than what was
    /// reviewed.
    pub time: Option<SystemTime>,
    /// Fingerprints of everything that the rehearsal looked at. `None` if that was too much to
    /// keep; then any of it may have changed.
    pub read: Option<Fingerprints>,
    /// Files that the call had read and that other actions of the call have changed since, by path:
    /// the SHA-256 of the new contents, or `None` for a removed file. Such a change doesn't make
    /// this action stale, because it was reviewed with the same preview.
    pub left_by_others: BTreeMap<String, Option<String>>,
    /// True if these are not the effects of the push: an apply had other effects and was refused.
    /// They are applied only by a decision that [names them](crate::pending::Resolution::review),
    /// or by a person who was shown them.
    pub replaced: bool,
}

impl EffectsRecord {
    /// Creates a record of effects, with nothing known about what they depend on.
    pub fn new(effects: Effects, seed: Seed) -> Self {
        Self {
            effects,
            seed,
            time: None,
            read: None,
            left_by_others: BTreeMap::new(),
            replaced: false,
        }
    }

    /// Sets the fingerprints of what the rehearsal looked at.
    #[must_use]
    pub fn with_read(mut self, read: Option<Fingerprints>) -> Self {
        self.read = read;
        self
    }
}

/// An [`EffectsRecord`] in its stored form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PackedEffects {
    /// The data for the action's row, as JSON: everything but the changes and what they depend on.
    pub summary: String,
    /// The changes and what they depend on, compressed (zlib, RFC 1950) and cut into pieces of at
    /// most 256 KiB. Empty if there is neither.
    pub pieces: Vec<Arc<[u8]>>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    #[serde(flatten)]
    summary: EffectsSummary,
    #[serde(default, skip_serializing_if = "is_false")]
    replaced: bool,
    seed: [u8; 32],
    /// The time in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<u64>,
}

/// The contents of the pieces.
#[derive(Default, Serialize, Deserialize)]
struct Body<C, L, O, A> {
    changes: C,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<L>,
    left_by_others: O,
    #[serde(default)]
    answer: A,
}

type ReadBody =
    Body<Vec<Change>, Fingerprints, BTreeMap<String, Option<String>>, Option<Box<Answer>>>;

impl EffectsRecord {
    /// Packs the record for a store. Takes a few milliseconds per megabyte.
    pub fn pack(&self) -> PackedEffects {
        let effects = &self.effects;
        let row = Row {
            summary: effects.summary(),
            replaced: self.replaced,
            seed: self.seed.0,
            time: self.time.map(millis),
        };
        let body = Body {
            changes: &effects.changes,
            read: self.read.as_ref(),
            left_by_others: &self.left_by_others,
            answer: effects.answer.as_ref(),
        };
        let is_empty = effects.changes.is_empty()
            && effects.answer.is_none()
            && self.read.is_none()
            && self.left_by_others.is_empty();
        // Numbers, texts, and lists and maps of them can always be written as JSON.
        let plain = serde_json::to_vec(&body).unwrap_or_default();
        PackedEffects {
            summary: serde_json::to_string(&row).unwrap_or_default(),
            pieces: if is_empty {
                Vec::new()
            } else {
                packed::pieces(&plain)
            },
        }
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl PackedEffects {
    /// Creates packed effects from what a store has read.
    pub fn new(summary: String, pieces: Vec<Arc<[u8]>>) -> Self {
        Self { summary, pieces }
    }

    /// Returns the size that counts towards byte limits.
    pub fn bytes(&self) -> u64 {
        let pieces = self.pieces.iter().map(|piece| piece.len());
        (self.summary.len() + pieces.sum::<usize>()) as u64
    }

    /// Unpacks the record.
    ///
    /// # Errors
    /// Fails if this is not a valid record, for example because another program changed it.
    pub fn unpack(&self) -> io::Result<EffectsRecord> {
        let row: Row = serde_json::from_str(&self.summary)?;
        let body: ReadBody = if self.pieces.is_empty() {
            Body::default()
        } else {
            serde_json::from_slice(&packed::joined(&self.pieces)?)?
        };
        let summary = row.summary;
        Ok(EffectsRecord {
            effects: Effects {
                verified: summary.verified,
                problem: summary.problem,
                changes: body.changes,
                uses_time: summary.uses_time,
                uses_randomness: summary.uses_randomness,
                moved: summary.moved,
                beyond_undo: summary.beyond_undo,
                answer: body.answer,
            },
            seed: Seed(row.seed),
            time: row
                .time
                .map(|since| UNIX_EPOCH + Duration::from_millis(since)),
            read: body.read,
            left_by_others: body.left_by_others,
            // Earlier versions didn't write it.
            replaced: row.replaced || row.time.is_some(),
        })
    }
}

impl EffectsSummary {
    /// Reads the summary from an action's row, for stores. Returns `None` if it is not valid.
    pub fn from_row(summary: &str) -> Option<Self> {
        serde_json::from_str(summary).ok()
    }
}
