//! Verdicts and their reasons.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use crate::control::{OUTSIDE, SHORT_NAME, built_in};
use crate::rule::{Rule, Verdict};
use crate::totals::Totals;

/// A verdict about an action, and its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// The strictest of all reasons.
    pub verdict: Verdict,
    /// The reasons, strictest first; never empty.
    pub because: Vec<Because>,
    /// The size of the changes; `None` if the host has not seen them.
    pub totals: Option<Totals>,
}

/// A reason, with the paths that it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Because {
    /// The verdict that this reason alone would give.
    pub verdict: Verdict,
    /// The source of the reason.
    pub by: By,
    /// The number of paths: both of a rename, and everything in a moved directory. 0 if the
    /// reason concerns the whole action.
    pub count: u64,
    /// The first of these paths.
    pub paths: Vec<String>,
}

/// The source of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum By {
    /// A rule of the operator.
    Rule(String),
    /// A rule in the workspace's own file.
    WorkspaceRule(String),
    /// A control file, by name.
    Control(String),
    /// The host has not seen the effects.
    Unverified,
    /// A moved directory holds more than the host looks through.
    TooMuchInside,
    /// The workspace has more files than the host looks through for links.
    TooManyFiles,
    /// The workspace has more git repositories than git could be asked about in time.
    UnknownToGit,
    /// The action exceeds the remaining budget of the hour.
    Budget(String),
    /// The default, because no rule matches.
    Default,
}

impl By {
    pub(super) fn of(rule: Option<&Rule>, is_workspace: bool) -> Self {
        match (rule, is_workspace) {
            (Some(rule), false) => By::Rule(rule.name.clone()),
            (Some(rule), true) => By::WorkspaceRule(rule.name.clone()),
            (None, _) => By::Default,
        }
    }
}

/// Quotes a path or a name for a reason. They come from tools and files and must not end a line or
/// a word.
pub fn quoted(text: &str) -> String {
    format!(
        "`{}`",
        text.escape_debug().to_string().replace('`', "\\u{60}")
    )
}

/// The number of paths that a reason names.
const NAMED: usize = 3;

/// The verdicts about an action, by path.
#[derive(Default)]
pub(super) struct Collected(BTreeMap<(Reverse<Verdict>, By), (u64, Vec<String>)>);

impl Collected {
    /// Adds a verdict. `path` is empty if it concerns the whole action.
    pub fn add(&mut self, verdict: Verdict, by: By, path: &str) {
        let key = (Reverse(verdict), by);
        let (count, paths) = self.0.entry(key).or_default();
        if !path.is_empty() {
            *count += 1;
            if paths.len() < NAMED {
                paths.push(path.to_owned());
            }
        }
    }

    pub fn judgement(self, totals: Option<Totals>) -> Judgement {
        let because =
            |((verdict, by), (count, paths)): ((Reverse<Verdict>, By), (u64, Vec<String>))| {
                Because {
                    verdict: verdict.0,
                    by,
                    count,
                    paths,
                }
            };
        let because: Vec<_> = self.0.into_iter().map(because).collect();
        Judgement {
            verdict: because
                .first()
                .map_or(Verdict::AskAtTerminal, |it| it.verdict),
            because,
            totals,
        }
    }
}

impl Judgement {
    /// Returns the first reason, which decides the verdict.
    pub fn first(&self) -> Option<&Because> {
        self.because.first()
    }

    /// Returns the verdict for an action that exceeds the remaining budget of the hour.
    #[must_use]
    pub fn beyond_budget(mut self, what: impl Into<String>) -> Self {
        let because = Because {
            verdict: Verdict::Ask,
            by: By::Budget(what.into()),
            count: 0,
            paths: Vec::new(),
        };
        if self.verdict < Verdict::Ask {
            self.verdict = Verdict::Ask;
            self.because.insert(0, because);
        }
        self
    }

    /// Returns the names of the rules that allowed the action, if only rules did.
    pub fn let_through_by(&self) -> Option<Vec<&str>> {
        if self.verdict != Verdict::Allow {
            return None;
        }
        let mut names = Vec::new();
        for because in &self.because {
            match &because.by {
                By::Rule(name) => names.push(name.as_str()),
                By::WorkspaceRule(_) => {}
                _ => return None,
            }
        }
        Some(names)
    }
}

/// Formats the reason as a clause, as in: `.git/hooks/x` is a control file (kind: .git), which can
/// run commands when version control reads it.
impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.paths.first(), self.count) {
            (None, _) => "the action".to_owned(),
            (Some(path), 1) => quoted(path),
            (Some(path), count) => format!("{} and {} more", quoted(path), count - 1),
        };
        let is = if self.count > 1 { "are" } else { "is" };
        match &self.by {
            By::Rule(name) => write!(f, "{what}: rule {}", quoted(name)),
            By::WorkspaceRule(name) => {
                write!(f, "{what}: rule {} of the workspace", quoted(name))
            }
            By::Control(name) if name == OUTSIDE => {
                write!(f, "{what} {is} a link that leads out of the workspace")
            }
            By::Control(name) if name == SHORT_NAME => {
                write!(
                    f,
                    "{what} {is} a short name, which is another name of a file on Windows"
                )
            }
            By::Control(name) => {
                let known = built_in().iter().find(|it| it.name == *name);
                let does = known.map_or("is named in the configuration", |it| it.class.does());
                if self.count > 1 {
                    write!(
                        f,
                        "{what} are control files (kind: {name}), each of which {does}"
                    )
                } else {
                    write!(f, "{what} is a control file (kind: {name}), which {does}")
                }
            }
            By::Unverified => f.write_str("its effects aren't verified"),
            By::TooMuchInside => {
                write!(
                    f,
                    "{what} {is} a directory with more in it than the host looks through"
                )
            }
            By::TooManyFiles => {
                f.write_str("the workspace has more files than the host looks through for links")
            }
            By::UnknownToGit => {
                f.write_str("git didn't tell in time which files it runs in the workspace")
            }
            By::Budget(what) => write!(f, "the budget of the hour doesn't have that much: {what}"),
            By::Default => write!(f, "no rule matches {what}, so the default applies"),
        }
    }
}
