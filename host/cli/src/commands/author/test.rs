//! `airlock test`: the test kit for authors.

mod breach;
mod find;
mod junit;
mod text;
mod untried;

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use airlock_desk::lock::Locks;
use airlock_host::{Error, Limits, Plugin};
use airlock_render::shell;
use airlock_test_kit::{Cases, HarnessError, Settings, examine};

use crate::documents::author::TestReport;
use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;
use find::TestSubject;

/// The default number of generated params.
pub const TRIES: u32 = 64;

/// The arguments of the command.
pub struct Request {
    /// A component's file, the name of a bundled plugin, or a project's folder.
    pub subject: PathBuf,
    /// Files with cases, if not the project's.
    pub cases: Vec<PathBuf>,
    /// True to test a project's component without building it.
    pub no_build: bool,
    /// The only tool to test, if set.
    pub tool: Option<String>,
    pub tries: u32,
    /// The seed. Random by default.
    pub seed: Option<u64>,
    pub limits: Limits,
    /// The file for the report as JUnit XML.
    pub junit: Option<PathBuf>,
    /// True if untried properties count as broken.
    pub strict: bool,
}

pub async fn test(request: &Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let found = find::find(request, &interrupt, &progress).await?;
    let loaded = load::load(
        &found.component,
        &Locks::default(),
        request.limits.clone(),
        &interrupt,
        &progress,
    )
    .await?;
    let Some(plugin) = loaded.into_plugin() else {
        let message = "`airlock test` doesn't test bundled tools";
        return Err(Failure::usage(message).with_hint("name a project's folder or a component"));
    };
    let cases = read_cases(&found, &plugin)?;
    check_tool(request, &plugin)?;
    let settings = Settings {
        cases: &cases,
        tries: request.tries as usize,
        seed: request.seed.unwrap_or_else(random_seed),
        tool: request.tool.as_deref(),
        tell: &|what| progress.say(&what),
    };
    let examining = examine(&plugin, &settings);
    let examining = progress.during(format!("Testing {}…", plugin.name()), examining);
    let Some(report) = interrupt.token().run_until_cancelled(examining).await else {
        return Err(Failure::interrupted());
    };
    let report = report?;
    out.show(&text::block(&found, &plugin, &report, request.strict));
    out.line(format_args!(
        "The same again: {}",
        again(request, report.seed)
    ));
    if let Some(path) = &request.junit {
        let xml = junit::xml(&plugin, &report, request.strict)?;
        fs::write(path, xml).map_err(|error| {
            Failure::host(format!("can't write {}: {error}", path.display()))
                .with_hint("`--junit FILE` names a file that can be written")
        })?;
    }
    let passed = report.passed() && (!request.strict || report.untried.is_empty());
    out.json(&TestReport {
        built: found.built,
        component: &found.component.to_string_lossy(),
        counts: (&report).into(),
        digest: plugin.digest().to_string(),
        held: report.passed(),
        name: plugin.name(),
        passed,
        report: &report,
        strict: request.strict,
    });
    Ok(if passed { Exit::Done } else { Exit::Failed })
}

fn read_cases(found: &TestSubject, plugin: &Plugin) -> Result<Vec<Cases>, Failure> {
    let files = found.cases.iter();
    files
        .map(|file| {
            Cases::read(file, plugin).map_err(|problem| {
                Failure::new(Exit::Usage, "invalid-cases", problem)
                    .with_hint("`airlock test --help` has the format")
            })
        })
        .collect()
}

fn check_tool(request: &Request, plugin: &Plugin) -> Result<(), Failure> {
    let Some(name) = &request.tool else {
        return Ok(());
    };
    let known: Vec<&str> = plugin.tools().map(|tool| tool.name.as_str()).collect();
    if known.contains(&name.as_str()) {
        Ok(())
    } else {
        Err(Failure::from(Error::unknown_tool(name, known)))
    }
}

/// Returns the command that generates the same params for the same files.
fn again(request: &Request, seed: u64) -> String {
    let mut command = format!("airlock test {}", quoted(&request.subject));
    for cases in &request.cases {
        command.push_str(&format!(" --cases {}", quoted(cases)));
    }
    if let Some(tool) = &request.tool {
        command.push_str(&format!(" --tool {tool}"));
    }
    if request.strict {
        command.push_str(" --strict");
    }
    if request.no_build {
        command.push_str(" --no-build");
    }
    if request.tries != TRIES {
        command.push_str(&format!(" --tries {}", request.tries));
    }
    format!("{command} --seed {seed}")
}

fn quoted(path: &Path) -> String {
    shell::quote(&path.to_string_lossy()).to_string()
}

/// Returns a seed that is short enough to type.
fn random_seed() -> u64 {
    RandomState::new().hash_one(0) % 1_000_000
}

impl From<HarnessError> for Failure {
    fn from(trouble: HarnessError) -> Self {
        match trouble {
            HarnessError::Host(error) => error.into(),
            HarnessError::Load(error) => error.into(),
            other => Failure::host(other.to_string()).with_hint(
                "tries are made in the system's folder for temporary files; TMPDIR names another",
            ),
        }
    }
}
