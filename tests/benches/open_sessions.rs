//! What an open session costs: a thousand and more of them, idle and after a call each, in memory;
//! and what a call costs where all of them are called in turn.
//!
//! `cargo bench --bench open_sessions` prints a table of resident memory (`VmRSS`) per session, and
//! of the medians of such calls, beside those of one session in the same process. Instances are
//! made by the first call, and at most as many are alive as the engine allows.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use airlock_host::{Engine, Plugin, Session};
use airlock_tests::component;
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Tells a process of this program to measure so many sessions.
const COUNT: &str = "OPEN_SESSIONS_COUNT";

/// How many calls are timed at least: fewer than a session may have pending.
const CALLS: usize = 900;

fn main() -> anyhow::Result<()> {
    if let Ok(count) = std::env::var(COUNT) {
        return Runtime::new()?.block_on(measure(count.parse()?));
    }
    println!(
        "| open sessions | opened, per session | after one call each, per session | live instances | a call in turn | of one session's |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    // A process each, since what one measurement frees, the next would use.
    for count in ["500", "1000", "2500", "10000"] {
        let this = std::env::current_exe()?;
        let measured = Command::new(this).env(COUNT, count).status()?;
        ensure!(measured.success(), "{count} sessions: {measured}");
    }
    Ok(())
}

async fn measure(count: usize) -> anyhow::Result<()> {
    let engine = Engine::new()?;
    let plugin = Plugin::load(&engine, component("bench")).await?;
    let workspace = TempDir::new()?;
    let open = || {
        Session::builder()
            .model_decides()
            .workspace(workspace.path())
            .rehearse(airlock_host::policy::Rehearse::Never)
            .bind(&plugin)
            .open()
    };
    let params = json!({"title": "a title", "count": 1});
    // What the first session and the first call cost for everybody isn't any session's own.
    open()?.call("bench", &params).await?;

    let before = resident()?;
    // At once as large as it gets: what a growing one leaves behind would be counted, too.
    let mut sessions = Vec::with_capacity(count);
    for _ in 0..count {
        sessions.push(open()?);
    }
    let opened = resident()?;
    for session in &sessions {
        session.call("bench", &params).await?;
    }
    let called = resident()?;
    let one = vec![&sessions[count - 1]; CALLS];
    let of_one = median_call(one.into_iter(), &params).await?;
    let in_turn = median_call(sessions.iter().cycle().take(CALLS.max(count)), &params).await?;
    let share = |after: u64| {
        format!(
            "{:.2} KiB",
            after.saturating_sub(before) as f64 / count as f64
        )
    };
    println!(
        "| {count} | {} | {} | {} | {:.1} us | {:.1} us |",
        share(opened),
        share(called),
        engine.live_instances(),
        in_turn.as_secs_f64() * 1e6,
        of_one.as_secs_f64() * 1e6,
    );
    Ok(())
}

/// How long a call takes in the median, over these sessions.
async fn median_call<'a>(
    sessions: impl Iterator<Item = &'a Session>,
    params: &Value,
) -> anyhow::Result<Duration> {
    let mut times = Vec::new();
    for session in sessions {
        let began = Instant::now();
        session.call("bench", params).await?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// This process's resident memory in KiB.
fn resident() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(figure.context("no VmRSS in /proc/self/status")?.parse()?)
}
