//! Cases that an author writes in a TOML file.
//!
//! `airlock test --help` documents the format; keep both in sync.

mod expectation;
mod fixture;
mod json;
mod run;

use std::fs;
use std::path::Path;

use airlock_host::Plugin;
use serde::Deserialize;

use super::files::Files;
use expectation::{ExpectedAction, ExpectedAnswer, ExpectedChanges};
use fixture::Fixture;
use json::{Json, Object};

pub use run::run;

/// The contents of a case file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CaseFile {
    #[serde(default)]
    workspace: Fixture,
    #[serde(default)]
    case: Vec<CaseEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CaseEntry {
    name: String,
    tool: Option<String>,
    #[serde(default)]
    params: Object,
    workspace: Option<Fixture>,
    #[serde(default)]
    expect: ExpectedAnswer,
    /// The expected actions, topmost first: the last pushed one comes first.
    pushed: Option<Vec<ExpectedAction>>,
    #[serde(default)]
    resolve: Vec<Resolve>,
    #[serde(default)]
    changes: ExpectedChanges,
}

/// A decision about the topmost action.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Resolve {
    action: Action,
    #[serde(default = "reason")]
    reason: String,
    extra: Option<Object>,
    #[serde(default)]
    expect: ExpectedAnswer,
}

fn reason() -> String {
    "airlock test".to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Action {
    Apply,
    Discard,
}

/// The cases in a file.
#[derive(Debug)]
pub struct Cases {
    /// The initial files for tries with generated params; `None` if the case file does not set
    /// them.
    pub(crate) files: Option<Files>,
    pub(crate) cases: Vec<Case>,
}

/// A case with its files loaded.
#[derive(Debug)]
pub struct Case {
    pub name: String,
    pub tool: String,
    pub params: Json,
    pub files: Files,
    expect: ExpectedAnswer,
    pushed: Option<Vec<ExpectedAction>>,
    resolve: Vec<Resolve>,
    changes: ExpectedChanges,
}

impl Cases {
    /// Reads a case file and the folders that it names.
    ///
    /// # Errors
    /// A sentence that names the file and the position in it.
    pub fn read(file: &Path, plugin: &Plugin) -> Result<Self, String> {
        let name = file.display();
        let text =
            fs::read_to_string(file).map_err(|error| format!("can't read {name}: {error}"))?;
        let parsed: CaseFile = toml::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let in_file = |problem: String| format!("{name}: {problem}");
        let shared = parsed.workspace.files(folder).map_err(in_file)?;
        let mut cases: Vec<Case> = Vec::with_capacity(parsed.case.len());
        for entry in parsed.case {
            let label = entry.name.clone();
            let case = entry
                .ready(folder, &shared, plugin)
                .map_err(|problem| format!("{name}: case `{label}`: {problem}"))?;
            if cases.iter().any(|other| other.name == case.name) {
                return Err(format!("{name}: two cases are called `{label}`"));
            }
            cases.push(case);
        }
        Ok(Self {
            files: (!parsed.workspace.is_empty()).then_some(shared),
            cases,
        })
    }
}

impl CaseEntry {
    fn ready(self, folder: &Path, shared: &Files, plugin: &Plugin) -> Result<Case, String> {
        let tool = match self.tool {
            Some(tool) => tool,
            None => only_tool(plugin)?,
        };
        if !plugin.tools().any(|known| known.name == tool) {
            let names = names_of_tools(plugin);
            return Err(format!("there is no tool `{tool}`; there are: {names}"));
        }
        self.expect.check()?;
        for resolve in &self.resolve {
            resolve.expect.check()?;
        }
        Ok(Case {
            name: self.name,
            tool,
            params: Json(self.params.0.into()),
            files: match self.workspace {
                Some(workspace) => workspace.files(folder)?,
                None => shared.clone(),
            },
            expect: self.expect,
            pushed: self.pushed,
            resolve: self.resolve,
            changes: self.changes,
        })
    }
}

fn only_tool(plugin: &Plugin) -> Result<String, String> {
    let mut tools = plugin.tools();
    match (tools.next(), tools.next()) {
        (Some(tool), None) => Ok(tool.name.clone()),
        _ => Err(format!(
            "it names no `tool`, and there are several: {}",
            names_of_tools(plugin)
        )),
    }
}

fn names_of_tools(plugin: &Plugin) -> String {
    let names: Vec<&str> = plugin.tools().map(|tool| tool.name.as_str()).collect();
    names.join(", ")
}
