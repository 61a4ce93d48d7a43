//! What changes take of the host's memory while they wait for their commit.

use std::fmt::Write as _;

use airlock_host::{Policy, Resolution};
use airlock_tests::bare::Live;
use airlock_tests::{Tester, engine, peak_memory, reset_peak_memory};
use serde_json::{Value, json};

use crate::{Sides, call, filled, params};

/// By how much the process grows at most, and is no table of times.
pub async fn table(sides: &Sides) -> String {
    let mut table = String::from("\n| changes | bare | ours |\n| --- | --- | --- |\n");
    for (name, call, times) in [
        (
            "64 MiB written to 64 files",
            json!({"write-file": 1 << 20}),
            57,
        ),
        ("10,000 files made", json!("create"), 9_090),
    ] {
        let params = |times, push| params(call.clone(), times, push);
        // What the first time takes for good is not what changes need.
        bare(sides, params(1, false)).await;
        ours(sides, params(1, true)).await;
        let bare = growth(bare(sides, params(times, false))).await;
        let ours = growth(ours(sides, params(times, true))).await;
        let _ = writeln!(table, "| {name} | {bare:.1} MiB | {ours:.1} MiB |");
    }
    table
}

async fn growth(work: impl Future<Output = ()>) -> f64 {
    let process = std::process::id();
    reset_peak_memory(process);
    let before = peak_memory(process);
    work.await;
    (peak_memory(process) - before) as f64 / f64::from(1 << 20)
}

async fn bare(sides: &Sides, params: Value) {
    let folder = filled(0);
    let mut live = Live::on(engine().wasmtime(), &sides.bare, folder.path()).await;
    live.execute("files", &params.to_string()).await;
}

async fn ours(sides: &Sides, params: Value) {
    let folder = filled(0);
    let session = sides.session(folder.path(), Policy::default());
    call(&session, params).await;
    let resolution = Resolution::apply("a benchmark says so");
    session.resolve(resolution, Tester).await.unwrap();
}
