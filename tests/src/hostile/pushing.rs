//! Guests whose results and pending actions are too large, malformed, or not theirs to make.

use serde_json::{Value, json};

use super::Ends::{Error, Result};
use super::{Attack, Row, call, calls};
use crate::push;

pub fn rows() -> Vec<Row> {
    let pushed = |name, does, label: &str, fields: Value, says| {
        call(name, does, push(label, fields), Result(says))
    };
    let again = push("Again", json!({}));
    vec![
        call(
            "a-huge-text",
            "returns a text of 17 MiB",
            json!({"do": "result-bytes", "bytes": 17 << 20}),
            Error("limit", "returned"),
        ),
        call(
            "a-text-above-what-is-passed",
            "returns a text of 40 MiB",
            json!({"do": "result-bytes", "bytes": 40 << 20}),
            Error("limit", "passed more than"),
        ),
        call(
            "many-blocks",
            "returns 500,000 blocks of text",
            json!({"do": "result-blocks", "count": 500_000}),
            Error("limit", ""),
        ),
        call(
            "a-huge-image",
            "returns an image of 20 MiB",
            json!({"do": "image", "bytes": 20 << 20, "mime": "image/png"}),
            Error("limit", "returned"),
        ),
        call(
            "a-huge-error",
            "fails with a message of 17 MiB",
            json!({"do": "failed", "message": "words ", "times": 3_000_000}),
            Error("failed", "words"),
        ),
        call(
            "a-huge-tool-error",
            "returns a tool error of 17 MiB",
            json!({"do": "tool-error", "message": "words ", "times": 3_000_000}),
            Error("tool", "words"),
        ),
        call(
            "an-error-above-what-is-passed",
            "fails with a message of 48 MB",
            json!({"do": "failed", "message": "words ", "times": 8_000_000}),
            Error("limit", "passed more than"),
        ),
        call(
            "details-that-are-no-json",
            "returns details that are not JSON",
            json!({"do": "details", "json": "{"}),
            Error("failed", "not JSON"),
        ),
        call(
            "details-without-an-end",
            "returns 100,000 brackets as details",
            json!({"do": "details", "json": "[".repeat(100_000) + &"]".repeat(100_000)}),
            Error("failed", ""),
        ),
        call(
            "details-with-a-huge-number",
            "returns a number of 100,000 digits as details",
            json!({"do": "details", "json": "9".repeat(100_000)}),
            Error("failed", ""),
        ),
        pushed(
            "a-million-actions",
            "pushes a million actions in one call",
            "Again",
            json!({"times": 1_000_000, "quiet": true}),
            "limit-exceeded",
        )
        .seconds(60),
        pushed(
            "a-huge-label",
            "pushes an action with a label of 5 MiB",
            "L",
            json!({"labelBytes": 5 << 20}),
            "limit-exceeded",
        ),
        call(
            "a-label-above-what-is-passed",
            "pushes an action with a label of 40 MiB",
            push("L", json!({"labelBytes": 40 << 20})),
            Error("limit", ""),
        ),
        pushed(
            "huge-details",
            "pushes an action with details of 10 MiB",
            "L",
            json!({"detailsBytes": 10 << 20}),
            "limit-exceeded",
        ),
        pushed(
            "a-huge-state",
            "pushes an action with a state of 10 MiB",
            "L",
            json!({"stateBytes": 10 << 20}),
            "limit-exceeded",
        ),
        pushed(
            "a-label-of-two-lines",
            "pushes a label with a line break",
            "one\ntwo",
            json!({}),
            "invalid",
        ),
        pushed(
            "a-label-with-another-line-end",
            "pushes a label with a line separator of Unicode",
            "one\u{2028}two",
            json!({}),
            "invalid",
        ),
        pushed(
            "an-empty-label",
            "pushes an empty label",
            "",
            json!({}),
            "invalid",
        ),
        pushed(
            "pushed-details-that-are-no-json",
            "pushes details that are not JSON",
            "L",
            json!({"details": "{"}),
            "invalid",
        ),
        pushed(
            "pushed-details-without-an-end",
            "pushes details of 10,000 brackets",
            "L",
            json!({"details": "[".repeat(10_000) + &"]".repeat(10_000)}),
            "invalid",
        ),
        pushed(
            "pretend-to-be-ast-edit",
            "names `ast_edit` as the action's source",
            "L",
            json!({"source": "ast_edit"}),
            "",
        ),
        pushed(
            "pretend-to-be-resolve",
            "names `Reso1ve` as the action's source",
            "L",
            json!({"source": "Reso1ve"}),
            "invalid: the source tool name looks like that of `resolve`",
        ),
        pushed(
            "pretend-in-another-script",
            "names `rеsоlvе`, in Cyrillic letters, as the action's source",
            "L",
            json!({"source": "rеsоlvе"}),
            "invalid: the source tool name looks like that of `resolve`",
        ),
        Row::new(
            "push-while-applied",
            "pushes its action again while it is applied",
            Attack::Apply(json!([again.clone()])),
            Result("push refused: invalid: an action can be pushed only during `execute`"),
        ),
        Row::new(
            "push-while-discarded",
            "pushes its action again while it is discarded",
            Attack::Discard(json!([again.clone()])),
            Result("push refused: invalid: an action can be pushed only during `execute`"),
        ),
        Row::new(
            "push-many-while-discarded",
            "pushes a million actions while it is discarded",
            Attack::Discard(json!([push("Again", json!({"times": 1_000_000}))])),
            Result("push refused: invalid"),
        ),
        Row::new(
            "an-apply-that-never-works",
            "fails on every apply",
            Attack::Apply(json!([{"do": "fail-until-attempt", "n": 4_000_000_000u32}])),
            Error("failed", "Apply failed: "),
        ),
        calls(
            "push-and-trap",
            "pushes a volatile action and traps, so that it can't be applied",
            json!([push("Volatile", json!({"volatile": true})), {"do": "trap"}]),
            Error("trap", ""),
        ),
        Row::new(
            "push-and-trap-again-and-again",
            "does so in each of thirty calls",
            Attack::Calls(vec![
                json!([push("Volatile", json!({"volatile": true})), {"do": "trap"}]);
                30
            ]),
            Error("trap", ""),
        ),
        Row::new(
            "params-without-an-end",
            "is called with params that are nested 100 levels deep",
            Attack::Params(|| {
                let mut params = json!("bottom");
                for _ in 0..100 {
                    params = json!({ "steps": params });
                }
                params
            }),
            Error("invalid-params", ""),
        ),
    ]
}
