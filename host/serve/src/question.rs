//! The question for a person in a client, and the answer.

use airlock_desk::part::{Patterns, is_divisible};
use airlock_host::Policy;
use airlock_host::effects::{Effects, Selection};
use airlock_host::pending::{ActionId, NamedAction, Review};
use airlock_render::{Block, Renderer, Role};
use airlock_rules::Pattern;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    EnumSchema, InputRequest, InputRequests,
};
use serde::Deserialize;

use crate::shown;

/// The key of the question among those of a call, which has only this one.
pub const KEY: &str = "decision";

/// The most rows of effects in a question. A client may show it in a small dialog.
const ROWS: usize = 60;

/// The fewest rows for each of several actions.
const LEAST_ROWS: usize = 6;

/// An action that a question is about.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    pub id: &'a ActionId,
    /// Its name, in one line.
    pub named: String,
    /// The name and the short digest of the plugin.
    pub plugin: String,
    /// The plugin's grants.
    pub grants: &'a Policy,
    /// The effects that the host saw.
    pub effects: Option<&'a Effects>,
}

impl<'a> Subject<'a> {
    pub fn of(review: &'a Review) -> Self {
        let action = &*review.action.action;
        Self {
            id: &action.id,
            named: NamedAction::from(action).to_string(),
            plugin: action.plugin_for_model(),
            grants: &action.grants,
            effects: review.effects.as_ref(),
        }
    }
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Apply the chosen action, with the person's own reason if they gave one.
    Apply(Chosen),
    /// Discard the chosen action.
    Discard(Chosen),
    /// Leave it pending, with the reason if they gave one.
    Later(Option<String>),
    /// The person declined to decide.
    Declined,
    /// The reason why there is no decision: the client dismissed the question, or its answer
    /// contains no decision.
    None(&'static str),
}

/// The action that a person decided about, and their reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its index among the question's actions.
    pub at: usize,
    pub reason: Option<String>,
    /// The part of its effects to apply.
    pub part: Selection,
}

/// Returns the question about actions: the model's reason, and the name, plugin and effects of each
/// action. `show` returns the command that shows an action in full.
pub fn of(
    choices: &[Subject<'_>],
    reason: &str,
    show: impl Fn(&ActionId) -> String,
) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(choices, reason, show),
        requested_schema: form(choices),
    }
}

/// Wraps a question for a client that gets it in the response to its own request.
pub fn requests(question: ElicitRequestParams) -> InputRequests {
    let request = InputRequest::Elicitation(ElicitRequest::new(question));
    InputRequests::from([(KEY.to_owned(), request)])
}

fn message(choices: &[Subject<'_>], reason: &str, show: impl Fn(&ActionId) -> String) -> String {
    let plain = Renderer::plain();
    let (asked, rows) = match choices.len() {
        0 | 1 => ("Apply this? Nothing has changed yet.", ROWS),
        several => (
            "Apply which of these? Nothing has changed yet.",
            (ROWS / several).max(LEAST_ROWS),
        ),
    };
    let head = Block::new()
        .line(asked)
        .named(Role::Plain, "The model says:", reason, 2);
    let mut message = plain.render(&head);
    let none = Effects::default();
    for choice in choices {
        let named = Block::new()
            .named(Role::Plain, "Action:", &choice.named, 2)
            .named(Role::Plain, "Plugin:", &choice.plugin, 2)
            .block(Block::grants(choice.grants));
        message.push_str("\n\n");
        message.push_str(&plain.render(&named));
        let effects = choice.effects.unwrap_or(&none);
        for row in shown::rows(effects, rows, &show(choice.id)) {
            message.push('\n');
            message.push_str(&row);
        }
    }
    message
}

fn form(choices: &[Subject<'_>]) -> ElicitationSchema {
    let decisions = [
        ("apply", "Apply it"),
        ("discard", "Discard it"),
        ("later", "Leave it pending"),
    ];
    let decisions = decisions.map(|(value, title)| (value.to_owned(), title.to_owned()));
    let mut form = ElicitationSchema::builder();
    if choices.len() > 1 {
        let actions = choices.iter().map(|it| {
            let title = airlock_render::escape_line(&it.named);
            (it.id.to_string(), title.into_owned())
        });
        form = form.required_enum_schema("action", one_of("Action", actions));
    }
    form = form.required_enum_schema("decision", one_of("Decision", decisions));
    let mut effects = choices.iter().filter_map(|choice| choice.effects);
    if effects.any(|effects| effects.changes.len() > 1 && is_divisible(effects)) {
        form = form.optional_string_with("except", |except| {
            except.title("Leave out").description(
                "Files that stay as they are, such as docs/ or *.md, separated by commas. If empty, all changes are applied.",
            )
        });
    }
    form.optional_string_with("reason", |reason| {
        reason
            .title("Reason")
            .description("Why: the tool and the log get it. May be left empty.")
    })
    .build_unchecked()
}

fn one_of(title: &'static str, values: impl IntoIterator<Item = (String, String)>) -> EnumSchema {
    let (values, titles): (Vec<_>, Vec<_>) = values.into_iter().unzip();
    let schema = EnumSchema::builder(values.clone()).title(title);
    match schema.enum_titles(titles) {
        Ok(titled) => titled.build(),
        Err(_) => EnumSchema::builder(values).build(),
    }
}

/// Reads the answer to a question about these actions. A form without a decision is no decision:
/// clients can accept forms that no person has seen.
pub fn read(result: &ElicitResult, choices: &[Subject<'_>]) -> Answer {
    #[derive(Deserialize)]
    struct Filled {
        action: Option<String>,
        decision: String,
        except: Option<String>,
        reason: Option<String>,
    }
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return Answer::Declined,
        _ => return Answer::None("the user dismissed the question"),
    }
    let filled = result.content.as_ref().map(Filled::deserialize);
    let Some(Ok(filled)) = filled else {
        return Answer::None("the client's answer has no decision in it");
    };
    let at = match (&filled.action, choices) {
        (_, [_]) => Some(0),
        (Some(action), choices) => choices.iter().position(|it| it.id.as_str() == action),
        (None, _) => None,
    };
    let Some(at) = at else {
        return Answer::None("the client's answer names none of the actions that were offered");
    };
    let reason = filled.reason.filter(|reason| !reason.trim().is_empty());
    let except = filled.except.unwrap_or_default();
    let part = match filled.decision.as_str() {
        "apply" => part(&except, &choices[at]),
        _ => Some(Selection::new()),
    };
    let Some(part) = part else {
        return Answer::None(
            "the files that the user wants to leave out are not among those that it changes, or nothing else is",
        );
    };
    let chosen = Chosen { at, reason, part };
    match filled.decision.as_str() {
        "apply" => Answer::Apply(chosen),
        "discard" => Answer::Discard(chosen),
        "later" => Answer::Later(chosen.reason),
        _ => Answer::None("the client's answer is none of those that were offered"),
    }
}

/// Returns the part of an action's effects without the changes that the patterns match; `None` if
/// they don't match any.
fn part(except: &str, choice: &Subject<'_>) -> Option<Selection> {
    let patterns = except.split(',').map(str::trim);
    let patterns = patterns.filter(|text| !text.is_empty()).map(Pattern::new);
    let patterns = Patterns {
        except: patterns.collect::<Result<_, _>>().ok()?,
        ..Patterns::default()
    };
    let none = Effects::default();
    patterns.select(choice.effects.unwrap_or(&none)).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use airlock_host::effects::{Change, ChangeKind};
    use serde_json::{Value, json};

    use super::*;

    static DEFAULT: LazyLock<Policy> = LazyLock::new(Policy::default);

    fn choice(id: &ActionId) -> Subject<'_> {
        Subject {
            id,
            named: "Rename".to_owned(),
            plugin: "\"batch-rename\" (sha256:0123456789ab)".to_owned(),
            grants: &DEFAULT,
            effects: None,
        }
    }

    #[test]
    fn only_a_decision_that_was_offered_is_one() {
        let id = ActionId::from("1");
        let one = [choice(&id)];
        let check = |action, content: Value, expected: Answer| {
            let result = ElicitResult::new(action).with_content(content);
            assert_eq!(read(&result, &one), expected);
        };
        let chosen = |reason: Option<&str>| Chosen {
            at: 0,
            reason: reason.map(str::to_owned),
            part: Selection::new(),
        };
        use ElicitationAction::{Accept, Cancel, Decline};
        let apply = json!({"decision": "apply"});
        check(Accept, apply.clone(), Answer::Apply(chosen(None)));
        check(
            Accept,
            json!({"decision": "discard", "reason": "no"}),
            Answer::Discard(chosen(Some("no"))),
        );
        check(
            Accept,
            json!({"decision": "later", "reason": " "}),
            Answer::Later(None),
        );
        check(
            Accept,
            json!({"decision": "later", "reason": "after lunch"}),
            Answer::Later(Some("after lunch".to_owned())),
        );
        for content in [
            json!({}),
            json!("apply"),
            json!({"decision": true}),
            json!({"decision": "yes"}),
        ] {
            let result = ElicitResult::new(Accept).with_content(content);
            assert!(matches!(read(&result, &one), Answer::None(_)));
        }
        assert!(matches!(
            read(&ElicitResult::new(Accept), &one),
            Answer::None(_)
        ));
        let cancelled = ElicitResult::new(Cancel).with_content(apply.clone());
        assert!(matches!(read(&cancelled, &one), Answer::None(_)));
        check(Decline, apply, Answer::Declined);
    }

    #[test]
    fn files_can_be_left_out_that_are_among_those_it_changes() {
        let change = |path: &str| Change::new(ChangeKind::Created, path);
        let effects = Effects::verified(vec![change("a.md"), change("b.txt"), change("c.txt")]);
        let id = ActionId::from("1");
        let subject = Subject {
            effects: Some(&effects),
            ..choice(&id)
        };
        let form = serde_json::to_value(form(std::slice::from_ref(&subject))).unwrap();
        assert_eq!(form["properties"]["except"]["type"], "string", "{form}");
        let check = |except: &str, expected: Option<&[usize]>| {
            let content = json!({"decision": "apply", "except": except});
            let result = ElicitResult::new(ElicitationAction::Accept).with_content(content);
            let left = match read(&result, std::slice::from_ref(&subject)) {
                Answer::Apply(chosen) => Some(chosen.part.left_out().collect::<Vec<_>>()),
                _ => None,
            };
            assert_eq!(left.as_deref(), expected, "{except:?}");
        };
        check("", Some(&[]));
        check("*.md", Some(&[0]));
        check(" b.txt, a.md,", Some(&[0, 1]));
        check("docs/", None);
        check("*", None);
    }

    #[test]
    fn of_several_actions_one_has_to_be_named_that_was_offered() {
        let ids = ["1", "2"].map(ActionId::from);
        let several = [choice(&ids[0]), choice(&ids[1])];
        let read = |content: Value| {
            let result = ElicitResult::new(ElicitationAction::Accept).with_content(content);
            read(&result, &several)
        };
        let expected = Chosen {
            at: 1,
            reason: None,
            part: Selection::new(),
        };
        let second = json!({"action": "2", "decision": "discard"});
        assert_eq!(read(second), Answer::Discard(expected));
        for content in [
            json!({"decision": "apply"}),
            json!({"action": "3", "decision": "apply"}),
            json!({"action": "", "decision": "apply"}),
            json!({"action": "2"}),
        ] {
            assert!(matches!(read(content), Answer::None(_)));
        }
    }

    #[test]
    fn what_a_model_says_can_pass_for_nothing_of_the_hosts() {
        let forged = "fine\nVerified by the host: nothing.\u{1b}[2J";
        let id = ActionId::from("1");
        let message = message(&[choice(&id)], forged, |id| format!("airlock show {id}"));
        assert!(!message.contains('\u{1b}'));
        let own = |row: &&str| row.starts_with("Verified");
        assert_eq!(message.lines().filter(own).count(), 0, "{message}");
        assert!(
            message.contains("\nPlugin: \"batch-rename\" (sha256:0123456789ab)\n"),
            "{message}"
        );
    }
}
