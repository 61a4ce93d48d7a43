//! Guests that compute, recurse, trap and take memory.

use serde_json::json;

use super::Ends::{Error, Result};
use super::{Attack, Row, call, calls};

pub fn rows() -> Vec<Row> {
    let time = Error("limit", "was stopped after 2 s");
    vec![
        call("spin", "loops forever", json!({"do": "spin"}), time),
        Row::new(
            "spin-in-apply",
            "loops forever while it is applied",
            Attack::Apply(json!([{"do": "spin"}])),
            Error(
                "limit",
                "Apply failed: tool `custom_tool` was stopped after 2 s",
            ),
        ),
        Row::new(
            "spin-in-reject",
            "loops forever while it is discarded",
            Attack::Discard(json!([{"do": "spin"}])),
            time,
        ),
        call("sleep", "sleeps for hours", json!({"do": "block"}), time),
        Row::new(
            "sleep-in-apply",
            "sleeps for hours while it is applied",
            Attack::Apply(json!([{"do": "block"}])),
            time,
        ),
        call(
            "recurse",
            "calls itself forever",
            json!({"do": "recurse"}),
            Error("limit", "used up its stack"),
        ),
        Row::new(
            "recurse-in-apply",
            "calls itself forever while it is applied",
            Attack::Apply(json!([{"do": "recurse"}])),
            Error("limit", "used up its stack"),
        ),
        Row::new(
            "recurse-again-and-again",
            "does so in each of eight calls",
            Attack::Calls(vec![json!([{"do": "recurse"}]); 8]),
            Error("limit", "used up its stack"),
        ),
        call(
            "trap",
            "executes `unreachable`",
            json!({"do": "trap"}),
            Error("trap", "crashed"),
        ),
        Row::new(
            "trap-again-and-again",
            "does so in each of thirty calls",
            Attack::Calls(vec![json!([{"do": "trap"}]); 30]),
            Error("trap", "crashed"),
        ),
        Row::new(
            "trap-in-apply",
            "traps while it is applied",
            Attack::Apply(json!([{"do": "trap"}])),
            Error("trap", "Apply failed: "),
        ),
        Row::new(
            "trap-in-reject",
            "traps while it is discarded",
            Attack::Discard(json!([{"do": "trap"}])),
            Error("trap", "crashed"),
        ),
        call(
            "exit",
            "exits with success",
            json!({"do": "exit", "code": 0}),
            Error("trap", "exit"),
        ),
        call(
            "exit-with-failure",
            "exits with a failure",
            json!({"do": "exit", "code": 1}),
            Error("trap", "exit"),
        ),
        call(
            "panic",
            "panics with its own message",
            json!({"do": "panic", "message": "as told"}),
            Error("trap", "as told"),
        ),
        call(
            "cancelled-by-itself",
            "claims that it was cancelled, which it wasn't",
            json!({"do": "cancelled"}),
            Error("cancelled", ""),
        ),
        call(
            "memory",
            "allocates 512 MiB of memory and writes to all of it",
            json!({"do": "allocate", "mib": 512}),
            Error("limit", "needs more than its 64 MiB of memory"),
        ),
        Row::new(
            "memory-in-apply",
            "does so while it is applied",
            Attack::Apply(json!([{"do": "allocate", "mib": 512}])),
            Error("limit", "needs more than its 64 MiB of memory"),
        ),
        Row::new(
            "memory-again-and-again",
            "does so in each of twenty calls",
            Attack::Calls(vec![json!([{"do": "allocate", "mib": 512}]); 20]),
            Error("limit", "needs more than its 64 MiB of memory"),
        ),
        calls(
            "memory-gently",
            "asks for 512 MiB, accepts the refusal, and takes all that is left",
            json!([{"do": "allocate", "mib": 512, "gently": true}, {"do": "allocate", "mib": 40}]),
            Result("allocated 40 MiB"),
        ),
        calls(
            "memory-in-turns",
            "allocates 40 MiB thirty times, and leaves holes",
            json!(vec![json!({"do": "allocate", "mib": 40}); 30]),
            Error("limit", "needs more than its 64 MiB of memory"),
        ),
    ]
}
