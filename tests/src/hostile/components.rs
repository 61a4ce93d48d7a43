//! Components that were written by hand: what they import, how they start, and what they give the
//! host to read.

use serde_json::json;

use super::Ends::{Error, Result};
use super::{Attack, Row};
use crate::wat;

pub fn rows() -> Vec<Row> {
    let load = |name, does, bytes: fn() -> Vec<u8>, ends| {
        Row::new(name, does, Attack::Load(Box::new(bytes)), ends)
    };
    let guest = |name, does, guest: &'static str, ends| {
        Row::new(name, does, Attack::LoadGuest(guest), ends)
    };
    let mut rows = vec![
        load(
            "no-bytes",
            "is an empty file",
            Vec::new,
            Error(
                "not-a-component",
                "the bytes don't begin as WebAssembly does",
            ),
        ),
        load(
            "noise",
            "is random bytes",
            || {
                (0..100_000u32)
                    .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
                    .collect()
            },
            Error(
                "not-a-component",
                "the bytes don't begin as WebAssembly does",
            ),
        ),
        load(
            "noise-behind-a-header",
            "is random bytes after a component's header",
            || {
                let noise = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8);
                b"\0asm\x0d\0\x01\0".iter().copied().chain(noise).collect()
            },
            Error("not-a-component", "failed to parse WebAssembly module"),
        ),
        load(
            "a-core-module",
            "is a core module",
            || ::wat::parse_str("(module)").expect("a module"),
            Error("not-a-component", "it is a core module"),
        ),
        load(
            "an-empty-component",
            "is an empty component",
            || text("(component)"),
            Error(
                "world-mismatch",
                "it doesn't export `airlock:tool/tool@0.1.0`",
            ),
        ),
        load(
            "cut-off",
            "is a truncated component",
            || {
                let mut bytes = wat::component(&wat::module("unreachable", ""));
                bytes.truncate(bytes.len() / 2);
                bytes
            },
            Error("not-a-component", "failed to parse WebAssembly module"),
        ),
        load(
            "many-instances",
            "makes 5,000 core instances",
            || {
                text(&format!(
                    "(component (core module $m) {})",
                    "(core instance (instantiate $m))".repeat(5000)
                ))
            },
            Error("too-complex", "5000 instances; the limit is 1000"),
        ),
        load(
            "an-unknown-import",
            "imports a function that no host has",
            || text("(component (import \"evil:host/escape\" (instance (export \"run\" (func)))))"),
            Error("world-mismatch", "doesn't fit the world"),
        ),
        load(
            "a-large-table",
            "begins with a table of five million elements",
            || module("unreachable", "(table 5000000 funcref)"),
            Error("not-a-component", "5000000"),
        ),
        load(
            "a-growing-table",
            "grows a table until the host refuses",
            || {
                module(
                    "(if (i32.eq (table.grow $t (ref.null func) (i32.const 10000000)) (i32.const -1)) (then unreachable)) i32.const 0",
                    "(table $t 1 funcref)",
                )
            },
            Error(
                "no-definitions",
                "needs more than its 100000 table elements",
            ),
        ),
        load(
            "a-growing-memory",
            "grows its memory by a page until the host refuses, and then traps",
            || {
                module(
                    "(loop $l (br_if $l (i32.ne (memory.grow $memory (i32.const 1)) (i32.const -1)))) unreachable",
                    "",
                )
            },
            Error("no-definitions", "needs more than its 64 MiB of memory"),
        ),
        load(
            "a-start-that-loops",
            "loops forever when it starts",
            || module("unreachable", "(func $s (loop $l br $l)) (start $s)"),
            Error("no-definitions", "was stopped after 2 s"),
        ),
        load(
            "a-start-that-traps",
            "traps when it starts",
            || module("unreachable", "(func $s unreachable) (start $s)"),
            Error("no-definitions", "`unreachable` instruction"),
        ),
        load(
            "a-start-that-recurses",
            "calls itself forever when it starts",
            || module("unreachable", "(func $s (call $s)) (start $s)"),
            Error("no-definitions", "used up its stack"),
        ),
        load(
            "definitions-that-trap",
            "traps when it is asked for its tools",
            || module("unreachable", ""),
            Error("no-definitions", "`unreachable` instruction"),
        ),
        load(
            "definitions-that-recurse",
            "calls itself forever when it is asked for its tools",
            || module("(call $f) i32.const 0", "(func $f (call $f))"),
            Error("no-definitions", "used up its stack"),
        ),
        guest(
            "definitions-that-loop",
            "computes forever when it is asked for its tools",
            "bad_definitions_spin",
            Error("no-definitions", "was stopped after 2 s"),
        ),
        guest(
            "definitions-that-flood",
            "claims to have more tools than a plugin may have",
            "bad_definitions_flood",
            Result("loaded 1000"),
        ),
    ];
    rows.extend(lifted());
    rows.push(Row::new(
        "a-good-call",
        "behaves correctly, to test the harness",
        Attack::Calls(vec![json!([{"do": "text", "text": "fine"}])]),
        Result("fine"),
    ));
    rows
}

/// What `definitions` gives the host to read: a pointer to a pointer and a length.
fn lifted() -> Vec<Row> {
    let load = |name, does, bytes: fn() -> Vec<u8>, ends| {
        Row::new(name, does, Attack::Load(Box::new(bytes)), ends)
    };
    vec![
        load(
            "a-result-outside-of-memory",
            "returns a pointer beyond its memory",
            || module("i32.const 0x7ffffff0", ""),
            Error("no-definitions", "pointer out of bounds of memory"),
        ),
        load(
            "a-result-that-is-not-aligned",
            "returns a misaligned pointer",
            || module("i32.const 3", ""),
            Error("no-definitions", "return pointer not aligned"),
        ),
        load(
            "a-list-outside-of-memory",
            "returns a list beyond its memory",
            || list(0x7fff_0000, 10, ""),
            Error("no-definitions", "list pointer/length out of bounds"),
        ),
        load(
            "a-list-that-wraps",
            "returns a list that wraps around to address 0",
            || list(0xffff_fff0, 10, ""),
            Error("no-definitions", "list pointer/length out of bounds"),
        ),
        load(
            "a-list-of-all-memory",
            "returns a list of 2^31 tools",
            || list(64, 0x8000_0000, ""),
            Error("no-definitions", "list pointer/length out of bounds"),
        ),
        load(
            "a-list-that-is-not-aligned",
            "returns a list at an odd address",
            || list(65, 1, ""),
            Error("no-definitions", "list pointer is not aligned"),
        ),
        load(
            "a-list-of-nothing",
            "returns no tools",
            || list(64, 0, ""),
            Error("no-tools", "has no tool that can be used"),
        ),
        load(
            "a-thousand-empty-tools",
            "returns 1,000 tools without names",
            || list(64, 1000, ""),
            Error(
                "no-tools",
                "a tool's name must be 1 to 64 of the characters",
            ),
        ),
        load(
            "a-string-outside-of-memory",
            "returns a name beyond its memory",
            || list(64, 1, r#"(data (i32.const 64) "\00\00\ff\7f\10\00\00\00")"#),
            Error("no-definitions", "string pointer/length out of bounds"),
        ),
        load(
            "a-string-that-wraps",
            "returns a name that wraps around to address 0",
            || list(64, 1, r#"(data (i32.const 64) "\f0\ff\ff\ff\ff\ff\00\00")"#),
            Error("no-definitions", "string pointer/length out of bounds"),
        ),
        load(
            "a-string-that-is-no-utf-8",
            "returns a name that isn't UTF-8",
            || {
                list(
                    64,
                    1,
                    r#"(data (i32.const 64) "\00\10\00\00\04\00\00\00") (data (i32.const 4096) "\ff\fe\c0\80")"#,
                )
            },
            Error("no-definitions", "invalid utf-8 sequence"),
        ),
        load(
            "a-string-with-a-surrogate",
            "returns a name with half of a surrogate pair",
            || {
                list(
                    64,
                    1,
                    r#"(data (i32.const 64) "\00\10\00\00\03\00\00\00") (data (i32.const 4096) "\ed\a0\80")"#,
                )
            },
            Error("no-definitions", "invalid utf-8 sequence"),
        ),
        load(
            "a-wrong-discriminant",
            "returns an option that is neither none nor some",
            || list(64, 1, r#"(data (i32.const 96) "\07")"#),
            Error("no-definitions", "invalid option discriminant"),
        ),
        load(
            "unknown-flags",
            "returns traits that the world doesn't have",
            || list(64, 1, r#"(data (i32.const 108) "\ff")"#),
            Error(
                "no-tools",
                "a tool's name must be 1 to 64 of the characters",
            ),
        ),
        load(
            "strings-on-top-of-each-other",
            "returns 1,100 tools that share one name of 32,639 bytes",
            aliased,
            Error("no-definitions", "passed more than 33554432 bytes"),
        ),
    ]
}

fn text(component: &str) -> Vec<u8> {
    ::wat::parse_str(component).expect("the text parses")
}

fn module(definitions: &str, extra: &str) -> Vec<u8> {
    wat::component(&wat::module(definitions, extra))
}

/// `definitions` gives a list of so many tools, at this address.
fn list(address: u32, length: u32, data: &str) -> Vec<u8> {
    let (address, length) = (address as i32, length as i32);
    let definitions = format!(
        "(i32.store (i32.const 16) (i32.const {address})) (i32.store (i32.const 20) (i32.const {length})) i32.const 16"
    );
    module(&definitions, data)
}

/// Each record's name is the same bytes, all of which are ASCII: 36 MB for the host to copy, of one
/// page.
fn aliased() -> Vec<u8> {
    let definitions = "(local $i i32) (local.set $i (i32.const 64)) (loop $l \
        (i32.store (local.get $i) (i32.const 0)) (i32.store offset=4 (local.get $i) (i32.const 32639)) \
        (local.set $i (i32.add (local.get $i) (i32.const 48))) \
        (br_if $l (i32.lt_u (local.get $i) (i32.const 52864)))) \
        (i32.store (i32.const 16) (i32.const 64)) (i32.store (i32.const 20) (i32.const 1100)) i32.const 16";
    module(definitions, "")
}
