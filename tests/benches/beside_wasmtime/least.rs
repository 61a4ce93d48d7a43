//! What the contract asks for and bare wasmtime doesn't do, each part by itself and done with nothing but the library that does it. No host
//! that keeps the contract can be nearer to bare wasmtime than that.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime};

use airlock_tests::component;
use serde_json::Value;
use uuid::{Timestamp, Uuid};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::bare::Bare;
use crate::{Case, ROUNDS, quartiles};

/// A part of a case: what it is, and how long it takes.
struct Part {
    case: Case,
    what: &'static str,
    takes: Duration,
}

/// A table of the parts, and one of the smallest ratios that they leave. `bare`: how long bare wasmtime takes for a case.
pub fn table(engine: &Engine, files: &Bare, params: &Value, bare: impl Fn(Case) -> f64) -> String {
    let parts: Vec<Part> = calls(params)
        .into_iter()
        .chain(loads(engine, files))
        .collect();
    let mut table = String::from(
        "\n| asked for by the contract | by itself | of bare wasmtime's |\n| --- | --- | --- |\n",
    );
    for Part { case, what, takes } in &parts {
        let (micros, share) = (
            takes.as_secs_f64() * 1e6,
            takes.as_secs_f64() / bare(*case) * 100.0,
        );
        let _ = writeln!(
            table,
            "| {}: {what} | {micros:.2} us | {share:.0}% |",
            case.facts().0
        );
    }
    for case in [Case::Execute, Case::Load] {
        let mine = parts.iter().filter(|part| part.case as u8 == case as u8);
        let sum: Duration = mine.map(|part| part.takes).sum();
        let (name, _, promised) = case.facts();
        let least = 1.0 + sum.as_secs_f64() / bare(case);
        let _ = writeln!(
            table,
            "| {name}: with these alone | | {least:.2}x, where {promised}x is promised |"
        );
    }
    table
}

/// Of a call that pushes.
fn calls(params: &Value) -> [Part; 3] {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(params));
    let part = |what, takes| Part {
        case: Case::Execute,
        what,
        takes,
    };
    [
        part(
            "the params as JSON",
            each(1000, || serde_json::to_string(black_box(params)).unwrap()),
        ),
        part(
            "whether they fit the schema",
            each(1000, || schema.is_valid(black_box(params))),
        ),
        part("an id, with its time", each(1000, id)),
    ]
}

/// Of a load from the compile cache.
fn loads(engine: &Engine, files: &Bare) -> [Part; 5] {
    let (plugin, compiled) = (component("bench"), files.compiled());
    let (plugin_bytes, code) = (fs::read(&plugin).unwrap(), fs::read(compiled).unwrap());
    let part = |what, takes| Part {
        case: Case::Load,
        what,
        takes,
    };
    // SAFETY: the file was written by this process, for the same engine.
    let mapped = each(20, || unsafe {
        Component::deserialize_file(engine, compiled).unwrap()
    });
    // SAFETY: as above.
    let copied = each(20, || unsafe {
        Component::deserialize(engine, &code).unwrap()
    });
    let key = [7; 32];
    [
        part(
            "the component's bytes",
            each(20, || fs::read(&plugin).unwrap()),
        ),
        part("their hash", each(20, || blake3::hash(&plugin_bytes))),
        part(
            "the entry's bytes",
            each(20, || fs::read(compiled).unwrap()),
        ),
        part(
            "their keyed hash",
            each(20, || blake3::keyed_hash(&key, &code)),
        ),
        part(
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

/// The guest's own.
const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "count": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
        "file": {"type": "string", "description": "Read into the preview, where it is given"}
    },
    "required": ["title", "count"],
    "additionalProperties": false
}"#;
