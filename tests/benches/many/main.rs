//! What a session costs that has many tools, or much that is pending.
//!
//! `cargo bench --bench many` prints tables of medians; each row is beside the one of few. With
//! `-- --quick` there are fewer rounds, and no server is started.

mod pending;
mod tools;

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

fn main() -> anyhow::Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let rounds = if quick { 11 } else { 101 };
    Runtime::new()?.block_on(async {
        tools::measure(rounds).await?;
        pending::measure(rounds, quick).await
    })
}

/// The median of so many times.
async fn median(
    rounds: usize,
    mut once: impl AsyncFnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<Duration> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        times.push(once().await?);
    }
    times.sort();
    Ok(times[rounds / 2])
}

/// How long it takes.
async fn timed<T>(work: impl IntoFuture<Output = T>) -> (T, Duration) {
    let began = Instant::now();
    let done = work.await;
    (done, began.elapsed())
}

/// Microseconds, or milliseconds where they are many.
fn told(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        micros if micros < 1000.0 => format!("{micros:.1} us"),
        micros => format!("{:.2} ms", micros / 1000.0),
    }
}
