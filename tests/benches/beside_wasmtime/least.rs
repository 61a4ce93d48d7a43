//! What the contract asks for and bare wasmtime doesn't do, each part by itself and done with
//! nothing but the library that does it. No host that keeps the contract can be nearer to bare
//! wasmtime than that.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use airlock_tests::{component, precompiled};
use serde_json::Value;
use uuid::{Timestamp, Uuid};
use wasmtime::Engine;

use crate::bare::Bare;
use crate::{Case, ROUNDS, quartiles};

/// What a part is, and how long it takes.
type Part = (&'static str, Duration);

/// How near to bare wasmtime with all that the contract asks for a host is to be.
const PROMISED: f64 = 1.25;

/// What was measured of a case, in seconds.
pub struct Measured {
    pub bare: f64,
    pub ours: f64,
}

/// A table of the parts, and one of what bare wasmtime takes with these, which is what a host is
/// measured by. `schema`: of `params`.
pub fn tables(
    engine: &Engine,
    files: &Bare,
    (schema, params): (&Value, &Value),
    measured: impl Fn(Case) -> Measured,
) -> String {
    let cases = [
        (Case::Execute, calls(schema, params).to_vec()),
        (Case::Reject, decisions().to_vec()),
        (Case::Load, loads(engine, files).to_vec()),
    ];
    let mut table = String::from(
        "\n| asked for by the contract | by itself | of bare wasmtime's |\n| --- | --- | --- |\n",
    );
    for (case, parts) in &cases {
        for (what, takes) in parts {
            let (name, takes) = (case.facts().0, takes.as_secs_f64());
            let (micros, share) = (takes * 1e6, takes / measured(*case).bare * 100.0);
            let _ = writeln!(table, "| {name}: {what} | {micros:.2} us | {share:.0}% |");
        }
    }
    table.push_str("\n| what | bare, with these | ours | ratio | promised |\n| --- | --- | --- | --- | --- |\n");
    for (case, parts) in &cases {
        let sum: Duration = parts.iter().map(|(_, takes)| takes).sum();
        let (name, _, _) = case.facts();
        let Measured { bare, ours } = measured(*case);
        let contract = bare + sum.as_secs_f64();
        let (ratio, micros) = (ours / contract, |seconds: f64| seconds * 1e6);
        let verdict = if ratio <= PROMISED {
            "within"
        } else {
            "missed"
        };
        let (contract, ours) = (micros(contract), micros(ours));
        let _ = writeln!(
            table,
            "| {name} | {contract:.2} us | {ours:.2} us | {ratio:.2}x | {PROMISED}x: {verdict} |"
        );
    }
    table
}

/// What is pending, as whoever decides wants to see it.
struct Kept {
    _id: String,
    _label: String,
    _tool: String,
    _details: String,
    _state: Vec<u8>,
    _at: SystemTime,
}

impl Kept {
    fn new(id: String) -> Arc<Self> {
        Arc::new(Self {
            _id: id,
            _label: "Bench: 3 items".to_owned(),
            _tool: "bench".to_owned(),
            _details: "{\"items\":3}".to_owned(),
            _state: vec![0; 32],
            _at: SystemTime::now(),
        })
    }
}

/// Of a call that pushes.
fn calls(schema: &Value, params: &Value) -> [Part; 4] {
    let schema = jsonschema::validator_for(schema).unwrap();
    assert!(schema.is_valid(params));
    let write = || serde_json::to_string(black_box(params)).unwrap();
    let check = || schema.is_valid(black_box(params));
    let stack = Mutex::new(Vec::with_capacity(2));
    let keep = || {
        stack.lock().unwrap().push(Kept::new(String::new()));
        // So that there are never many.
        stack.lock().unwrap().clear();
    };
    [
        ("the params as JSON", each(1000, write)),
        ("whether they fit the schema", each(1000, check)),
        ("an id, with its time", each(1000, id)),
        (
            "an action with its texts, on a stack behind a lock",
            each(1000, keep),
        ),
    ]
}

/// Of one about an action: it is claimed, so that nobody else decides, and then it ends. Each is a
/// step of its own, since the guest runs in between.
fn decisions() -> [Part; 2] {
    let action = Kept::new(String::new());
    let stack = Mutex::new(HashMap::from([("session".to_owned(), vec![action])]));
    let claimed = Mutex::new(HashMap::new());
    let claim = || {
        let taken = stack.lock().unwrap().get_mut("session").and_then(Vec::pop);
        let who = ("a tester".to_owned(), "a benchmark says so".to_owned());
        let now = SystemTime::now();
        let mut claimed = claimed.lock().unwrap();
        claimed.insert(1u64, (taken.unwrap(), who, now));
    };
    let end = || {
        let (action, who, began) = claimed.lock().unwrap().remove(&1).unwrap();
        black_box((who, began, SystemTime::now()));
        // For the next one.
        let mut stack = stack.lock().unwrap();
        stack.get_mut("session").unwrap().push(action);
    };
    let both = each(1000, || {
        claim();
        end();
    });
    [
        ("a claim, with who and why, behind a lock", both / 2),
        ("its end, with the time", both / 2),
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
