//! Parts of a tool that no try could check, with the reason and advice for the author.

mod suggestion;

use std::collections::BTreeMap;

use airlock_host::tool::{RejectedTool, ToolDefinition};
use schemars::JsonSchema;
use serde::Serialize;

use super::files::Files;
use super::harness::Answer;
use super::observe::Observation;
use super::property::Gap;
use super::report::{Outcome, PropertyReport};

/// A part of a tool that no try could check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Untried {
    /// The tool.
    pub tool: String,
    /// The obstacle.
    pub kind: UntriedKind,
    /// The names of the properties that were not checked for this reason; may be empty.
    pub properties: Vec<&'static str>,
    /// The reason, as a clause about the tool.
    pub why: String,
    /// The tool's most frequent error message, or the problem with its definition.
    pub told: Option<String>,
    /// Advice in one line.
    pub advice: String,
    /// A case to start from, as TOML, if one would help.
    pub case: Option<String>,
}

/// The reason why a part of a tool could not be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UntriedKind {
    /// The host left the tool out.
    LeftOut,
    /// The tool has no case, and no params were generated.
    NoParams,
    /// The params never fit the tool's schema.
    ParamsRefused,
    /// The tool failed in every call.
    AlwaysFailed,
    /// The tool doesn't claim to be read-only, but never pushed an action.
    NeverPushed,
    /// No apply succeeded.
    ApplyFailed,
    /// No two applies of the same preview had the same effect.
    NeverTheSame,
    /// Too many calls exceeded a limit.
    StoppedEarly,
}

impl UntriedKind {
    /// Returns the machine-readable name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            UntriedKind::LeftOut => "left-out",
            UntriedKind::NoParams => "no-params",
            UntriedKind::ParamsRefused => "params-refused",
            UntriedKind::AlwaysFailed => "always-failed",
            UntriedKind::NeverPushed => "never-pushed",
            UntriedKind::ApplyFailed => "apply-failed",
            UntriedKind::NeverTheSame => "never-the-same",
            UntriedKind::StoppedEarly => "stopped-early",
        }
    }

    fn advice(self) -> &'static str {
        match self {
            UntriedKind::LeftOut => "correct its definition",
            UntriedKind::NoParams => "add a case for it, or have params generated",
            UntriedKind::ParamsRefused => {
                "add a case with params that fit: what a schema asks for can't always be generated"
            }
            UntriedKind::AlwaysFailed => {
                "add a case with params, and files in its workspace, that it has a result for"
            }
            UntriedKind::NeverPushed => {
                "add a case whose params, and files in its workspace, make it push; if it never \
                 changes anything, give it the trait `read-only`"
            }
            UntriedKind::ApplyFailed => {
                "add a case with params, and files in its workspace, whose apply succeeds; an apply has nothing of what its preview left in memory or in /scratch"
            }
            UntriedKind::NeverTheSame => {
                "have its apply depend on what was pushed and on the workspace, and on nothing else"
            }
            UntriedKind::StoppedEarly => "mend what breaks the property `limits`, and test again",
        }
    }

    fn is_helped_by_a_case(self) -> bool {
        match self {
            UntriedKind::NoParams
            | UntriedKind::ParamsRefused
            | UntriedKind::AlwaysFailed
            | UntriedKind::NeverPushed
            | UntriedKind::ApplyFailed => true,
            UntriedKind::LeftOut | UntriedKind::NeverTheSame | UntriedKind::StoppedEarly => false,
        }
    }
}

/// Describes a tool that the host left out.
pub fn left_out(rejected: &RejectedTool) -> Untried {
    let kind = UntriedKind::LeftOut;
    Untried {
        tool: rejected.name.clone(),
        kind,
        properties: Vec::new(),
        why: "the host left it out, so nothing of it was tried".to_owned(),
        told: Some(rejected.reason.clone()),
        advice: kind.advice().to_owned(),
        case: None,
    }
}

/// Statistics of a tool's calls.
#[derive(Debug, Default)]
pub struct Calls {
    /// The number of planned calls.
    pub planned: usize,
    /// The number of calls made.
    pub made: usize,
    /// The number of calls that the host refused because the params don't fit the tool's schema.
    pub refused: usize,
    /// The number of calls that exceeded a limit.
    pub used_up: usize,
    results: usize,
    pushed: usize,
    errors: Errors,
    apply_errors: Errors,
}

impl Calls {
    pub fn take(&mut self, seen: &Observation) {
        match &seen.preview.answer {
            Ok(_) => self.results += 1,
            Err(error) => self.errors.take(&error.message),
        }
        if let Some(applied) = &seen.applied {
            self.pushed += 1;
            let failed = applied
                .answers
                .iter()
                .filter_map(|answer: &Answer| answer.as_ref().err());
            failed.for_each(|error| self.apply_errors.take(&error.message));
        }
    }

    /// Returns the reason why no action could be checked; `None` if there were actions, or if the
    /// tool does not have to push any.
    pub fn obstacle(&self, definition: &ToolDefinition) -> Option<UntriedKind> {
        if self.made == 0 {
            Some(UntriedKind::NoParams)
        } else if self.refused == self.made {
            Some(UntriedKind::ParamsRefused)
        } else if self.results == 0 {
            Some(UntriedKind::AlwaysFailed)
        } else if self.pushed == 0 && !definition.traits.read_only {
            Some(UntriedKind::NeverPushed)
        } else {
            None
        }
    }

    /// Returns the reason why a property was not checked by any observation.
    pub fn kind_of(&self, gap: Option<Gap>, definition: &ToolDefinition) -> UntriedKind {
        match gap {
            Some(Gap::NotApplied) => UntriedKind::ApplyFailed,
            Some(Gap::NeverTheSame) => UntriedKind::NeverTheSame,
            Some(Gap::NothingPushed | Gap::NoResult) | None => self
                .obstacle(definition)
                .unwrap_or(UntriedKind::NeverPushed),
        }
    }

    /// Describes the reason as a clause about the tool.
    pub fn why(&self, kind: UntriedKind, definition: &ToolDefinition) -> String {
        match kind {
            UntriedKind::LeftOut => "the host left it out".to_owned(),
            UntriedKind::NoParams => "no params were tried".to_owned(),
            UntriedKind::ParamsRefused => match self.made {
                1 => "its params didn't fit its schema, so it was never called".to_owned(),
                made => format!("none of {made} params fit its schema, so it was never called"),
            },
            UntriedKind::AlwaysFailed => {
                let so = if definition.traits.read_only {
                    ""
                } else {
                    ", so it never pushed an action, and its apply was never tried"
                };
                match self.made - self.refused {
                    1 => format!("its only call ended in an error{so}"),
                    calls => format!("each of its {calls} calls ended in an error{so}"),
                }
            }
            UntriedKind::NeverPushed => {
                "never pushed an action, so its apply was never tried".to_owned()
            }
            UntriedKind::ApplyFailed => "no apply succeeded, so none was repeated".to_owned(),
            UntriedKind::NeverTheSame => "no two applies of the same preview did the same, so \
                 that of a fresh instance could not be compared"
                .to_owned(),
            UntriedKind::StoppedEarly => format!(
                "{} of {} tries were left out, since {} calls used up a limit",
                self.planned - self.made,
                self.planned,
                self.used_up
            ),
        }
    }

    /// Returns all parts of a tool that were not checked. `files` are the files that the author
    /// supplied, if any.
    pub fn untried(
        &self,
        definition: &ToolDefinition,
        properties: &[PropertyReport],
        files: Option<&Files>,
    ) -> Vec<Untried> {
        let of_property = |property: &PropertyReport| match &property.outcome {
            Outcome::Untried { kind, .. } => Some((*kind, property.name)),
            _ => None,
        };
        let mut names: BTreeMap<UntriedKind, Vec<&'static str>> = BTreeMap::new();
        let stopped = (self.made < self.planned).then_some(UntriedKind::StoppedEarly);
        for kind in self.obstacle(definition).into_iter().chain(stopped) {
            names.entry(kind).or_default();
        }
        for (kind, name) in properties.iter().filter_map(of_property) {
            names.entry(kind).or_default().push(name);
        }
        let untried = names.into_iter().map(|(kind, properties)| Untried {
            tool: definition.name.clone(),
            kind,
            properties,
            why: self.why(kind, definition),
            told: match kind {
                UntriedKind::AlwaysFailed => self.errors.most_frequent(),
                UntriedKind::ApplyFailed => self.apply_errors.most_frequent(),
                _ => None,
            },
            advice: kind.advice().to_owned(),
            case: kind
                .is_helped_by_a_case()
                .then(|| suggestion::case(definition, files)),
        });
        untried.collect()
    }
}

/// Maximum length of a stored error, in characters.
const MAX_ERROR_CHARS: usize = 200;

/// Error messages with their numbers of occurrences.
#[derive(Debug, Default)]
struct Errors(BTreeMap<String, usize>);

impl Errors {
    fn take(&mut self, message: &str) {
        let mut kept: String = message.chars().take(MAX_ERROR_CHARS).collect();
        if kept.len() < message.len() {
            kept.push('…');
        }
        *self.0.entry(kept).or_default() += 1;
    }

    /// Returns the most frequent message; on a tie, the first one.
    fn most_frequent(&self) -> Option<String> {
        let most = self.0.values().max()?;
        let found = self.0.iter().find(|(_, times)| *times == most);
        found.map(|(message, _)| message.clone())
    }
}

#[cfg(test)]
mod tests {
    use airlock_host::tool::resolve_tool;

    use super::*;

    #[test]
    fn the_first_thing_in_the_way_of_an_action_is_the_one_that_is_told() {
        let check = |calls: Calls, read_only: bool, expected: Option<UntriedKind>| {
            let mut definition = resolve_tool();
            definition.traits.read_only = read_only;
            assert_eq!(calls.obstacle(&definition), expected, "{calls:?}");
        };
        let calls = |made, refused, results, pushed| Calls {
            made,
            refused,
            results,
            pushed,
            ..Calls::default()
        };
        check(calls(0, 0, 0, 0), false, Some(UntriedKind::NoParams));
        check(calls(4, 4, 0, 0), false, Some(UntriedKind::ParamsRefused));
        check(calls(4, 1, 0, 0), false, Some(UntriedKind::AlwaysFailed));
        check(calls(4, 1, 0, 0), true, Some(UntriedKind::AlwaysFailed));
        check(calls(4, 1, 2, 0), false, Some(UntriedKind::NeverPushed));
        check(calls(4, 1, 2, 0), true, None);
        check(calls(4, 1, 2, 1), false, None);
    }

    #[test]
    fn the_error_that_came_most_often_is_told() {
        let mut errors = Errors::default();
        assert_eq!(errors.most_frequent(), None);
        for message in ["once", "twice", "twice"] {
            errors.take(message);
        }
        assert_eq!(errors.most_frequent().as_deref(), Some("twice"));
    }

    #[test]
    fn a_kind_has_the_same_name_everywhere() {
        for kind in [
            UntriedKind::LeftOut,
            UntriedKind::NoParams,
            UntriedKind::ParamsRefused,
            UntriedKind::AlwaysFailed,
            UntriedKind::NeverPushed,
            UntriedKind::ApplyFailed,
            UntriedKind::NeverTheSame,
            UntriedKind::StoppedEarly,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
