//! What an open session costs in memory: a thousand and ten thousand of them, idle and after a call
//! each.
//!
//! `cargo bench --bench open_sessions` prints a table of resident memory (`VmRSS`) per session.
//! Instances are made by the first call, and at most as many are alive as the engine allows.

use std::fs;
use std::process::Command;

use airlock_host::{Engine, Plugin, Session};
use airlock_tests::component;
use anyhow::{Context, ensure};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Tells a process of this program to measure so many sessions.
const COUNT: &str = "OPEN_SESSIONS_COUNT";

fn main() -> anyhow::Result<()> {
    if let Ok(count) = std::env::var(COUNT) {
        return Runtime::new()?.block_on(measure(count.parse()?));
    }
    println!(
        "| open sessions | opened, per session | after one call each, per session | live instances |"
    );
    println!("| --- | --- | --- | --- |");
    // A process each, since what one measurement frees, the next would use.
    for count in ["1000", "10000"] {
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
    let share = |after: u64| {
        format!(
            "{:.2} KiB",
            after.saturating_sub(before) as f64 / count as f64
        )
    };
    println!(
        "| {count} | {} | {} | {} |",
        share(opened),
        share(called),
        engine.live_instances()
    );
    Ok(())
}

/// This process's resident memory in KiB.
fn resident() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(figure.context("no VmRSS in /proc/self/status")?.parse()?)
}
