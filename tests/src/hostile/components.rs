//! Components that were written by hand: what they import, how they start, and what they give the host to read.

use serde_json::json;

use super::Ends::{Error, Result};
use super::{Attack, Row};
use crate::wat;

pub fn rows() -> Vec<Row> {
    let load = |name, does, bytes: fn() -> Vec<u8>, ends| {
        Row::new(name, does, Attack::Load(bytes), ends).seconds(30)
    };
    let guest = |name, does, guest: &'static str, ends| {
        Row::new(name, does, Attack::LoadGuest(guest), ends).seconds(30)
    };
    // Which error it is, other tests say.
    let any = Error("", "");
    let mut rows = vec![
        load("no-bytes", "is an empty file", Vec::new, any),
        load(
            "noise",
            "is noise",
            || {
                (0..100_000u32)
                    .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
                    .collect()
            },
            any,
        ),
        load(
            "noise-behind-a-header",
            "is noise behind a component's header",
            || {
                let noise = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8);
                b"\0asm\x0d\0\x01\0".iter().copied().chain(noise).collect()
            },
            any,
        ),
        load(
            "a-core-module",
            "is a core module",
            || ::wat::parse_str("(module)").expect("a module"),
            any,
        ),
        load(
            "an-empty-component",
            "is a component with nothing in it",
            || text("(component)"),
            any,
        ),
        load(
            "cut-off",
            "is a component that ends in the middle",
            || {
                let mut bytes = wat::component(&wat::module("unreachable", ""));
                bytes.truncate(bytes.len() / 2);
                bytes
            },
            any,
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
            any,
        ),
        load(
            "an-unknown-import",
            "imports what no host has",
            || text("(component (import \"evil:host/escape\" (instance (export \"run\" (func)))))"),
            any,
        ),
        load(
            "a-large-table",
            "begins with a table of five million elements",
            || module("unreachable", "(table 5000000 funcref)"),
            any,
        ),
        load(
            "a-growing-table",
            "grows a table until that is refused",
            || {
                module(
                    "(if (i32.eq (table.grow $t (ref.null func) (i32.const 10000000)) (i32.const -1)) (then unreachable)) i32.const 0",
                    "(table $t 1 funcref)",
                )
            },
            any,
        ),
        load(
            "a-growing-memory",
            "grows its memory by a page until that is refused, and then traps",
            || {
                module(
                    "(loop $l (br_if $l (i32.ne (memory.grow $memory (i32.const 1)) (i32.const -1)))) unreachable",
                    "",
                )
            },
            any,
        ),
        load(
            "a-start-that-loops",
            "begins with a loop without an end",
            || module("unreachable", "(func $s (loop $l br $l)) (start $s)"),
            any,
        ),
        load(
            "a-start-that-traps",
            "traps when it starts",
            || module("unreachable", "(func $s unreachable) (start $s)"),
            any,
        ),
        load(
            "a-start-that-recurses",
            "calls itself without an end when it starts",
            || module("unreachable", "(func $s (call $s)) (start $s)"),
            any,
        ),
        load(
            "definitions-that-trap",
            "traps when it is asked for its tools",
            || module("unreachable", ""),
            any,
        ),
        load(
            "definitions-that-recurse",
            "calls itself without an end when it is asked for its tools",
            || module("(call $f) i32.const 0", "(func $f (call $f))"),
            any,
        ),
        guest(
            "definitions-that-loop",
            "computes without an end when it is asked for its tools",
            "bad_definitions_spin",
            any,
        ),
        guest(
            "definitions-that-flood",
            "says that it has more tools than a plugin may have",
            "bad_definitions_flood",
            Result("loaded 1000"),
        ),
    ];
    rows.extend(lifted());
    rows.push(Row::new(
        "a-good-call",
        "does what it should: the harness itself is tried",
        Attack::Calls(vec![json!([{"do": "text", "text": "fine"}])]),
        Result("fine"),
    ));
    rows
}

/// What `definitions` gives the host to read: a pointer to a pointer and a length.
fn lifted() -> Vec<Row> {
    let load = |name, does, bytes: fn() -> Vec<u8>| {
        Row::new(name, does, Attack::Load(bytes), Error("", "")).seconds(30)
    };
    vec![
        load(
            "a-result-outside-of-memory",
            "gives a pointer behind its memory",
            || module("i32.const 0x7ffffff0", ""),
        ),
        load(
            "a-result-that-is-not-aligned",
            "gives a pointer that is not aligned",
            || module("i32.const 3", ""),
        ),
        load(
            "a-list-outside-of-memory",
            "gives a list behind its memory",
            || list(0x7fff_0000, 10, ""),
        ),
        load(
            "a-list-that-wraps",
            "gives a list that goes on at address 0",
            || list(0xffff_fff0, 10, ""),
        ),
        load("a-list-of-all-memory", "gives a list of 2^31 tools", || {
            list(64, 0x8000_0000, "")
        }),
        load(
            "a-list-that-is-not-aligned",
            "gives a list at an odd address",
            || list(65, 1, ""),
        ),
        load("a-list-of-nothing", "gives no tools", || list(64, 0, "")),
        load(
            "a-thousand-empty-tools",
            "gives 1,000 tools without names",
            || list(64, 1000, ""),
        ),
        load(
            "a-string-outside-of-memory",
            "gives a name behind its memory",
            || list(64, 1, r#"(data (i32.const 64) "\00\00\ff\7f\10\00\00\00")"#),
        ),
        load(
            "a-string-that-wraps",
            "gives a name that goes on at address 0",
            || list(64, 1, r#"(data (i32.const 64) "\f0\ff\ff\ff\ff\ff\00\00")"#),
        ),
        load(
            "a-string-that-is-no-utf-8",
            "gives a name that is no UTF-8",
            || {
                list(
                    64,
                    1,
                    r#"(data (i32.const 64) "\00\10\00\00\04\00\00\00") (data (i32.const 4096) "\ff\fe\c0\80")"#,
                )
            },
        ),
        load(
            "a-string-with-a-surrogate",
            "gives a name with half of a surrogate pair",
            || {
                list(
                    64,
                    1,
                    r#"(data (i32.const 64) "\00\10\00\00\03\00\00\00") (data (i32.const 4096) "\ed\a0\80")"#,
                )
            },
        ),
        load(
            "a-wrong-discriminant",
            "gives an option that is neither none nor some",
            || list(64, 1, r#"(data (i32.const 96) "\07")"#),
        ),
        load(
            "unknown-flags",
            "gives traits that the world doesn't know",
            || list(64, 1, r#"(data (i32.const 108) "\ff")"#),
        ),
        load(
            "strings-on-top-of-each-other",
            "gives 1,100 tools whose names are all the same 32,639 bytes",
            aliased,
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

/// Each record's name is the same bytes, all of which are ASCII: 36 MB for the host to copy, of one page.
fn aliased() -> Vec<u8> {
    let definitions = "(local $i i32) (local.set $i (i32.const 64)) (loop $l \
        (i32.store (local.get $i) (i32.const 0)) (i32.store offset=4 (local.get $i) (i32.const 32639)) \
        (local.set $i (i32.add (local.get $i) (i32.const 48))) \
        (br_if $l (i32.lt_u (local.get $i) (i32.const 52864)))) \
        (i32.store (i32.const 16) (i32.const 64)) (i32.store (i32.const 20) (i32.const 1100)) i32.const 16";
    module(definitions, "")
}
