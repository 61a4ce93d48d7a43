//! What a person is asked in a client, and what they answer.

use airlock_host::Resolution;
use airlock_host::effects::Effects;
use airlock_render::{Block, Line, Renderer, Role};
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema,
};
use serde::Deserialize;

/// How many rows of effects a question has. A client may show it in a small dialog.
const ROWS: usize = 60;

/// What a person has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// To apply it, with their own reason where they gave one.
    Apply(Option<String>),
    /// To discard it.
    Discard(Option<String>),
    /// Not to decide.
    Later,
    /// The client answered, and in it is no decision: why.
    None(&'static str),
}

/// The question about an action: what it is called, why the model wants it applied, and what the
/// host saw it do. `show` is the command that shows all of it.
pub fn of(
    action: &str,
    resolution: &Resolution,
    effects: Option<&Effects>,
    show: &str,
) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(action, resolution, effects, show),
        requested_schema: form(),
    }
}

fn message(action: &str, resolution: &Resolution, effects: Option<&Effects>, show: &str) -> String {
    let plain = Renderer::plain();
    let head = Block::new()
        .line("Apply this? Nothing has changed yet.")
        .named(Role::Plain, "Action:", action, 2)
        .named(Role::Plain, "The model says:", &resolution.reason, 2);
    let unseen = Effects::default();
    let effects = plain.render(&Block::effects(effects.unwrap_or(&unseen)));
    let mut rows = effects.lines();
    let mut message = plain.render(&head);
    message.push('\n');
    for row in rows.by_ref().take(ROWS) {
        message.push('\n');
        message.push_str(row);
    }
    let more = rows.count();
    if more > 0 {
        let more = format!("… and {more} rows more; all of it: {show}");
        message.push('\n');
        message.push_str(&plain.render(&Block::from(Line::from(more))));
    }
    message
}

fn form() -> ElicitationSchema {
    let decisions = ["apply", "discard", "later"].map(str::to_owned).to_vec();
    let titles = ["Apply it", "Discard it", "Leave it pending"];
    let titles = titles.map(str::to_owned).to_vec();
    let decision = EnumSchema::builder(decisions.clone()).title("Decision");
    let decision = match decision.enum_titles(titles) {
        Ok(titled) => titled.build(),
        Err(_) => EnumSchema::builder(decisions).build(),
    };
    ElicitationSchema::builder()
        .required_enum_schema("decision", decision)
        .optional_string_with("reason", |reason| {
            reason
                .title("Reason")
                .description("Why: the tool and the log get it. May be left empty.")
        })
        .build_unchecked()
}

/// Reads an answer. One without a decision is none: clients can accept forms that nobody has seen.
pub fn read(result: &ElicitResult) -> Answer {
    #[derive(Deserialize)]
    struct Filled {
        decision: String,
        reason: Option<String>,
    }
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return Answer::None("whoever was asked declined to decide"),
        _ => return Answer::None("whoever was asked dismissed the question"),
    }
    let filled = result.content.as_ref().map(Filled::deserialize);
    let Some(Ok(Filled { decision, reason })) = filled else {
        return Answer::None("the client's answer has no decision in it");
    };
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    match decision.as_str() {
        "apply" => Answer::Apply(reason),
        "discard" => Answer::Discard(reason),
        "later" => Answer::Later,
        _ => Answer::None("the client's answer is none of those that were offered"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_a_decision_that_was_offered_is_one() {
        let check = |action, content: Value, expected: Answer| {
            let result = ElicitResult::new(action).with_content(content);
            assert_eq!(read(&result), expected);
        };
        use ElicitationAction::{Accept, Cancel, Decline};
        let apply = json!({"decision": "apply"});
        check(Accept, apply.clone(), Answer::Apply(None));
        check(
            Accept,
            json!({"decision": "discard", "reason": "no"}),
            Answer::Discard(Some("no".to_owned())),
        );
        check(
            Accept,
            json!({"decision": "later", "reason": " "}),
            Answer::Later,
        );
        for content in [
            json!({}),
            json!("apply"),
            json!({"decision": true}),
            json!({"decision": "yes"}),
        ] {
            let result = ElicitResult::new(Accept).with_content(content);
            assert!(matches!(read(&result), Answer::None(_)));
        }
        assert!(matches!(read(&ElicitResult::new(Accept)), Answer::None(_)));
        for action in [Cancel, Decline] {
            let result = ElicitResult::new(action).with_content(apply.clone());
            assert!(matches!(read(&result), Answer::None(_)));
        }
    }

    #[test]
    fn what_a_model_says_can_pass_for_nothing_of_the_hosts() {
        let forged = Resolution::apply("fine\nVerified by the host: nothing.\u{1b}[2J");
        let message = message("Rename", &forged, None, "airlock show 1");
        assert!(!message.contains('\u{1b}'));
        let own = |row: &&str| row.starts_with("Verified");
        assert_eq!(message.lines().filter(own).count(), 0, "{message}");
    }
}
