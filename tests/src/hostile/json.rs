//! JSON of a guest: a tree of it takes up to 88 bytes for each byte of text.

use serde_json::{Value, json};

use super::Ends::Result;
use super::{Attack, Row};
use crate::{push, wat};

const MIB: usize = 1 << 20;

pub fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "details-of-many-pushes",
            "pushes 40 actions with 1 MiB of small objects as details, and they are listed",
            Attack::Look(|| pushes(40), 1),
            Result("40 pending"),
        )
        .memory(256)
        .disk(128),
        Row::new(
            "details-that-are-listed-often",
            "pushes the same, and they are listed by the session, for its next turn, by another session and by a person",
            Attack::Look(|| pushes(40), 3),
            Result("40 pending"),
        )
        .memory(256)
        .disk(128)
        .seconds(30),
        Row::new(
            "details-of-a-result",
            "returns 15 MiB of small objects as details",
            Attack::Tool(Box::new(|| small_objects(15 * MIB)), || json!({}), 1),
            Result(""),
        ),
        Row::new(
            "details-of-many-results",
            "returns 15 MiB of small objects as details in each of twenty calls",
            Attack::Tool(Box::new(|| small_objects(15 * MIB)), || json!({}), 20),
            Result(""),
        )
        .seconds(30),
        Row::new(
            "details-above-what-a-result-may-be",
            "returns 20 MiB of small objects as details",
            Attack::Tool(Box::new(|| small_objects(20 * MIB)), || json!({}), 1),
            super::Ends::Error("limit", "returned"),
        ),
        schemas(
            "eight-large-schemas",
            "has eight tools with schemas of 24,000 bytes of small objects",
            24_000,
            Result("loaded 8"),
        ),
        schemas(
            "eight-schemas-above-what-definitions-may-be",
            "has eight tools with schemas of 60,000 bytes, which exceed the limit of nodes together",
            60_000,
            Result("loaded 3"),
        ),
        schemas(
            "eight-schemas-of-a-mebibyte",
            "has eight tools with schemas of 1 MiB",
            MIB,
            super::Ends::Error("no-tools", "the limit is 1048576 for all"),
        ),
    ]
}

fn pushes(count: usize) -> Value {
    let unit = r#"{"a":0},"#;
    let details = format!("[{}0]", unit.repeat((MIB - 3) / unit.len()));
    json!([push(
        "Large",
        json!({"details": details, "times": count, "quiet": true})
    )])
}

/// A component whose tool returns so many bytes of `[{"a":0},…]` as its result's details.
fn small_objects(bytes: usize) -> Vec<u8> {
    let tools = [("t", r#"{"type": "object"}"#)];
    wat::running(&tools, 2 + (bytes >> 16), |free| {
        // The result, and behind it the details.
        let (result, details) = (free + (1 << 15), free + (1 << 16));
        let unit = i64::from_le_bytes(*br#"{"a":0},"#);
        let end = details + 1 + (bytes - 3) / 8 * 8;
        let length = end + 2 - details;
        format!(
            r#"(local $at i32)
            (i32.store8 (i32.const {details}) (i32.const {open}))
            (local.set $at (i32.const {first}))
            (loop $next
                (i64.store align=1 (local.get $at) (i64.const {unit}))
                (local.set $at (i32.add (local.get $at) (i32.const 8)))
                (br_if $next (i32.lt_u (local.get $at) (i32.const {end}))))
            (i32.store16 align=1 (i32.const {end}) (i32.const {close}))
            (i32.store (i32.const {some}) (i32.const 1))
            (i32.store (i32.const {pointer}) (i32.const {details}))
            (i32.store (i32.const {counted}) (i32.const {length}))
            i32.const {result}"#,
            open = b'[',
            first = details + 1,
            close = u16::from_le_bytes(*b"0]"),
            some = result + 12,
            pointer = result + 16,
            counted = result + 20,
        )
    })
}

/// Tools with schemas of so many bytes, all of which is small objects.
fn schemas(name: &'static str, does: &'static str, bytes: usize, ends: super::Ends) -> Row {
    let make = move || {
        let many = r#"{"a":0},"#.repeat(bytes / 8);
        let schema = format!(r#"{{"type": "object", "examples": [{many}0]}}"#);
        let names: Vec<String> = (0..8).map(|number| format!("t{number}")).collect();
        let tools: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*schema)).collect();
        wat::defining(&tools)
    };
    Row::new(name, does, Attack::Load(Box::new(make)), ends)
}
