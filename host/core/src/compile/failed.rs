//! Remembers components that recently failed to load, so that expensive failures are not repeated.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use airlock_model::digest::Digest;

use crate::load_error::LoadError;

/// The time for which a failure is remembered. It is short, because a machine that was busy or low
/// on memory may recover.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);

/// Maximum number of remembered failures.
const MAX_FAILURES: usize = 256;

/// Failed loads of one engine, by the component's digest. All have the same limits.
#[derive(Default)]
pub struct Failed(Mutex<HashMap<Digest, Failure>>);

struct Failure {
    since: Instant,
    error: LoadError,
}

impl Failed {
    pub fn get(&self, digest: &Digest) -> Option<LoadError> {
        let mut failures = self.failures();
        let failure = failures.get(digest)?;
        if failure.since.elapsed() > REMEMBERED {
            failures.remove(digest);
            return None;
        }
        Some(failure.error.clone())
    }

    pub fn remember(&self, digest: Digest, error: &LoadError) {
        let mut failures = self.failures();
        if failures.len() >= MAX_FAILURES {
            failures.retain(|_, failure| failure.since.elapsed() <= REMEMBERED);
        }
        if failures.len() >= MAX_FAILURES {
            let oldest = failures.iter().min_by_key(|(_, failure)| failure.since);
            if let Some(oldest) = oldest.map(|(digest, _)| *digest) {
                failures.remove(&oldest);
            }
        }
        let failure = Failure {
            since: Instant::now(),
            error: error.clone(),
        };
        failures.insert(digest, failure);
    }

    fn failures(&self) -> MutexGuard<'_, HashMap<Digest, Failure>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_remembered_and_the_oldest_forgotten_where_there_are_many() {
        let failed = Failed::default();
        let digest = |number: usize| Digest::of(&number.to_le_bytes());
        let error = LoadError::CompileTime {
            plugin: "bomb".to_owned(),
            limit: Duration::from_secs(1),
        };
        for number in 0..=MAX_FAILURES {
            assert!(failed.get(&digest(number)).is_none());
            failed.remember(digest(number), &error);
            assert!(failed.get(&digest(number)).is_some());
        }
        assert!(failed.get(&digest(0)).is_none());
        assert!(failed.get(&digest(1)).is_some());
        assert_eq!(failed.failures().len(), MAX_FAILURES);
    }
}
