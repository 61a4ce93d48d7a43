//! The report of an examination.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::files::Files;
use super::property::Breach;
use super::untried::{Untried, UntriedKind};

/// The results of [`examine()`](crate::examine()).
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(description = "The results of an examination.")]
pub struct Report {
    /// The seed that reproduces all generated params.
    pub seed: u64,
    /// The results of the cases, in the order in which they are written.
    pub cases: Vec<CaseReport>,
    /// The properties of the plugin as a whole.
    pub plugin: Vec<PropertyReport>,
    /// The results of each tool.
    pub tools: Vec<ToolReport>,
    /// The parts of each tool that no try could check. The properties that held say nothing about
    /// them.
    pub untried: Vec<Untried>,
    /// Notes that are not failures.
    pub notes: Vec<Note>,
}

/// The result of one case.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CaseReport {
    /// The case's name, as the author wrote it.
    pub name: String,
    /// The tool that the case calls.
    pub tool: String,
    /// The duration in seconds.
    pub seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The difference from the expectation, if any.
    pub breach: Option<Breach>,
}

/// The results of one tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolReport {
    /// The tool's name.
    pub tool: String,
    /// The number of calls with different params.
    pub tries: usize,
    /// The number of tries that the host refused because the params did not fit the tool's schema.
    pub refused: usize,
    /// The total duration in seconds.
    pub seconds: f64,
    /// The result of each property.
    pub properties: Vec<PropertyReport>,
}

/// The result of one property.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PropertyReport {
    /// The machine-readable name, in kebab case.
    pub name: &'static str,
    /// A description for people, as a clause.
    pub about: &'static str,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The outcome of a property.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Outcome {
    /// The property held in all tries that checked it.
    Held {
        /// The number of tries.
        tries: usize,
    },
    /// The property was not checked by any try.
    Untried {
        /// The obstacle.
        kind: UntriedKind,
        /// The reason, as a clause about the tool.
        reason: String,
    },
    /// The property does not apply to the tool.
    NotApplicable {
        /// The reason.
        reason: String,
    },
    /// The property was violated.
    #[serde(rename_all = "camelCase")]
    Broken {
        /// The number of tries that violated it.
        tries: usize,
        /// The violation.
        breach: Breach,
        /// A call that reproduces it.
        #[serde(skip_serializing_if = "Option::is_none")]
        example: Option<Example>,
    },
}

/// A useful observation that is not a failure.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The tool; `None` if the note is about the plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The text, as a clause.
    pub text: String,
    /// A call that reproduces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

/// A call that reproduces an observation, shrunk as far as possible.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Example {
    /// The tool to call.
    pub tool: String,
    /// The params of the call.
    pub params: Value,
    /// The workspace before the call.
    #[serde(serialize_with = "described")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub files: Files,
}

fn described<S: serde::Serializer>(files: &Files, serializer: S) -> Result<S::Ok, S::Error> {
    let described = files
        .iter()
        .map(|(path, entry)| (path, super::files::describe(entry)));
    serializer.collect_map(described)
}

impl Report {
    /// Returns all property results.
    fn properties(&self) -> impl Iterator<Item = &PropertyReport> {
        let of_tools = self.tools.iter().flat_map(|tool| &tool.properties);
        self.plugin.iter().chain(of_tools)
    }

    /// Returns the number of cases that failed.
    pub fn broken_cases(&self) -> usize {
        self.cases
            .iter()
            .filter(|case| case.breach.is_some())
            .count()
    }

    /// Counts the properties by outcome.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for property in self.properties() {
            *match property.outcome {
                Outcome::Held { .. } => &mut counts.held,
                Outcome::Broken { .. } => &mut counts.broken,
                Outcome::Untried { .. } => &mut counts.untried,
                Outcome::NotApplicable { .. } => &mut counts.not_applicable,
            } += 1;
        }
        counts
    }

    /// Returns whether nothing failed. Unchecked parts don't count as failures; see
    /// [`Report::untried`].
    pub fn passed(&self) -> bool {
        self.broken_cases() == 0 && self.counts().broken == 0
    }
}

/// The number of properties by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number that held in all tries that checked them.
    pub held: usize,
    /// The number that was violated.
    pub broken: usize,
    /// The number that was not checked by any try.
    pub untried: usize,
    /// The number that does not apply to the tool.
    pub not_applicable: usize,
}
