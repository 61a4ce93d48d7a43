//! Verdicts of rules: `policy explain`.

use std::path::Path;

use airlock_desk::approval::Spent;
use airlock_rules::{Because, By, ControlFile, Judgement, Totals, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// What `policy explain` says of an action or of a path.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PolicyExplanation<'a> {
    Action(ActionVerdicts<'a>),
    Path(PathVerdicts<'a>),
}

/// The verdicts about an action.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionVerdicts<'a> {
    /// The action's id.
    pub action: &'a str,
    /// The budget of the last hour; null if there is none.
    pub budget: Option<BudgetReport>,
    /// The verdict on the command line, without a terminal.
    pub command_line: JudgementReport<'a>,
    /// The action's label.
    pub label: &'a str,
    /// The verdict on a model's apply.
    pub model: JudgementReport<'a>,
}

/// The verdicts about a path.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathVerdicts<'a> {
    /// True if builds or tests run the file.
    pub builds: bool,
    /// The verdict on the command line, without a terminal.
    pub command_line: JudgementReport<'a>,
    /// The control files that the path is.
    pub control_files: Vec<ControlFileReport<'a>>,
    /// The verdict on a model's apply.
    pub model: JudgementReport<'a>,
    /// The path below the workspace.
    pub path: &'a str,
    pub workspace: &'a Path,
}

/// A row of the table of control files.
#[derive(Serialize, JsonSchema)]
pub struct ControlFileReport<'a> {
    /// The effect of the file, as a clause.
    pub does: &'a str,
    pub name: &'a str,
    /// The date of the last comparison with the source.
    pub reviewed: &'a str,
    /// The page that documents the file's effect.
    pub source: &'a str,
}

/// A verdict, and its reasons.
#[derive(Serialize, JsonSchema)]
pub struct JudgementReport<'a> {
    /// The reasons, strictest first.
    pub because: Vec<ReasonReport<'a>>,
    /// The total of the changes; null if the host has not seen them.
    pub changes: Option<TotalsReport>,
    pub verdict: Verdict,
}

/// A reason for a verdict.
#[derive(Serialize, JsonSchema)]
pub struct ReasonReport<'a> {
    pub by: ReasonKind,
    /// The number of paths; 0 if the reason concerns the whole action.
    pub count: u64,
    /// The name of the rule or of the control file; null for other reasons.
    pub name: Option<&'a str>,
    /// The first of the paths.
    pub paths: &'a [String],
    /// The reason for people.
    pub text: String,
    /// The verdict that this reason alone would give.
    pub verdict: Verdict,
}

/// The source of a reason.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    Rule,
    WorkspaceRule,
    ControlFile,
    Unverified,
    TooMuchInside,
    TooManyFiles,
    UnknownToGit,
    Budget,
    Default,
}

/// Totals of changes.
#[derive(Serialize, JsonSchema)]
pub struct TotalsReport {
    pub bytes: u64,
    pub deletions: u64,
    pub files: u64,
}

/// The limits of an hour, and the total of the last one. A limit that isn't set is null.
#[derive(Serialize, JsonSchema)]
pub struct BudgetReport {
    pub bytes: Option<u64>,
    pub deletions: Option<u64>,
    pub files: Option<u64>,
    pub spent: TotalsReport,
}

impl<'a> From<&'a ControlFile> for ControlFileReport<'a> {
    fn from(file: &'a ControlFile) -> Self {
        Self {
            does: file.class.does(),
            name: &file.name,
            reviewed: &file.reviewed,
            source: &file.source,
        }
    }
}

impl<'a> From<&'a Judgement> for JudgementReport<'a> {
    fn from(judgement: &'a Judgement) -> Self {
        Self {
            because: judgement.because.iter().map(ReasonReport::from).collect(),
            changes: judgement.totals.map(TotalsReport::from),
            verdict: judgement.verdict,
        }
    }
}

impl<'a> From<&'a Because> for ReasonReport<'a> {
    fn from(because: &'a Because) -> Self {
        let (by, name) = match &because.by {
            By::Rule(name) => (ReasonKind::Rule, Some(name)),
            By::WorkspaceRule(name) => (ReasonKind::WorkspaceRule, Some(name)),
            By::Control(name) => (ReasonKind::ControlFile, Some(name)),
            By::Unverified => (ReasonKind::Unverified, None),
            By::TooMuchInside => (ReasonKind::TooMuchInside, None),
            By::TooManyFiles => (ReasonKind::TooManyFiles, None),
            By::UnknownToGit => (ReasonKind::UnknownToGit, None),
            By::Budget(_) => (ReasonKind::Budget, None),
            _ => (ReasonKind::Default, None),
        };
        Self {
            by,
            count: because.count,
            name: name.map(String::as_str),
            paths: &because.paths,
            text: because.to_string(),
            verdict: because.verdict,
        }
    }
}

impl From<Totals> for TotalsReport {
    fn from(totals: Totals) -> Self {
        Self {
            bytes: totals.bytes,
            deletions: totals.deletions,
            files: totals.files,
        }
    }
}

impl From<Spent> for BudgetReport {
    fn from(Spent { budget, spent, .. }: Spent) -> Self {
        Self {
            bytes: budget.bytes.map(|it| it.0),
            deletions: budget.deletions,
            files: budget.files,
            spent: spent.into(),
        }
    }
}
