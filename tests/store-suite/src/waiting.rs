//! Waiting for what another task or process does.

use std::time::{Duration, Instant};

/// How long a test waits for what must come.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Asks again and again, until it holds.
///
/// # Panics
/// Where it doesn't hold by the [`DEADLINE`].
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
