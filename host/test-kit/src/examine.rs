//! The examination of a whole plugin.

use std::time::Instant;

use airlock_host::Plugin;
use airlock_host::tool::ToolDefinition;
use serde_json::json;

use super::HarnessError;
use super::case::{self, Cases};
use super::default_workspace::default_workspace;
use super::files::Files;
use super::generate::{Generator, Vocabulary};
use super::notes::{self, Notes};
use super::observe::{Observation, observe};
use super::property::{self, Breach, Gap, Property, Tool, Verdict};
use super::report::{CaseReport, Example, Outcome, PropertyReport, Report, ToolReport};
use super::schema::Schema;
use super::shrink::shrink;
use super::untried::{self, Calls, Untried};

/// A tool is not tried any more after it exceeded a limit this many times, because each call may
/// take as long as its time limit.
const MAX_LIMIT_ERRORS: usize = 3;

/// Settings of an examination.
pub struct Settings<'a> {
    /// The author's cases.
    pub cases: &'a [Cases],
    /// The number of generated params for each tool.
    pub tries: usize,
    /// The seed for generated params. The same seed gives the same params.
    pub seed: u64,
    /// Restricts the examination to this tool.
    pub tool: Option<&'a str>,
    /// Receives progress messages.
    pub tell: &'a dyn Fn(String),
}

/// Runs all cases and tries.
///
/// # Errors
/// If the host fails. Failures of a tool are in the report.
pub async fn examine(plugin: &Plugin, settings: &Settings<'_>) -> Result<Report, HarnessError> {
    let wanted = |name: &str| settings.tool.is_none_or(|tool| tool == name);
    let mut report = Report {
        seed: settings.seed,
        cases: Vec::new(),
        plugin: vec![definitions(plugin).await?],
        tools: Vec::new(),
        untried: Vec::new(),
        notes: notes::about_imports(plugin),
    };
    let cases = settings.cases.iter().flat_map(|cases| &cases.cases);
    for case in cases.filter(|case| wanted(&case.tool)) {
        (settings.tell)(format!("Case {}", case.name));
        let begun = Instant::now();
        let breach = case::run(plugin, case).await?;
        report.cases.push(CaseReport {
            name: case.name.clone(),
            tool: case.tool.clone(),
            seconds: begun.elapsed().as_secs_f64(),
            breach,
        });
    }
    let left_out = plugin.rejected().iter();
    let left_out = left_out.filter(|rejected| wanted(&rejected.name));
    report.untried.extend(left_out.map(untried::left_out));
    for definition in plugin.tools().filter(|tool| wanted(&tool.name)) {
        let mut examination = Examination::of(plugin, definition, settings);
        report.tools.push(examination.run().await?);
        report.untried.append(&mut examination.untried);
        report.notes.extend(examination.notes.finish());
    }
    Ok(report)
}

/// Checks the plugin as a whole, because it defines all tools at once.
async fn definitions(plugin: &Plugin) -> Result<PropertyReport, HarnessError> {
    let (tools, rejected) = plugin.ask_again().await?;
    let told = |tools: &[&ToolDefinition], rejected: &[_]| {
        serde_json::to_string_pretty(&json!({"tools": tools, "leftOut": rejected}))
            .unwrap_or_default()
    };
    let expected = told(&plugin.tools().collect::<Vec<_>>(), plugin.rejected());
    let came = told(&tools.iter().collect::<Vec<_>>(), &rejected);
    let outcome = if expected == came {
        Outcome::Held { tries: 1 }
    } else {
        Outcome::Broken {
            tries: 1,
            breach: Breach { expected, came },
            example: None,
        }
    };
    Ok(PropertyReport {
        name: "definitions",
        about: "its definitions are the same in each instance",
        outcome,
    })
}

struct Examination<'a> {
    plugin: &'a Plugin,
    tool: Tool<'a>,
    settings: &'a Settings<'a>,
    tallies: Vec<Tally>,
    calls: Calls,
    untried: Vec<Untried>,
    notes: Notes,
}

/// The observations of one property so far.
#[derive(Default)]
struct Tally {
    held: usize,
    broken: usize,
    first: Option<(Example, Breach)>,
    /// The greatest gap of all tries. For example, a tool counts as one that pushed nothing only
    /// if no try has another reason.
    gap: Option<Gap>,
    not_applicable: Option<&'static str>,
}

impl Tally {
    fn take(&mut self, sample: &Example, verdict: Verdict) {
        match verdict {
            Verdict::Held => self.held += 1,
            Verdict::Untried(gap) => self.gap = self.gap.max(Some(gap)),
            Verdict::NotApplicable(reason) => self.not_applicable = Some(reason),
            Verdict::Broken(breach) => {
                self.broken += 1;
                self.first.get_or_insert_with(|| (sample.clone(), breach));
            }
        }
    }

    /// Returns the reason why the property did not apply. If one try has such a reason, no other
    /// try could have checked more.
    fn exempt(&self) -> Option<&'static str> {
        self.not_applicable
            .filter(|_| self.gap.is_none_or(|gap| gap == Gap::NothingPushed))
    }
}

impl<'a> Examination<'a> {
    fn of(plugin: &'a Plugin, definition: &'a ToolDefinition, settings: &'a Settings<'a>) -> Self {
        Self {
            plugin,
            tool: Tool {
                definition,
                output: definition.output.as_ref().and_then(Schema::new),
            },
            settings,
            tallies: property::ALL.iter().map(|_| Tally::default()).collect(),
            calls: Calls::default(),
            untried: Vec::new(),
            notes: Notes::about(&definition.name, definition.traits.deferrable),
        }
    }

    async fn run(&mut self) -> Result<ToolReport, HarnessError> {
        let begun = Instant::now();
        let name = &self.tool.definition.name;
        let samples = self.samples();
        let planned = samples.len();
        self.calls.planned = planned;
        for sample in samples {
            if self.calls.used_up == MAX_LIMIT_ERRORS {
                break;
            }
            self.calls.made += 1;
            let made = self.calls.made;
            (self.settings.tell)(format!("{name}: try {made} of {planned}"));
            let observation = observe(self.plugin, &sample).await?;
            let answer = &observation.preview.answer;
            if answer.as_ref().is_err_and(|error| error.is_refusal()) {
                self.calls.refused += 1;
                continue;
            }
            if answer.as_ref().is_err_and(|error| error.is_limit()) {
                self.calls.used_up += 1;
            }
            self.calls.take(&observation);
            self.notes.take(&sample, &observation);
            self.count(&sample, &observation);
        }
        let mut properties = Vec::with_capacity(property::ALL.len());
        for (property, tally) in property::ALL.iter().zip(std::mem::take(&mut self.tallies)) {
            (self.settings.tell)(format!("{name}: making the example small"));
            properties.push(PropertyReport {
                name: property.name,
                about: property.about,
                outcome: self.outcome(property, tally).await?,
            });
        }
        let (calls, files) = (&self.calls, self.given_files());
        self.untried = calls.untried(self.tool.definition, &properties, files);
        Ok(ToolReport {
            tool: name.clone(),
            tries: calls.made,
            refused: calls.refused,
            seconds: begun.elapsed().as_secs_f64(),
            properties,
        })
    }

    /// Returns the author's samples, followed by generated ones.
    fn samples(&self) -> Vec<Example> {
        let name = &self.tool.definition.name;
        let cases = self.settings.cases.iter().flat_map(|cases| &cases.cases);
        let written = cases.filter(|case| case.tool == *name).map(|case| Example {
            tool: name.clone(),
            params: case.params.0.clone(),
            files: case.files.clone(),
        });
        let files = self.given_files().cloned();
        let files = files.unwrap_or_else(default_workspace);
        let known = Vocabulary::of(&files);
        let mut generator = Generator::new(self.tool.definition, &known, self.settings.seed);
        let made_up = (0..self.settings.tries).map(|_| Example {
            tool: name.clone(),
            params: generator.draw(),
            files: files.clone(),
        });
        written.chain(made_up).collect()
    }

    /// Returns the initial files for tries with generated params, if the author set them.
    fn given_files(&self) -> Option<&'a Files> {
        let mut cases = self.settings.cases.iter();
        cases.find_map(|cases| cases.files.as_ref())
    }

    fn count(&mut self, sample: &Example, observation: &Observation) {
        for (property, tally) in property::ALL.iter().zip(&mut self.tallies) {
            tally.take(sample, property.judge(&self.tool, observation));
        }
    }

    async fn outcome(&self, property: &Property, tally: Tally) -> Result<Outcome, HarnessError> {
        let Some((sample, mut breach)) = tally.first else {
            return Ok(match tally.held {
                0 => self.not_seen(property, &tally),
                tries => Outcome::Held { tries },
            });
        };
        let smallest = shrink(sample, async |sample: &Example| {
            let observation = observe(self.plugin, sample).await?;
            let verdict = property.judge(&self.tool, &observation);
            Ok::<_, HarnessError>(match verdict {
                Verdict::Broken(came) => {
                    breach = came;
                    true
                }
                Verdict::Held | Verdict::Untried(_) | Verdict::NotApplicable(_) => false,
            })
        })
        .await?;
        Ok(Outcome::Broken {
            tries: tally.broken,
            breach,
            example: Some(smallest),
        })
    }

    /// Returns the outcome of a property that no try kept or broke.
    fn not_seen(&self, property: &Property, tally: &Tally) -> Outcome {
        let definition = self.tool.definition;
        let pushes_nothing = definition.traits.read_only && tally.gap == Some(Gap::NothingPushed);
        let exempt = property
            .exempt(&self.tool)
            .or(tally.exempt())
            .or(pushes_nothing.then_some("it is read-only, and pushes nothing"));
        match exempt {
            Some(reason) => Outcome::NotApplicable {
                reason: reason.to_owned(),
            },
            None => {
                let kind = self.calls.kind_of(tally.gap, definition);
                Outcome::Untried {
                    kind,
                    reason: self.calls.why(kind, definition),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_nothing_was_pushed_is_told_only_where_no_try_has_another_reason() {
        let sample = Example {
            tool: "it".to_owned(),
            params: json!({}),
            files: Files::default(),
        };
        let check = |verdicts: &[Verdict], gap, exempt| {
            let mut tally = Tally::default();
            for verdict in verdicts {
                tally.take(&sample, verdict.clone());
            }
            assert_eq!((tally.gap, tally.exempt()), (gap, exempt), "{verdicts:?}");
        };
        let nothing = Verdict::Untried(Gap::NothingPushed);
        let not_applied = Verdict::Untried(Gap::NotApplied);
        let volatile = Verdict::NotApplicable("volatile");
        let pushed_nothing = Some(Gap::NothingPushed);
        check(&[nothing.clone(), nothing.clone()], pushed_nothing, None);
        let some = [volatile.clone(), nothing.clone()];
        check(&some, pushed_nothing, Some("volatile"));
        let durable = [not_applied, volatile, nothing];
        check(&durable, Some(Gap::NotApplied), None);
    }
}
