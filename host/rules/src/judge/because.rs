//! A verdict, and what it comes from.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use crate::control::{OUTSIDE, SHORT_NAME, built_in};
use crate::rule::{Rule, Verdict};
use crate::totals::Totals;

/// What is to be done with an action, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement {
    /// The strictest of all reasons.
    pub verdict: Verdict,
    /// What it comes from, the strictest first; never empty.
    pub because: Vec<Because>,
    /// How much it changes; none where the host has not seen it.
    pub totals: Option<Totals>,
}

/// One reason, with the paths that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Because {
    /// What it alone would have done.
    pub verdict: Verdict,
    /// Who says so.
    pub by: By,
    /// How many paths it is about: both of a rename, and all that are in a moved directory. None
    /// where it is about the action.
    pub count: u64,
    /// The first of them.
    pub paths: Vec<String>,
}

/// What a verdict comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum By {
    /// A rule of the operator's.
    Rule(String),
    /// A rule in the workspace's own file.
    WorkspaceRule(String),
    /// It is a control file, as it is called.
    Control(String),
    /// The host has not seen what it does.
    Unverified,
    /// A directory is moved that holds more than the host looks through.
    TooMuchInside,
    /// The workspace has more files than the host looks through for links.
    TooManyFiles,
    /// The workspace has more git repositories than git could be asked about in time.
    UnknownToGit,
    /// More than the budget has for the hour.
    Budget(String),
    /// No rule is about it.
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

/// Quotes a path or a name as reasons do. They come from tools and files: nothing in them ends a
/// line or a word.
pub fn quoted(text: &str) -> String {
    format!(
        "`{}`",
        text.escape_debug().to_string().replace('`', "\\u{60}")
    )
}

/// How many paths are named.
const NAMED: usize = 3;

/// What is said of an action, path by path.
#[derive(Default)]
pub(super) struct Collected(BTreeMap<(Reverse<Verdict>, By), (u64, Vec<String>)>);

impl Collected {
    /// The path is empty where it is about the action.
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
    /// The first reason: what the verdict comes from.
    pub fn first(&self) -> Option<&Because> {
        self.because.first()
    }

    /// The same, where the budget of the hour doesn't have that much.
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

    /// The rules that let an action through, by name, where nothing but rules did.
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

/// A clause, as in: `.git/hooks/x` is a control file (kind: .git), which can run commands when
/// version control reads it.
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
                match self.count > 1 {
                    true => write!(
                        f,
                        "{what} are control files (kind: {name}), each of which {does}"
                    ),
                    false => write!(f, "{what} is a control file (kind: {name}), which {does}"),
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
