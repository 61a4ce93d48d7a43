//! What an open session costs in memory: a thousand and ten thousand of them, idle and after a call
//! each.
//!
//! `cargo bench --bench open_sessions` prints a table of resident memory (`VmRSS`) per session.
//! Instances are made by the first call, and at most as many are alive as the engine allows.

use std::fs;
use std::process::Command;

use airlock_host::{Engine, Plugin, Session};
use airlock_tests::component;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Tells a process of this program to measure so many sessions.
const COUNT: &str = "OPEN_SESSIONS_COUNT";

fn main() {
    if let Ok(count) = std::env::var(COUNT) {
        Runtime::new()
            .unwrap()
            .block_on(measure(count.parse().unwrap()));
        return;
    }
    println!(
        "| open sessions | opened, per session | after one call each, per session | live instances |"
    );
    println!("| --- | --- | --- | --- |");
    // A process each, since what one measurement frees, the next would use.
    for count in ["1000", "10000"] {
        let this = std::env::current_exe().unwrap();
        let measured = Command::new(this).env(COUNT, count).status().unwrap();
        assert!(measured.success());
    }
}

async fn measure(count: usize) {
    let engine = Engine::new().unwrap();
    let plugin = Plugin::load(&engine, component("bench")).await.unwrap();
    let workspace = TempDir::new().unwrap();
    let open = || {
        Session::builder()
            .workspace(workspace.path())
            .bind(&plugin)
            .open()
            .unwrap()
    };
    let params = json!({"title": "a title", "count": 1});
    // What the first session and the first call cost for everybody isn't any session's own.
    open().call("bench", &params).await.unwrap();

    let before = resident();
    let sessions: Vec<Session> = (0..count).map(|_| open()).collect();
    let opened = resident();
    for session in &sessions {
        session.call("bench", &params).await.unwrap();
    }
    let called = resident();
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
}

/// This process's resident memory in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
