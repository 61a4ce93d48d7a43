//! The answer of an apply, as its rehearsal gave it.

use serde::{Deserialize, Serialize};

use super::is_false;
use crate::content::{Content, ToolResult};
use crate::digest::Digest;
use crate::json::Json;

/// The longest answer that is kept for reviewers, in bytes.
const MAX_KEPT: usize = 64 << 10;

/// The answer that an apply will give: the one of its rehearsal. An apply with another answer is
/// refused.
///
/// A rehearsal doesn't know the reason of the decision. If the answer repeats the reason, it has
/// [`REASON`](Self::REASON) in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Answer {
    /// The digest of the answer.
    pub digest: Digest,
    /// True if the answer has the reason of the decision in it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_reason: bool,
    /// The answer. `None` if it is longer than 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<ToolResult>,
}

impl Answer {
    /// The reason that a tool gets in a rehearsal.
    pub const REASON: &str = "rehearsal";

    /// Creates the answer of a tool, from its result.
    pub fn of(result: &ToolResult) -> Self {
        let details = details_of(result);
        let content = result.content.iter();
        let bytes = content.map(Content::byte_length).sum::<usize>() + details.len();
        let texts = result.content.iter().filter_map(Content::as_text);
        let mut texts = texts.chain([details]);
        let has_reason = texts.any(|text| text.contains(Self::REASON));
        Self {
            has_reason,
            digest: digest_of(result),
            kept: (bytes <= MAX_KEPT).then(|| result.clone()),
        }
    }

    /// Returns whether this is the answer of an apply, decided for this reason. A long answer that
    /// has the reason in it can't be compared, and counts as the same.
    pub fn is_of(&self, result: &ToolResult, reason: &str) -> bool {
        if self.digest == digest_of(result) {
            return true;
        }
        if !self.has_reason {
            return false;
        }
        let Some(kept) = &self.kept else {
            return true;
        };
        let mut pairs = kept.content.iter().zip(&result.content);
        kept.content.len() == result.content.len()
            && pairs.all(|pair| match pair {
                (Content::Text { text }, Content::Text { text: now }) => {
                    is_with_reason(text, now, reason)
                }
                (content, now) => content == now,
            })
            && is_with_reason(details_of(kept), details_of(result), reason)
    }
}

fn digest_of(result: &ToolResult) -> Digest {
    // Texts and bytes can always be written as JSON.
    let written = serde_json::to_vec(&(&result.content, &result.details));
    Digest::of(&written.unwrap_or_default())
}

/// Returns the details as text; empty if there are none.
fn details_of(result: &ToolResult) -> &str {
    result.details.as_ref().map_or("", Json::as_str)
}

/// Returns whether `now` is the rehearsed text with the reason of a decision in its place, as it is
/// or as a part of JSON. Languages escape JSON differently.
fn is_with_reason(rehearsed: &str, now: &str, reason: &str) -> bool {
    let Some(start) = rehearsed.find(Answer::REASON) else {
        return rehearsed == now;
    };
    let count = rehearsed.matches(Answer::REASON).count();
    let others = rehearsed.len() - count * Answer::REASON.len();
    let Some(length) = now.len().checked_sub(others).map(|all| all / count) else {
        return false;
    };
    let Some(put) = now.get(start..start + length) else {
        return false;
    };
    let is_reason = put == reason
        || serde_json::from_str::<String>(&format!("\"{put}\"")).is_ok_and(|it| it == reason);
    is_reason && rehearsed.replace(Answer::REASON, put) == now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_same_with_the_reason_of_the_decision() {
        let check = |rehearsed: &str, now: &str, expected| {
            let answer = Answer::of(&ToolResult::text(rehearsed));
            let now = ToolResult::text(now);
            assert_eq!(answer.is_of(&now, "it is \"right\""), expected, "{now:?}");
        };
        check("Renamed 2 files", "Renamed 2 files", true);
        check("Renamed 2 files", "Renamed 3 files", false);
        check(
            "Done. Reason: rehearsal",
            "Done. Reason: it is \"right\"",
            true,
        );
        check("Done. Reason: rehearsal", "Done. Reason: rehearsal", true);
        check("Done. Reason: rehearsal", "Done. Reason: another", false);
        let json = r#"{"a":"rehearsal","b":"rehearsal"}"#;
        check(
            json,
            r#"{"a":"it is \"right\"","b":"it is \"right\""}"#,
            true,
        );
        check(
            json,
            r#"{"a":"it is \u0022right\u0022","b":"it is \u0022right\u0022"}"#,
            true,
        );
        check(
            json,
            r#"{"a":"it is \"right\"","b":"it is \"wrong\""}"#,
            false,
        );
        check("rehearsal", "", false);
        let long = format!("{} rehearsal", "x".repeat(MAX_KEPT));
        check(&long, "something else", true);
        check(&"x".repeat(MAX_KEPT + 1), "something else", false);
        check(&"x".repeat(MAX_KEPT + 1), &"x".repeat(MAX_KEPT + 1), true);

        let details = |text| ToolResult {
            content: Vec::new(),
            details: Some(Json::checked(text).unwrap()),
        };
        let answer = Answer::of(&details(r#"{"reason": "rehearsal"}"#));
        let now = details(r#"{"reason": "it is \"right\""}"#);
        assert!(answer.is_of(&now, "it is \"right\""));
        assert!(!answer.is_of(&details("{}"), ""));
    }
}
