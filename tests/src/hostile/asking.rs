//! Guests that ask their host for one thing without an end.

use serde_json::json;

use super::Ends::{Error, Result};
use super::{Attack, Row, call, calls};

pub fn rows() -> Vec<Row> {
    let time = Error("limit", "was stopped after 2 s");
    let for_ever =
        |name, does, what: &str| call(name, does, json!({"do": "ask", "what": what}), time);
    vec![
        for_ever(
            "ask-the-monotonic-clock",
            "asks for the time forever",
            "monotonic",
        ),
        for_ever("ask-the-wall-clock", "asks for the date forever", "wall"),
        for_ever(
            "ask-a-resolution",
            "asks for the clock's resolution forever",
            "resolution",
        ),
        for_ever(
            "ask-for-randomness",
            "asks for 4 KiB of randomness forever",
            "random",
        ),
        for_ever(
            "ask-for-random-numbers",
            "asks for single random numbers forever",
            "random-number",
        ),
        for_ever(
            "ask-for-insecure-randomness",
            "asks for 4 KiB of insecure randomness forever",
            "insecure-random",
        ),
        for_ever("ask-for-a-seed", "asks for a seed forever", "seed"),
        for_ever(
            "ask-for-the-environment",
            "asks for the environment forever",
            "environment",
        ),
        for_ever(
            "ask-for-arguments",
            "asks for the arguments forever",
            "arguments",
        ),
        for_ever(
            "ask-for-the-session",
            "asks for its session forever",
            "session",
        ),
        for_ever(
            "ask-whether-cancelled",
            "asks forever whether it was cancelled",
            "cancelled",
        ),
        for_ever("log-without-an-end", "writes log lines forever", "log"),
        for_ever(
            "progress-without-an-end",
            "reports progress that isn't a number, forever",
            "progress",
        ),
        for_ever(
            "flush-without-an-end",
            "writes a letter to standard error and flushes it, forever",
            "flush",
        ),
        for_ever(
            "poll-without-an-end",
            "polls a ready source forever",
            "ready",
        ),
        for_ever(
            "open-what-is-missing",
            "opens a missing file forever",
            "missing",
        ),
        Row::new(
            "ask-while-applied",
            "asks for randomness forever while it is applied",
            Attack::Apply(json!([{"do": "ask", "what": "random"}])),
            time,
        ),
        call(
            "a-gigabyte-of-randomness",
            "asks for 1 GiB of randomness at once",
            json!({"do": "random", "bytes": 1u64 << 30}),
            Error("trap", ""),
        ),
        call(
            "all-randomness",
            "asks for the largest possible number of random bytes",
            json!({"do": "random", "bytes": u64::MAX}),
            Error("trap", ""),
        ),
        call(
            "many-log-lines",
            "writes 100,000 log lines",
            json!({"do": "log", "lines": 100_000}),
            Result(""),
        )
        .seconds(20),
        call(
            "many-lines-out",
            "writes 200,000 lines to standard output",
            json!({"do": "stdout", "lines": 200_000}),
            Result(""),
        )
        .seconds(20),
        call(
            "one-long-line",
            "writes 30 MB to standard error without a line break",
            json!({"do": "long-line", "bytes": 30_000_000}),
            Result(""),
        ),
        calls(
            "long-lines-at-once",
            "writes three such lines",
            json!(vec![json!({"do": "long-line", "bytes": 9_000_000}); 3]),
            Result(""),
        ),
        call(
            "wait-for-many",
            "waits for 100 timers that never end",
            json!({"do": "wait", "distinct": 100, "each": 1}),
            time,
        ),
        call(
            "wait-for-one-often",
            "waits for a list that contains one timer 100,000 times",
            json!({"do": "wait", "distinct": 1, "each": 100_000}),
            Error("trap", "handle limit"),
        ),
        call(
            "wait-for-nothing",
            "polls an empty list",
            json!({"do": "wait", "distinct": 0, "each": 0}),
            Error("trap", ""),
        ),
        call(
            "wait-for-a-long-list",
            "polls a list of five million",
            json!({"do": "wait", "distinct": 1, "each": 5_000_000}),
            Error("limit", ""),
        ),
    ]
}
