//! The whole examination of a plugin.

use std::time::Instant;

use airlock_host::Plugin;
use airlock_host::tool::ToolDefinition;
use serde_json::json;

use super::HarnessError;
use super::case::{self, Cases};
use super::files::{Entry, Files};
use super::generate::Generator;
use super::notes::{self, Notes};
use super::observe::{Observation, Sample, observe};
use super::property::{self, Breach, Property, Tool, Verdict};
use super::report::{CaseReport, Outcome, PropertyReport, Report, ToolReport};
use super::schema::Schema;
use super::shrink::shrink;

/// A tool that used up a limit so often is not tried any more: each time may take as long as a call
/// may.
const ENOUGH: usize = 3;

/// How it is done.
pub struct Settings<'a> {
    /// What the author wrote.
    pub cases: &'a [Cases],
    /// How many params are generated for each tool.
    pub tries: usize,
    /// What they are generated from: the same again gives the same params.
    pub seed: u64,
    /// Only this tool.
    pub tool: Option<&'a str>,
    /// Told what is being done.
    pub tell: &'a dyn Fn(String),
}

/// Tries everything.
///
/// # Errors
/// Where the host fails; what a tool does is in the report.
pub async fn examine(plugin: &Plugin, settings: &Settings<'_>) -> Result<Report, HarnessError> {
    let wanted = |name: &str| settings.tool.is_none_or(|tool| tool == name);
    let mut report = Report {
        seed: settings.seed,
        cases: Vec::new(),
        plugin: vec![definitions(plugin).await?],
        tools: Vec::new(),
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
    for definition in plugin.tools().filter(|tool| wanted(&tool.name)) {
        let mut examination = Examination::of(plugin, definition, settings);
        report.tools.push(examination.run().await?);
        report.notes.extend(examination.notes.finish());
    }
    Ok(report)
}

/// Asked of the plugin as a whole, since the answer is for all tools.
async fn definitions(plugin: &Plugin) -> Result<PropertyReport, HarnessError> {
    let (tools, rejected) = plugin.ask_again().await?;
    let told = |tools: &[&ToolDefinition], rejected: &[_]| {
        serde_json::to_string_pretty(&json!({"tools": tools, "leftOut": rejected}))
            .unwrap_or_default()
    };
    let expected = told(&plugin.tools().collect::<Vec<_>>(), plugin.rejected());
    let came = told(&tools.iter().collect::<Vec<_>>(), &rejected);
    let outcome = match expected == came {
        true => Outcome::Held { tries: 1 },
        false => Outcome::Broken {
            tries: 1,
            breach: Breach { expected, came },
            example: None,
        },
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
    notes: Notes,
}

/// What was seen of one property so far.
#[derive(Default)]
struct Tally {
    held: usize,
    broken: usize,
    first: Option<(Sample, Breach)>,
    untried: Option<&'static str>,
}

impl Tally {
    /// A try left the property untried. That nothing was pushed is true of a tool only where no try
    /// has another reason.
    fn leave_untried(&mut self, reason: &'static str) {
        match reason {
            property::NOTHING_PUSHED => _ = self.untried.get_or_insert(reason),
            _ => self.untried = Some(reason),
        }
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
            notes: Notes::about(&definition.name, definition.traits.deferrable),
        }
    }

    async fn run(&mut self) -> Result<ToolReport, HarnessError> {
        let begun = Instant::now();
        let name = &self.tool.definition.name;
        let samples = self.samples();
        let planned = samples.len();
        let (mut tries, mut refused, mut used_up) = (0, 0, 0);
        for sample in samples {
            if used_up == ENOUGH {
                break;
            }
            tries += 1;
            (self.settings.tell)(format!("{name}: try {tries} of {planned}"));
            let observation = observe(self.plugin, &sample).await?;
            let answer = &observation.preview.answer;
            if answer.as_ref().is_err_and(|error| error.is_refusal()) {
                refused += 1;
                continue;
            }
            if answer.as_ref().is_err_and(|error| error.is_limit()) {
                used_up += 1;
            }
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
        Ok(ToolReport {
            tool: name.clone(),
            tries,
            refused,
            seconds: begun.elapsed().as_secs_f64(),
            properties,
        })
    }

    /// What the author wrote, then what is generated.
    fn samples(&self) -> Vec<Sample> {
        let name = &self.tool.definition.name;
        let cases = self.settings.cases.iter().flat_map(|cases| &cases.cases);
        let written = cases.filter(|case| case.tool == *name).map(|case| Sample {
            tool: name.clone(),
            params: case.params.0.clone(),
            files: case.files.clone(),
        });
        let files = self
            .settings
            .cases
            .iter()
            .find_map(|cases| cases.files.clone());
        let files = files.unwrap_or_else(usual_files);
        let words = words(&files);
        let mut generator = Generator::new(self.tool.definition, &words, self.settings.seed);
        let made_up = (0..self.settings.tries).map(|_| Sample {
            tool: name.clone(),
            params: generator.draw(),
            files: files.clone(),
        });
        written.chain(made_up).collect()
    }

    fn count(&mut self, sample: &Sample, observation: &Observation) {
        for (property, tally) in property::ALL.iter().zip(&mut self.tallies) {
            match property.judge(&self.tool, observation) {
                Verdict::Held => tally.held += 1,
                Verdict::Untried(reason) => tally.leave_untried(reason),
                Verdict::Broken(breach) => {
                    tally.broken += 1;
                    tally.first.get_or_insert_with(|| (sample.clone(), breach));
                }
            }
        }
    }

    async fn outcome(&self, property: &Property, tally: Tally) -> Result<Outcome, HarnessError> {
        let Some(first) = tally.first else {
            return Ok(match (tally.held, tally.untried) {
                (0, reason) => Outcome::Untried {
                    reason: reason.unwrap_or("no params fit its schema").to_owned(),
                },
                (tries, _) => Outcome::Held { tries },
            });
        };
        let (sample, mut breach) = first;
        let smallest = shrink(sample, async |sample: &Sample| {
            let observation = observe(self.plugin, sample).await?;
            let verdict = property.judge(&self.tool, &observation);
            Ok::<_, HarnessError>(match verdict {
                Verdict::Broken(came) => {
                    breach = came;
                    true
                }
                Verdict::Held | Verdict::Untried(_) => false,
            })
        })
        .await?;
        Ok(Outcome::Broken {
            tries: tally.broken,
            breach,
            example: Some(smallest.into()),
        })
    }
}

/// A few files for tools that look for some.
fn usual_files() -> Files {
    let mut files = Files::default();
    for (path, contents) in [
        ("a.txt", "one\ntwo\nthree\n"),
        ("b.md", "# Title\n\nSome *text*.\n"),
        ("data.json", "{\"name\": \"value\", \"list\": [1, 2, 3]}\n"),
        ("empty", ""),
        ("src/main.rs", "fn main() {\n    let hello = 1;\n}\n"),
        ("with space.txt", "a\tb\r\nc"),
    ] {
        files.add_file(path, contents);
    }
    files
}

/// What a tool may look for in these files: their names, and the words in them.
fn words(files: &Files) -> Vec<String> {
    const MAX_WORDS: usize = 64;
    let mut words: Vec<String> = files.paths().map(str::to_owned).collect();
    for (_, entry) in files.iter() {
        if let Entry::File(contents) = entry
            && let Ok(text) = std::str::from_utf8(contents)
        {
            words.extend(text.split_whitespace().take(4).map(str::to_owned));
        }
    }
    words.truncate(MAX_WORDS);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_nothing_was_pushed_is_told_only_where_no_try_has_another_reason() {
        let check = |reasons: &[&'static str], told| {
            let mut tally = Tally::default();
            for reason in reasons {
                tally.leave_untried(reason);
            }
            assert_eq!(tally.untried, Some(told), "{reasons:?}");
        };
        let nothing = property::NOTHING_PUSHED;
        check(&[nothing, nothing], nothing);
        check(&["volatile", nothing], "volatile");
        check(&[nothing, "volatile", nothing], "volatile");
    }
}
