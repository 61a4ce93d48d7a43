//! The properties that every tool must have, and how observations are judged.

use airlock_host::event::Refusal;
use airlock_host::tool::ToolDefinition;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::harness::{Answer, ToolFailure};
use super::observe::{Decided, Observation};
use super::schema::Schema;

/// A property.
pub struct Property {
    /// The machine-readable name, in kebab case.
    pub name: &'static str,
    /// A description for people, as a clause.
    pub about: &'static str,
    /// Returns the reason why the property does not apply to a tool, according to its definition.
    exempt: fn(&Tool) -> Option<&'static str>,
    judge: fn(&Tool, &Observation) -> Verdict,
}

/// The facts about a tool that a property needs besides an observation.
pub struct Tool<'a> {
    pub definition: &'a ToolDefinition,
    pub output: Option<Schema>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Held,
    Broken(Breach),
    /// The observation says nothing about the property.
    Untried(Gap),
    /// The property does not apply, for this reason.
    NotApplicable(&'static str),
}

/// The reason why an observation says nothing about a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// The preview pushed no action, or failed.
    NothingPushed,
    /// The preview returned no result.
    NoResult,
    /// No apply succeeded.
    NotApplied,
    /// Two applies of the same preview differed.
    NeverTheSame,
}

/// The expected and the actual behavior, each with any number of lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Breach {
    /// The expected behavior.
    pub expected: String,
    /// The actual behavior.
    pub came: String,
}

impl Property {
    pub fn judge(&self, tool: &Tool, observation: &Observation) -> Verdict {
        match self.exempt(tool) {
            Some(reason) => Verdict::NotApplicable(reason),
            None => (self.judge)(tool, observation),
        }
    }

    /// Returns the reason why the property does not apply to this tool, whatever the tool does.
    pub fn exempt(&self, tool: &Tool) -> Option<&'static str> {
        (self.exempt)(tool)
    }
}

/// The properties, in the order of the report.
pub const ALL: &[Property] = &[
    Property {
        name: "preview-changes-nothing",
        about: "a preview changes nothing in the workspace",
        exempt: nobody,
        judge: preview_changes_nothing,
    },
    Property {
        name: "discard-leaves-nothing",
        about: "a discard leaves nothing behind",
        exempt: nobody,
        judge: discard_leaves_nothing,
    },
    Property {
        name: "as-rehearsed",
        about: "an apply does what its rehearsal did",
        exempt: nobody,
        judge: as_rehearsed,
    },
    Property {
        name: "fresh-instance",
        about: "an apply needs nothing that its preview left behind",
        exempt: nobody,
        judge: fresh_instance,
    },
    Property {
        name: "apply-twice",
        about: "a repeated apply changes nothing more",
        exempt: nobody,
        judge: apply_twice,
    },
    Property {
        name: "no-crash",
        about: "no params make it crash",
        exempt: nobody,
        judge: no_crash,
    },
    Property {
        name: "limits",
        about: "its calls stay within their limits, and what it pushes is accepted",
        exempt: nobody,
        judge: limits,
    },
    Property {
        name: "output-schema",
        about: "its details fit the schema that it promises",
        exempt: promises_no_output,
        judge: output_schema,
    },
    Property {
        name: "read-only",
        about: "a read-only tool changes nothing",
        exempt: may_change_something,
        judge: read_only,
    },
];

const VOLATILE: &str = "its actions are volatile: only the instance that pushed one can apply it";

fn nobody(_: &Tool) -> Option<&'static str> {
    None
}

fn promises_no_output(tool: &Tool) -> Option<&'static str> {
    tool.output.is_none().then_some("it promises none")
}

fn may_change_something(tool: &Tool) -> Option<&'static str> {
    let claims = tool.definition.traits.read_only;
    (!claims).then_some("it doesn't claim to be read-only")
}

fn broken(expected: impl Into<String>, came: impl Into<String>) -> Verdict {
    Verdict::Broken(Breach {
        expected: expected.into(),
        came: came.into(),
    })
}

fn preview_changes_nothing(_: &Tool, seen: &Observation) -> Verdict {
    if seen.preview.changes.is_empty() {
        Verdict::Held
    } else {
        broken("nothing changed", seen.preview.changes.describe())
    }
}

fn discard_leaves_nothing(_: &Tool, seen: &Observation) -> Verdict {
    let Some(discarded) = &seen.discarded else {
        return Verdict::Untried(Gap::NothingPushed);
    };
    if !discarded.decided.changes.is_empty() {
        return broken("nothing changed", discarded.decided.changes.describe());
    }
    if !discarded.left.is_empty() {
        let labels = discarded.left.join(", ");
        return broken("nothing is pending", format!("pending: {labels}"));
    }
    Verdict::Held
}

fn as_rehearsed(_: &Tool, seen: &Observation) -> Verdict {
    if seen.applied.is_none() {
        return Verdict::Untried(Gap::NothingPushed);
    }
    let Some(rehearsed) = &seen.rehearsed else {
        return Verdict::NotApplicable(VOLATILE);
    };
    let failed = rehearsed.answers.iter().filter_map(|it| it.as_ref().err());
    if let Some(different) = failed.into_iter().find(|it| it.is_difference()) {
        return broken(
            "the same changes as in the rehearsal, whose reason is another",
            &different.message,
        );
    }
    if rehearsed.answers.iter().any(Result::is_ok) {
        Verdict::Held
    } else {
        Verdict::Untried(Gap::NotApplied)
    }
}

fn fresh_instance(_: &Tool, seen: &Observation) -> Verdict {
    let Some(applied) = &seen.applied else {
        return Verdict::Untried(Gap::NothingPushed);
    };
    let Some(fresh) = &seen.applied_fresh else {
        return Verdict::NotApplicable(VOLATILE);
    };
    if !fresh.agrees_with(applied) {
        return match &seen.applied_again {
            // A tool that never does the same twice can't do the same here.
            Some(again) if !again.agrees_with(applied) => Verdict::Untried(Gap::NeverTheSame),
            _ => broken(
                format!("{}\n(in the session that previewed)", effect(applied)),
                format!("{}\n(in another session)", effect(fresh)),
            ),
        };
    }
    // A tool that fails may depend on state that its preview left in memory or in scratch.
    if fresh.answers.iter().all(Result::is_ok) {
        Verdict::Held
    } else {
        Verdict::Untried(Gap::NotApplied)
    }
}

fn apply_twice(_: &Tool, seen: &Observation) -> Verdict {
    if seen.applied.is_none() {
        return Verdict::Untried(Gap::NothingPushed);
    }
    if seen.applied_fresh.is_none() {
        return Verdict::NotApplicable(VOLATILE);
    }
    let Some(twice) = &seen.applied_twice else {
        return Verdict::Untried(Gap::NotApplied);
    };
    let crash = twice.second.iter().find_map(|answer| crash_of(answer));
    if let Some(crash) = crash {
        return broken(
            "the second apply is refused, or changes nothing",
            &crash.message,
        );
    }
    if twice.changes.is_empty() {
        Verdict::Held
    } else {
        broken("the second apply changes nothing", twice.changes.describe())
    }
}

fn no_crash(_: &Tool, seen: &Observation) -> Verdict {
    match answers(seen).find_map(crash_of) {
        Some(crash) => broken("a result or an error", &crash.message),
        None => Verdict::Held,
    }
}

fn limits(_: &Tool, seen: &Observation) -> Verdict {
    let used_up = answers(seen).find_map(|answer| {
        let complaint = answer.as_ref().err()?;
        complaint.is_limit().then(|| complaint.message.clone())
    });
    let refused = || {
        let heard = seen.applied.iter().map(|applied| &applied.heard);
        let heard = heard.chain(std::iter::once(&seen.preview.heard));
        heard
            .flat_map(|heard| &heard.refusals)
            .find_map(|refusal| match refusal {
                Refusal::Push { reason } => Some(format!("a pending action was refused: {reason}")),
                _ => None,
            })
    };
    match used_up.or_else(refused) {
        Some(came) => broken("a call within its limits", came),
        None => Verdict::Held,
    }
}

fn output_schema(tool: &Tool, seen: &Observation) -> Verdict {
    let Ok(said) = &seen.preview.answer else {
        return Verdict::Untried(Gap::NoResult);
    };
    let violation = tool.output.as_ref();
    match violation.and_then(|schema| schema.violation(&said.details)) {
        None => Verdict::Held,
        Some(violation) => broken(
            "details that fit the tool's output schema",
            format!("{}\n{violation}", short(&said.details)),
        ),
    }
}

fn read_only(_: &Tool, seen: &Observation) -> Verdict {
    match &seen.applied {
        Some(applied) if !applied.changes.is_empty() => {
            broken("nothing changed", applied.changes.describe())
        }
        _ => Verdict::Held,
    }
}

/// Returns the answers of the steps that every tool goes through: a preview, then a decision by
/// the same instance.
fn answers(seen: &Observation) -> impl Iterator<Item = &Answer> {
    let discarded = seen.discarded.iter().map(|discarded| &discarded.decided);
    let decided = seen.applied.iter().chain(discarded);
    std::iter::once(&seen.preview.answer).chain(decided.flat_map(|decided| &decided.answers))
}

fn crash_of(answer: &Answer) -> Option<&ToolFailure> {
    answer
        .as_ref()
        .err()
        .filter(|complaint| complaint.is_crash())
}

/// Describes the answers and changes, one per line.
pub fn effect(decided: &Decided) -> String {
    let said = decided.answers.iter().map(|answer| match answer {
        Ok(said) if said.details.is_null() => said.text.clone(),
        Ok(said) => format!("{}\ndetails: {}", said.text, short(&said.details)),
        Err(complaint) => format!("error: {}", complaint.message),
    });
    let changes = decided.changes.describe();
    said.chain([changes]).collect::<Vec<_>>().join("\n")
}

/// Formats JSON, shortened if it is very long.
pub fn short(value: &Value) -> String {
    const MAX_JSON_CHARS: usize = 400;
    let mut text = value.to_string();
    if text.len() > MAX_JSON_CHARS {
        let bytes = text.len();
        text.truncate(text.floor_char_boundary(MAX_JSON_CHARS));
        text.push_str(&format!("… ({bytes} bytes)"));
    }
    text
}
