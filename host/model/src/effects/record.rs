//! What is kept with an action of its effects.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::summary::{Counts, EffectsSummary};
use super::{Change, ChangeKind, Effects, is_false};
use crate::packed;
use crate::reads::Fingerprints;

/// Secret bytes, from which an action's randomness is made: in its rehearsal and when it is
/// applied.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// These bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed")
    }
}

/// What is kept with an action: its effects, and what makes them the same again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectsRecord {
    /// What whoever decides sees.
    pub effects: Effects,
    /// What the action's randomness is made from.
    pub seed: Seed,
    /// Where the action's clocks stood, where that was not at its push: these are the effects of an
    /// apply then, which was refused since it did something else than was reviewed.
    pub time: Option<SystemTime>,
    /// What the rehearsal has looked at. None where that was too much to keep: then it may have
    /// changed.
    pub read: Option<Fingerprints>,
    /// What other actions of the same call have left since where that had read something, by path:
    /// the SHA-256 of a file, or none for what they removed. It makes this action not stale, since
    /// whoever decided knew that preview.
    pub left_by_others: BTreeMap<String, Option<String>>,
    /// Whether these effects are not those of the push: the action came to do something else, and
    /// was refused. Only a decision that [names them](crate::pending::Resolution::review) applies
    /// them, or a person who was shown them.
    pub replaced: bool,
}

impl EffectsRecord {
    /// These effects, and nothing known of what they depend on.
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

    /// With what the rehearsal has looked at.
    #[must_use]
    pub fn with_read(mut self, read: Option<Fingerprints>) -> Self {
        self.read = read;
        self
    }
}

/// An [`EffectsRecord`] as stores keep it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PackedEffects {
    /// All but the changes, as JSON: for the action's row.
    pub summary: String,
    /// The changes and what they depend on, compressed (zlib, RFC 1950) and cut into pieces of at
    /// most 256 KiB; none where there is nothing of either.
    pub pieces: Vec<Arc<[u8]>>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    verified: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// In the order of [`ChangeKind::ALL`].
    counts: [u64; ChangeKind::ALL.len()],
    #[serde(default, skip_serializing_if = "is_false")]
    uses_time: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    uses_randomness: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    moved: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    replaced: bool,
    seed: [u8; 32],
    /// In milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<u64>,
}

/// What is in the pieces.
#[derive(Default, Serialize, Deserialize)]
struct Body<C, L, O> {
    changes: C,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<L>,
    left_by_others: O,
}

impl EffectsRecord {
    /// As stores keep it. Takes some milliseconds for each megabyte.
    pub fn pack(&self) -> PackedEffects {
        let effects = &self.effects;
        let row = Row {
            verified: effects.verified,
            problem: effects.problem.clone(),
            counts: effects.counts().0,
            uses_time: effects.uses_time,
            uses_randomness: effects.uses_randomness,
            moved: effects.moved,
            replaced: self.replaced,
            seed: self.seed.0,
            time: self.time.map(millis),
        };
        let body = Body {
            changes: &effects.changes,
            read: self.read.as_ref(),
            left_by_others: &self.left_by_others,
        };
        let is_empty =
            effects.changes.is_empty() && self.read.is_none() && self.left_by_others.is_empty();
        // Numbers, texts, and lists and maps of such can always be written as JSON.
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
    /// For stores: what they have read.
    pub fn new(summary: String, pieces: Vec<Arc<[u8]>>) -> Self {
        Self { summary, pieces }
    }

    /// What they count for where bytes are bounded.
    pub fn bytes(&self) -> u64 {
        let pieces = self.pieces.iter().map(|piece| piece.len());
        (self.summary.len() + pieces.sum::<usize>()) as u64
    }

    /// As it was.
    ///
    /// # Errors
    /// Where it is no such record: somebody changed it.
    pub fn unpack(&self) -> io::Result<EffectsRecord> {
        let row: Row = serde_json::from_str(&self.summary)?;
        let body: Body<Vec<Change>, Fingerprints, BTreeMap<String, Option<String>>> =
            if self.pieces.is_empty() {
                Body::default()
            } else {
                serde_json::from_slice(&packed::joined(&self.pieces)?)?
            };
        Ok(EffectsRecord {
            effects: Effects {
                verified: row.verified,
                problem: row.problem,
                changes: body.changes,
                uses_time: row.uses_time,
                uses_randomness: row.uses_randomness,
                moved: row.moved,
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
    /// For stores: reads the summary in an action's row. None where it is no such.
    pub fn from_row(summary: &str) -> Option<Self> {
        let row: Row = serde_json::from_str(summary).ok()?;
        Some(Self {
            verified: row.verified,
            problem: row.problem,
            counts: Counts(row.counts),
            uses_time: row.uses_time,
            uses_randomness: row.uses_randomness,
            moved: row.moved,
        })
    }
}
