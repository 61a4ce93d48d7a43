//! What is compared.

use serde_json::{Value, json};

/// What a guest may do with the workspace meanwhile.
#[derive(Clone, Copy)]
pub enum Phase {
    /// The gate is closed, and there is no layer.
    Preview,
    /// In a layer that has nothing in it yet.
    Apply,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Preview => "preview",
            Phase::Apply => "apply",
        }
    }
}

pub struct Case {
    pub name: &'static str,
    /// As the guest is told.
    pub call: fn() -> Value,
    /// How often it is done in a round.
    pub times: u32,
    pub phases: &'static [Phase],
    /// How many entries there are to list.
    pub listed: usize,
    /// The ratio to stay within.
    pub promised: f64,
}

const BOTH: &[Phase] = &[Phase::Preview, Phase::Apply];

const fn reads(name: &'static str, times: u32, call: fn() -> Value) -> Case {
    Case {
        name,
        call,
        times,
        phases: BOTH,
        listed: 0,
        promised: 1.1,
    }
}

const fn lists(name: &'static str, times: u32, listed: usize) -> Case {
    let case = reads(name, times, || json!({"list": "listed"}));
    Case { listed, ..case }
}

const fn changes(name: &'static str, times: u32, call: fn() -> Value) -> Case {
    Case {
        name,
        call,
        times,
        phases: &[Phase::Apply],
        listed: 0,
        promised: 1.3,
    }
}

pub const CALLS: [Case; 15] = [
    reads("open and close, one name", 1000, || json!({"open": "file"})),
    reads(
        "open and close, three names",
        1000,
        || json!({"open": "one/two/file"}),
    ),
    reads("stat-at, one name", 1000, || json!({"stat-at": "file"})),
    reads(
        "stat-at, three names",
        1000,
        || json!({"stat-at": "one/two/file"}),
    ),
    reads("stat of a handle", 2000, || json!({"stat": "file"})),
    reads(
        "read 64 KiB, at once",
        200,
        || json!({"read": ["file", 65536]}),
    ),
    reads(
        "read 64 KiB, by 4 KiB",
        50,
        || json!({"read": ["file", 4096]}),
    ),
    reads(
        "read 64 KiB, a stream by 4 KiB",
        50,
        || json!({"read-stream": ["file", 4096]}),
    ),
    lists("list 10 entries", 300, 10),
    lists("list 1,000 entries", 5, 1000),
    changes("create and close", 300, || json!("create")),
    changes("write 4 KiB over a file", 500, || json!({"write": "file"})),
    changes(
        "create and write 4 KiB",
        200,
        || json!({"write-file": 4096}),
    ),
    changes(
        "create and write 64 KiB",
        50,
        || json!({"write-file": 65536}),
    ),
    changes(
        "create and write 1 MiB",
        10,
        || json!({"write-file": 1 << 20}),
    ),
];
