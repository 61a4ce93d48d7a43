//! Guests that fill the store, and what is kept of them there.

use serde_json::{Value, json};

use super::Ends::{Error, Result};
use super::{Attack, Row, call};
use crate::push;

const MIB: usize = 1 << 20;

pub fn rows() -> Vec<Row> {
    let state = |mib: usize, times: usize| {
        let fields = json!({"stateBytes": mib * MIB, "times": times, "quiet": true});
        push("Large", fields)
    };
    vec![
        call(
            "sixty-large-states",
            "pushes 60 actions with a state of 4 MiB",
            state(4, 60),
            Result("limit-exceeded"),
        )
        .disk(160),
        Row::new(
            "large-states-again-and-again",
            "pushes 8 of them in each of ten calls",
            Attack::Calls(vec![json!([state(4, 8)]); 10]),
            Result("limit-exceeded"),
        )
        .disk(160),
        call(
            "many-small-actions",
            "pushes 10,000 small actions",
            push("Small", json!({"times": 10_000, "quiet": true})),
            Result("limit-exceeded"),
        ),
        Row::new(
            "large-states-that-are-lost",
            "pushes 8 large states and traps, in each of ten calls",
            Attack::Calls(vec![json!([state(4, 8), {"do": "trap"}]); 10]),
            Error("trap", "crashed"),
        )
        .disk(160),
        Row::new(
            "many-sessions",
            "pushes ten states of 1 MiB in each of eight sessions, to a store of 24 MiB",
            Attack::Sessions(json!([state(1, 10)]), 8),
            Result("push refused: limit-exceeded"),
        )
        .disk(64),
        Row::new(
            "many-sessions-with-large-states",
            "pushes 15 states of 4 MiB in each of four sessions, to such a store",
            Attack::Sessions(json!([state(4, 15)]), 4),
            Result("push refused: limit-exceeded"),
        )
        .disk(64),
        Row::new(
            "an-apply-that-fails-with-many-words",
            "fails with a message of 8 MiB in each of ten applies",
            Attack::Again(failing(), 10),
            Error("failed", "Apply failed: words"),
        )
        // The host has the words several times at once: on the way to the caller, to who hears
        // of what happens, and to the store. Forty applies take no more than ten; what the
        // allocator keeps for the next one makes it 140 to 170 MiB.
        .memory(256),
    ]
}

/// An action that fails with 8 MiB of words.
fn failing() -> Value {
    let words = json!({"do": "failed", "message": "words", "times": 8 * MIB / 5});
    push("Fails", json!({"apply": [words]}))
}
