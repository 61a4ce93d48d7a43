//! Components that are dear to compile: a process of its own does that, with little memory and
//! time.

use super::Ends::{Error, ErrorOf};
use super::{Attack, Ends, Row};
use crate::{bombs, wat};

pub fn rows() -> Vec<Row> {
    let mut rows = fitting();
    rows.extend(misfits());
    rows.extend(large());
    rows
}

fn load(name: &'static str, does: &'static str, make: fn() -> Vec<u8>, ends: Ends) -> Row {
    Row::new(name, does, Attack::Load(Box::new(make)), ends)
}

/// What fits the world, and is within all bounds on how complex a component may be.
fn fitting() -> Vec<Row> {
    let dear = ErrorOf(
        &["compile-time", "compile-memory"],
        "compiled within the limit",
    );
    // On a fast machine it compiles, and its `definitions` traps.
    let perhaps = ErrorOf(&["compile-time", "compile-memory", "no-definitions"], "");
    vec![
        load(
            "one-straight-function",
            "has a function of 1 MB without a branch",
            || bombs::fitting(&bombs::straight(990_000)),
            dear,
        ),
        load(
            "ifs-over-many-locals",
            "has a function of 1 MB, whose branches set 990 locals",
            || bombs::fitting(&bombs::ifs(990_000, 990)),
            dear,
        ),
        load(
            "ten-straight-functions",
            "has ten functions of 100 KB without a branch",
            || bombs::fitting(&bombs::straight(100_000).repeat(10)),
            perhaps,
        ),
        load(
            "blocks-inside-of-each-other",
            "has 330,000 nested blocks",
            || bombs::fitting(&bombs::blocks(330_000)),
            perhaps,
        ),
        load(
            "a-long-jump-table",
            "has a jump table with 65,000 targets",
            || bombs::fitting(&bombs::jump_table(65_000)),
            perhaps,
        ),
        load(
            "many-functions",
            "has 190,000 functions",
            || bombs::fitting(&bombs::functions(190_000)),
            perhaps,
        ),
        load(
            "many-types",
            "has 49,000 different types",
            || bombs::fitting(&bombs::types(49_000)),
            perhaps,
        ),
        load(
            "many-segments",
            "has 99,000 segments of data",
            || bombs::fitting(&bombs::segments(99_000)),
            perhaps,
        ),
    ]
}

/// What is refused before it is compiled.
fn misfits() -> Vec<Row> {
    let complex = |says| Error("too-complex", says);
    vec![
        load(
            "a-straight-function-that-fits-no-world",
            "has a function of 1 MB without a branch, and exports nothing",
            || bombs::misfit(&bombs::straight(990_000)),
            Error(
                "world-mismatch",
                "it doesn't export `airlock:tool/tool@0.1.0`",
            ),
        ),
        load(
            "ifs-over-three-thousand-locals",
            "has a function of 2 MB, whose branches set 3,000 locals",
            || bombs::fitting(&bombs::ifs(2_000_000, 3000)),
            complex("the limit is 1000"),
        ),
        load(
            "a-function-of-two-megabytes",
            "has a function of 2 MB",
            || bombs::fitting(&bombs::blocks(666_666)),
            complex("the limit is 1000000"),
        ),
        load(
            "more-functions-than-there-may-be",
            "has 210,000 functions",
            || bombs::fitting(&bombs::functions(210_000)),
            complex("functions; the limit is 200000"),
        ),
        load(
            "more-types-than-there-may-be",
            "has 60,000 types",
            || bombs::fitting(&bombs::types(60_000)),
            complex("types; the limit is 50000"),
        ),
        load(
            "more-exports-than-there-may-be",
            "has 110,000 exports",
            || bombs::misfit(&bombs::exports(110_000)),
            complex("exports; the limit is 100000"),
        ),
        load(
            "more-segments-than-there-may-be",
            "has 260,000 segments of data",
            || bombs::misfit(&bombs::segments(260_000)),
            complex("segments; the limit is 250000"),
        ),
        load(
            "nested-components",
            "is 2,000 nested components",
            || bombs::nested(2000),
            complex("deep; the limit is 16"),
        ),
        load(
            "many-modules",
            "has 5,000 modules",
            || {
                let text = format!("(component {})", "(core module)".repeat(5000));
                ::wat::parse_str(text).expect("the component parses")
            },
            complex("modules and components; the limit is 256"),
        ),
    ]
}

/// What takes memory as soon as it begins.
fn large() -> Vec<Row> {
    let begins = |name, does, extra: fn() -> String, ends| {
        let make = move || wat::component(&wat::module("unreachable", &extra()));
        Row::new(name, does, Attack::Load(Box::new(make)), ends)
    };
    vec![
        load(
            "four-gigabytes-at-the-start",
            "begins with 4 GiB of memory",
            || {
                let module = wat::module("unreachable", "");
                wat::component(
                    &module.replace("(export \"memory\") 1)", "(export \"memory\") 65536)"),
                )
            },
            Error("no-definitions", "memory"),
        ),
        begins(
            "many-memories",
            "begins with 90 memories of 1 MiB",
            || "(memory 16)".repeat(90),
            Error(
                "not-a-component",
                "memories count of 91 exceeds the per-instance limit",
            ),
        ),
        begins(
            "a-table-of-four-billion",
            "begins with a table of 2^32 - 1 elements",
            || "(table 4294967295 funcref)".to_owned(),
            Error(
                "not-a-component",
                "4294967295 which exceeds the limit of 100000",
            ),
        ),
        begins(
            "many-tables",
            "begins with 90 tables of 90,000 elements",
            || "(table 90000 funcref)".repeat(90),
            Error(
                "not-a-component",
                "tables count of 90 exceeds the per-instance limit",
            ),
        ),
        begins(
            "data-far-away",
            "begins with a data segment far beyond its memory",
            || "(data (i32.const 2147483647) \"x\")".to_owned(),
            Error("no-definitions", "out of bounds memory access"),
        ),
        begins(
            "sixteen-megabytes-of-data",
            "has 16 MB of data",
            || format!("(data $d \"{}\")", "x".repeat(16_000_000)),
            Error("no-definitions", "`unreachable` instruction"),
        ),
    ]
}
