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
            "asks for the time without an end",
            "monotonic",
        ),
        for_ever(
            "ask-the-wall-clock",
            "asks for the date without an end",
            "wall",
        ),
        for_ever(
            "ask-a-resolution",
            "asks how exact the clock is, without an end",
            "resolution",
        ),
        for_ever(
            "ask-for-randomness",
            "asks for 4 KiB of randomness without an end",
            "random",
        ),
        for_ever(
            "ask-for-random-numbers",
            "asks for one random number after the other",
            "random-number",
        ),
        for_ever(
            "ask-for-insecure-randomness",
            "asks for 4 KiB of cheap randomness without an end",
            "insecure-random",
        ),
        for_ever("ask-for-a-seed", "asks for a seed without an end", "seed"),
        for_ever(
            "ask-for-the-environment",
            "asks for the environment without an end",
            "environment",
        ),
        for_ever(
            "ask-for-arguments",
            "asks for the arguments without an end",
            "arguments",
        ),
        for_ever(
            "ask-for-the-session",
            "asks for its session without an end",
            "session",
        ),
        for_ever(
            "ask-whether-cancelled",
            "asks whether it was cancelled, without an end",
            "cancelled",
        ),
        for_ever(
            "log-without-an-end",
            "writes log lines without an end",
            "log",
        ),
        for_ever(
            "progress-without-an-end",
            "reports progress that is no number, without an end",
            "progress",
        ),
        for_ever(
            "flush-without-an-end",
            "writes a letter to standard error and flushes it, without an end",
            "flush",
        ),
        for_ever(
            "poll-without-an-end",
            "polls what is ready, without an end",
            "ready",
        ),
        for_ever(
            "open-what-is-missing",
            "opens a file that is not there, without an end",
            "missing",
        ),
        Row::new(
            "ask-while-applied",
            "asks for randomness without an end while it is applied",
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
            "asks for as many random bytes as a number can say",
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
            "waits for one timer that it names 100,000 times in a list",
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
