//! Conditions that make two runs of an action the same: its clock and its randomness.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use airlock_model::digest::Digest;
use airlock_model::effects::Seed;
use airlock_workspace::Layer;
use chacha20::ChaCha20Rng;
use chacha20::rand_core::{SeedableRng, TryRng};
use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

use crate::workspace::LayerStart;

/// The conditions under which a durable action runs, in its rehearsal and when it is applied.
#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    /// The seed of the guest's randomness.
    pub seed: Seed,
    /// The time of the guest's wall clocks, or their start time.
    time: SystemTime,
    /// True if the guest's wall clocks advance.
    goes_on: bool,
    /// True if the conditions differ from the rehearsal's.
    pub are_granted: bool,
    /// True if other lines of the files that the action changes have changed since the preview. The
    /// host then compares the edits.
    pub files_moved: bool,
    /// The changes of the actions that are applied before this one, in the same commit.
    pub above: Option<Arc<Layer>>,
}

/// Returns a random seed for an action.
pub(crate) fn new_seed() -> Result<Seed, getrandom::Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(Seed::new(seed))
}

/// The conditions that a guest has read.
#[derive(Debug, Clone, Default)]
pub(crate) struct LookedAt(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    time: AtomicBool,
    randomness: AtomicBool,
}

impl LookedAt {
    pub fn time(&self) -> bool {
        self.0.time.load(Ordering::Relaxed)
    }

    pub fn randomness(&self) -> bool {
        self.0.randomness.load(Ordering::Relaxed)
    }
}

impl Conditions {
    /// Returns the conditions of an action that was pushed at this time, cut to milliseconds. Every
    /// store keeps at least milliseconds, and another process has to use the same time.
    pub fn new(seed: Seed, pushed_at: SystemTime) -> Self {
        let since = pushed_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let finer = since.subsec_nanos() % 1_000_000;
        Self {
            seed,
            time: pushed_at - Duration::from_nanos(finer.into()),
            goes_on: false,
            are_granted: false,
            files_moved: false,
            above: None,
        }
    }

    /// Returns conditions with the machine's own clocks.
    pub fn from_now(seed: Seed) -> Self {
        Self {
            goes_on: true,
            ..Self::new(seed, SystemTime::now())
        }
    }

    /// Returns the time of the guest's wall clocks, or their start time.
    pub fn time(&self) -> SystemTime {
        self.time
    }

    /// Returns the time of the guest's wall clocks if they stand still.
    pub fn standing_time(&self) -> Option<SystemTime> {
        (!self.goes_on).then_some(self.time)
    }

    /// Returns the start of the layer for the guest's changes.
    pub fn layer(&self) -> LayerStart {
        LayerStart {
            time: self.standing_time(),
            above: self.above.clone(),
        }
    }

    /// Gives a guest these conditions instead of the machine's own clock and randomness.
    pub fn hold(&self, wasi: &mut WasiCtxBuilder) -> LookedAt {
        let looked_at = LookedAt::default();
        let clock = StandingClock {
            time: self.time,
            looked_at: looked_at.clone(),
        };
        let noted = |name| Noted {
            random: ChaCha20Rng::from_seed(self.derived(name)),
            looked_at: looked_at.clone(),
        };
        let [low, high] = [0, 16].map(|from| {
            let seed = self.derived("insecure seed");
            let mut half = [0; 8];
            half.copy_from_slice(&seed[from..from + 8]);
            u128::from(u64::from_le_bytes(half))
        });
        if !self.goes_on {
            wasi.wall_clock(clock);
        }
        wasi.secure_random(noted("secure"))
            .insecure_random(noted("insecure"))
            // Standard libraries seed their hash tables with this. It only affects ordering, so its
            // use is not noted.
            .insecure_random_seed(high << 64 | low);
        looked_at
    }

    fn derived(&self, name: &str) -> [u8; 32] {
        let mut bytes = self.seed.as_bytes().to_vec();
        bytes.extend_from_slice(name.as_bytes());
        *Digest::of(&bytes).as_bytes()
    }
}

struct StandingClock {
    time: SystemTime,
    looked_at: LookedAt,
}

impl HostWallClock for StandingClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        self.looked_at.0.time.store(true, Ordering::Relaxed);
        let since = self.time.duration_since(SystemTime::UNIX_EPOCH);
        since.unwrap_or_default()
    }
}

struct Noted {
    random: ChaCha20Rng,
    looked_at: LookedAt,
}

impl Noted {
    fn note(&self) {
        self.looked_at.0.randomness.store(true, Ordering::Relaxed);
    }
}

impl TryRng for Noted {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.note();
        self.random.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.note();
        self.random.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.note();
        self.random.try_fill_bytes(bytes)
    }
}
