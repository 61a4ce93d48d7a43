//! The report of an examination.

use serde::Serialize;
use serde_json::Value;

use super::files::Files;
use super::observe::Sample;
use super::property::Breach;
use super::untried::{Untried, UntriedKind};

/// All that [`examine()`](crate::examine()) found out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Repeats all params that were generated.
    pub seed: u64,
    /// How each case went, in the order in which they are written.
    pub cases: Vec<CaseReport>,
    /// Of the plugin as a whole.
    pub plugin: Vec<PropertyReport>,
    /// Of each tool.
    pub tools: Vec<ToolReport>,
    /// What no try could look at, by tool: what held says nothing about it.
    pub untried: Vec<Untried>,
    /// What breaks nothing.
    pub notes: Vec<Note>,
}

/// The result of one case.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseReport {
    /// As the author called it.
    pub name: String,
    /// The tool that it calls.
    pub tool: String,
    /// How long it took.
    pub seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// What was not as expected, where something was not.
    pub breach: Option<Breach>,
}

/// The results of one tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolReport {
    /// Its name.
    pub tool: String,
    /// How often it was called with other params.
    pub tries: usize,
    /// Of those, how many did not fit its schema, so that the host refused them.
    pub refused: usize,
    /// How long all of it took.
    pub seconds: f64,
    /// How each property went.
    pub properties: Vec<PropertyReport>,
}

/// The result of one property.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PropertyReport {
    /// For programs, in kebab case.
    pub name: &'static str,
    /// For people, as a clause.
    pub about: &'static str,
    /// Whether it held.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Whether a property held.
#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Outcome {
    /// In so many tries.
    Held {
        /// How many.
        tries: usize,
    },
    /// No try could look at it.
    Untried {
        /// What kept it from being tried.
        kind: UntriedKind,
        /// Why, as a clause about the tool.
        reason: String,
    },
    /// The tool has nothing to keep there.
    NotApplicable {
        /// Why.
        reason: String,
    },
    /// It was violated.
    #[serde(rename_all = "camelCase")]
    Broken {
        /// In how many tries.
        tries: usize,
        /// How.
        breach: Breach,
        /// A call that shows it.
        #[serde(skip_serializing_if = "Option::is_none")]
        example: Option<Example>,
    },
}

/// Something worth knowing that breaks nothing.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// None where it is about the plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A clause.
    pub text: String,
    /// A call that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

/// A call that shows it, shrunk as far as possible.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Example {
    /// The tool that is called.
    pub tool: String,
    /// With these.
    pub params: Value,
    /// The workspace before the call.
    #[serde(serialize_with = "described")]
    pub files: Files,
}

impl From<Sample> for Example {
    fn from(sample: Sample) -> Self {
        Self {
            tool: sample.tool,
            params: sample.params,
            files: sample.files,
        }
    }
}

fn described<S: serde::Serializer>(files: &Files, serializer: S) -> Result<S::Ok, S::Error> {
    let described = files
        .iter()
        .map(|(path, entry)| (path, super::files::describe(entry)));
    serializer.collect_map(described)
}

impl Report {
    /// All properties that were looked at.
    fn properties(&self) -> impl Iterator<Item = &PropertyReport> {
        let of_tools = self.tools.iter().flat_map(|tool| &tool.properties);
        self.plugin.iter().chain(of_tools)
    }

    /// How many cases were not as expected.
    pub fn broken_cases(&self) -> usize {
        self.cases
            .iter()
            .filter(|case| case.breach.is_some())
            .count()
    }

    /// How the properties went.
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

    /// Whether nothing broke. What was untried can't have: [`Report::untried`] has that.
    pub fn held(&self) -> bool {
        self.broken_cases() == 0 && self.counts().broken == 0
    }
}

/// How many properties went how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tried, and kept.
    pub held: usize,
    /// Violated.
    pub broken: usize,
    /// No try could look at them.
    pub untried: usize,
    /// The tool has nothing to keep there.
    pub not_applicable: usize,
}
