//! JSON whose text contains half of a surrogate pair.
//!
//! Programs with UTF-16 strings, such as those in JavaScript, write a string that was cut in the
//! middle of an emoji as `"\ud83d"`. JSON's grammar allows it, but UTF-8 text can't hold it.

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::Deserialize;
use serde_json::Value;

/// Returns the answer to JSON that can't be read only because of a lone surrogate, and the id of
/// its request. Returns `None` if something else is wrong with it.
pub fn refusal(json: &[u8]) -> Option<(Option<RequestId>, ErrorData)> {
    let readable: Value = serde_json::from_slice(&replaced(json)?).ok()?;
    let id = readable.get("id").map(RequestId::deserialize);
    let message = "a text in the message has half of a surrogate pair, such as `\\ud83d`: send whole characters";
    let error = ErrorData::new(ErrorCode::INVALID_PARAMS, message, None);
    Some((id.and_then(Result::ok), error))
}

/// Returns the JSON with U+FFFD for each lone surrogate. Returns `None` if it has none.
fn replaced(json: &[u8]) -> Option<Vec<u8>> {
    let mut replaced = json.to_vec();
    let mut found = false;
    let mut at = 0;
    while at < json.len() {
        at += match (json[at], escaped(json, at)) {
            (b'\\', Some(0xD800..=0xDBFF))
                if matches!(escaped(json, at + 6), Some(0xDC00..=0xDFFF)) =>
            {
                12
            }
            (b'\\', Some(0xD800..=0xDFFF)) => {
                replaced[at + 2..at + 6].copy_from_slice(b"fffd");
                found = true;
                6
            }
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    found.then_some(replaced)
}

/// Returns the number of the escape `\uXXXX` that starts at `at`.
fn escaped(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_refused_by_the_id_of_its_request() {
        for (json, id) in [
            (r#"{"id": 4, "a": "\ud83d"}"#, Some(RequestId::Number(4))),
            (
                r#"{"a": ["\uDE00 \ud83d\ude00"], "id": "x"}"#,
                Some(RequestId::String("x".into())),
            ),
            (r#"{"a": "\ud83d\ud83d\ude00"}"#, None),
        ] {
            let (found, error) = refusal(json.as_bytes()).expect(json);
            assert_eq!(
                (found, error.code),
                (id, ErrorCode::INVALID_PARAMS),
                "{json}"
            );
        }
    }

    #[test]
    fn other_mistakes_are_not_taken_for_that() {
        for json in [
            r#"{"id": 4, "a": "\ud83d\ude00"}"#,
            r#"{"id": 4, "a": "\\ud83d"}"#,
            r#"{"id": 4, "a": "\ud83d""#,
            r#"{"id": 4, "a": "\ud8"#,
            "\\",
            "",
        ] {
            assert!(refusal(json.as_bytes()).is_none(), "{json}");
        }
    }
}
