//! What the contract asks for and bare wasmtime doesn't do, each part by itself and done with
//! nothing but the library that does it. No host that keeps the contract can be nearer to bare
//! wasmtime than that.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use airlock_tests::{component, precompiled};
use serde_json::Value;
use uuid::{Timestamp, Uuid};
use wasmtime::Engine;

use crate::bare::Bare;
use crate::{Case, ROUNDS, quartiles};

/// What a part is, and how long it takes.
type Part = (&'static str, Duration);

/// A table of the parts, and of the smallest ratios that they leave. `schema`: of `params`. `bare`:
/// how long bare wasmtime takes for a case.
pub fn table(
    engine: &Engine,
    files: &Bare,
    (schema, params): (&Value, &Value),
    bare: impl Fn(Case) -> f64,
) -> String {
    let cases = [
        (Case::Execute, calls(schema, params).to_vec()),
        (Case::Load, loads(engine, files).to_vec()),
    ];
    let mut table = String::from(
        "\n| asked for by the contract | by itself | of bare wasmtime's |\n| --- | --- | --- |\n",
    );
    for (case, parts) in &cases {
        for (what, takes) in parts {
            let (name, takes) = (case.facts().0, takes.as_secs_f64());
            let (micros, share) = (takes * 1e6, takes / bare(*case) * 100.0);
            let _ = writeln!(table, "| {name}: {what} | {micros:.2} us | {share:.0}% |");
        }
    }
    for (case, parts) in &cases {
        let sum: Duration = parts.iter().map(|(_, takes)| takes).sum();
        let (name, _, promised) = case.facts();
        let least = 1.0 + sum.as_secs_f64() / bare(*case);
        let _ = writeln!(
            table,
            "| {name}: with these alone | | {least:.2}x, where {promised}x is promised |"
        );
    }
    table
}

/// Of a call that pushes.
fn calls(schema: &Value, params: &Value) -> [Part; 3] {
    let schema = jsonschema::validator_for(schema).unwrap();
    assert!(schema.is_valid(params));
    let write = || serde_json::to_string(black_box(params)).unwrap();
    let check = || schema.is_valid(black_box(params));
    [
        ("the params as JSON", each(1000, write)),
        ("whether they fit the schema", each(1000, check)),
        ("an id, with its time", each(1000, id)),
    ]
}

/// Of a load from the compile cache.
fn loads(engine: &Engine, files: &Bare) -> [Part; 5] {
    let (plugin, compiled) = (component("bench"), files.compiled());
    let (plugin_bytes, code) = (fs::read(&plugin).unwrap(), fs::read(compiled).unwrap());
    let mapped = each(20, || precompiled::from_file(engine, compiled));
    let copied = each(20, || precompiled::from_bytes(engine, &code));
    let read = |path: &Path| each(20, || fs::read(path).unwrap());
    let hash = each(20, || blake3::hash(&plugin_bytes));
    let keyed_hash = each(20, || blake3::keyed_hash(&[7; 32], &code));
    [
        ("the component's bytes", read(&plugin)),
        ("their hash", hash),
        ("the entry's bytes", read(compiled)),
        ("their keyed hash", keyed_hash),
        (
            "compiled code in fresh memory, that nobody can change, and not in a mapped file",
            copied.saturating_sub(mapped),
        ),
    ]
}

fn id() -> String {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let timestamp = Timestamp::from_unix_time(now.as_secs(), now.subsec_nanos(), 0, 0);
    Uuid::new_v7(timestamp).hyphenated().to_string()
}

/// The median over rounds of `count` times each, of one time.
fn each<T>(count: u32, mut work: impl FnMut() -> T) -> Duration {
    let rounds = (0..ROUNDS).map(|_| {
        let began = Instant::now();
        for _ in 0..count {
            black_box(work());
        }
        began.elapsed().as_secs_f64() / f64::from(count)
    });
    Duration::from_secs_f64(quartiles(rounds)[1])
}
