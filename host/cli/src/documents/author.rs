//! Projects: `new`, `build` and `test`.

use airlock_author::new::{Project, Updated};
use airlock_test_kit::Report;
use schemars::JsonSchema;
use serde::Serialize;

/// What `new` did.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ProjectReport<'a> {
    New(NewProject<'a>),
    Update(SdkUpdate<'a>),
}

/// A project that was created.
#[derive(Serialize, JsonSchema)]
pub struct NewProject<'a> {
    /// The commands that set up, build and test the project, and call its tool.
    commands: &'a [String],
    /// The project's files, without those of its SDK.
    files: &'a [String],
    /// The project's folder.
    path: String,
    /// The folder of its SDK in the project; null if the project has no copy.
    sdk: Option<&'a str>,
}

/// An update of a project's SDK, of `new --update-sdk`.
#[derive(Serialize, JsonSchema)]
pub struct SdkUpdate<'a> {
    /// The previous version; null if there was none.
    before: Option<&'a str>,
    /// True if any file changed.
    changed: bool,
    /// The commands that make the project use the new SDK.
    commands: &'a [String],
    /// The new version.
    version: &'a str,
}

/// A component that was built.
#[derive(Serialize, JsonSchema)]
pub struct BuildReport<'a> {
    pub digest: String,
    pub language: &'a str,
    /// The project's name.
    pub name: &'a str,
    /// The path of the component.
    pub path: String,
    /// The SDK, if the project names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sdk: Option<SdkVersion<'a>>,
    /// The size of the component in bytes.
    pub size: usize,
    /// The names of the tools.
    pub tools: Vec<&'a str>,
    /// The project's version, if it has one.
    pub version: Option<&'a str>,
}

/// A version of an SDK.
#[derive(Serialize, JsonSchema)]
pub struct SdkVersion<'a> {
    pub name: &'a str,
    pub version: &'a str,
}

/// The results of a test.
#[derive(Serialize, JsonSchema)]
pub struct TestReport<'a> {
    /// True if the component was just built.
    pub built: bool,
    /// The path of the component.
    pub component: &'a str,
    pub counts: TestCounts,
    pub digest: String,
    /// True if no case and no property failed.
    pub held: bool,
    /// The plugin's name.
    pub name: &'a str,
    /// True if the test passed, which with `--strict` requires that everything was tried.
    pub passed: bool,
    pub report: &'a Report,
    /// True for `--strict`.
    pub strict: bool,
}

/// The numbers of cases, and of properties by outcome.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestCounts {
    broken: usize,
    broken_cases: usize,
    cases: usize,
    held: usize,
    not_applicable: usize,
    untried: usize,
}

impl<'a> From<&'a Project> for ProjectReport<'a> {
    fn from(project: &'a Project) -> Self {
        Self::New(NewProject {
            commands: &project.commands,
            files: &project.files,
            path: project.folder.display().to_string(),
            sdk: project.sdk,
        })
    }
}

impl<'a> From<&'a Updated> for ProjectReport<'a> {
    fn from(updated: &'a Updated) -> Self {
        Self::Update(SdkUpdate {
            before: updated.before.as_deref(),
            changed: updated.changed,
            commands: &updated.commands,
            version: updated.version,
        })
    }
}

impl From<&Report> for TestCounts {
    fn from(report: &Report) -> Self {
        let properties = report.counts();
        Self {
            broken: properties.broken,
            broken_cases: report.broken_cases(),
            cases: report.cases.len(),
            held: properties.held,
            not_applicable: properties.not_applicable,
            untried: properties.untried,
        }
    }
}
