//! Judging actions by the rules.

use std::path::Path;

use airlock_model::digest::Digest;
use airlock_model::effects::{Change, ChangeKind, Effects};
use airlock_model::pattern::Pattern;

use crate::control::{Class, Control, ControlFiles, UNLISTED, built_in, is_for_builds};
use crate::plugin::PluginName;
use crate::rule::{Budget, Rule, Verdict};
use crate::surroundings::Surroundings;
use crate::totals::Totals;

mod after;
mod because;
mod touched;

use because::Collected;
pub use because::{Because, By, Judgement, quoted};
use touched::{Looked, Looking, Touched};

/// The rules of one file, or of several one after the other.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// The rules, in order. The first one that matches a path applies to it.
    pub rules: Vec<Rule>,
    /// Additional control files.
    pub control: Control,
    /// The changes that are allowed per hour.
    pub budget: Budget,
}

impl RuleSet {
    /// Returns the problems that a single line of a file doesn't show, as sentences: duplicate rule
    /// names and unknown control files.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (at, rule) in self.rules.iter().enumerate() {
            if self.rules[..at].iter().any(|it| it.name == rule.name) {
                problems.push(format!("two rules are called {:?}", rule.name));
            }
            for name in &rule.control {
                let also = self.control.also.iter().map(Pattern::as_str);
                let listed = built_in().iter().filter(|it| it.class != Class::Build);
                let listed = listed.map(|it| &*it.name).chain(UNLISTED);
                let mut known = listed.clone().chain(also);
                if !known.any(|it| it == name) {
                    let names: Vec<_> = listed.collect();
                    problems.push(format!(
                        "rule {:?} names the control file {name:?}, and there is none of this name: there are {}, and what `[control]` has in `also`",
                        rule.name,
                        names.join(", ")
                    ));
                }
            }
        }
        problems
    }
}

/// The rules that apply to a workspace.
#[derive(Debug, Clone)]
pub struct Rules {
    operator: Vec<Rule>,
    workspace: Vec<Rule>,
    control: ControlFiles,
    budget: Budget,
}

/// An action to judge.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The tool that was called, regardless of what its plugin says.
    pub tool: &'a str,
    /// The plugin of the tool, by its bytes.
    pub plugin: Digest,
    /// The workspace's absolute path.
    pub workspace: Option<&'a Path>,
    /// The effects, if the host saw them.
    pub effects: Option<&'a Effects>,
}

impl Rules {
    /// Combines the operator's rules with those of the workspace, which can only narrow them. An
    /// action is judged by both, and the stricter verdict counts. The workspace's control files and
    /// budget can only narrow too.
    ///
    /// `own` lists additional paths below the workspace that belong to Airlock.
    pub fn new<'a>(
        operator: RuleSet,
        workspace: RuleSet,
        own: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let also = [operator.control, workspace.control];
        let control = ControlFiles::new(&also, own);
        Self {
            budget: operator.budget.narrowed_by(workspace.budget),
            operator: operator.rules,
            workspace: workspace.rules,
            control,
        }
    }

    /// Returns the changes that are allowed per hour.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Judges an action.
    ///
    /// `default` applies if no rule does. `surroundings` is the workspace before the action.
    pub fn judge(
        &self,
        subject: &Subject<'_>,
        default: Verdict,
        surroundings: &dyn Surroundings,
    ) -> Judgement {
        let mut collected = Collected::default();
        let effects = subject.effects.filter(|effects| effects.verified);
        let operator = about_action(&self.operator, subject);
        let workspace = about_action(&self.workspace, subject);
        let Some(effects) = effects else {
            unseen(&operator, Some(default), &mut collected);
            unseen(&workspace, None, &mut collected);
            return collected.judgement(None);
        };
        let changes = &effects.changes;
        let looking = Looking::new(changes, surroundings, subject.workspace, &self.control);
        let changes: Vec<Looked<'_>> = changes.iter().map(|it| looking.look(it)).collect();
        let mut totals = Totals::default();
        for looked in &changes {
            totals.add(looked.change, looked.inside.entries.len() as u64);
            if !looked.inside.is_all {
                // The directory holds more files than the host looks through.
                totals.files = u64::MAX;
            }
        }
        let judging = Judging {
            default,
            operator: Fitting::new(operator, &totals),
            workspace: Fitting::new(workspace, &totals),
        };
        if changes.is_empty() {
            judging.nothing(&mut collected);
        } else if !surroundings.links().is_all {
            collected.add(Verdict::AskAtTerminal, By::TooManyFiles, "");
        } else if !surroundings.of_git().is_all {
            collected.add(Verdict::AskAtTerminal, By::UnknownToGit, "");
        }
        for looked in &changes {
            let touched = looking.touched(looked);
            for touched in touched.iter().flatten() {
                judging.path(touched, &mut collected);
            }
            if !looked.inside.is_all || touched.is_none() {
                let by = By::TooMuchInside;
                collected.add(Verdict::AskAtTerminal, by, &looked.change.path);
            }
        }
        collected.judgement(Some(totals))
    }
}

/// The rules whose limits the action stays within.
struct Judging<'r> {
    default: Verdict,
    operator: Fitting<'r>,
    workspace: Fitting<'r>,
}

impl Judging<'_> {
    fn nothing(&self, collected: &mut Collected) {
        let rule = self.operator.first_about_nothing();
        let verdict = rule.map_or(self.default, |rule| rule.then);
        collected.add(verdict, By::of(rule, false), "");
        if let Some(rule) = self.workspace.first_about_nothing() {
            collected.add(rule.then, By::of(Some(rule), true), "");
        }
    }

    fn path(&self, touched: &Touched<'_>, collected: &mut Collected) {
        let path = &*touched.path;
        let rule = self.operator.first_about(touched);
        let verdict = rule.map_or(self.default, |rule| rule.then);
        // A rule that allows a path doesn't have to allow each link to it as well.
        if !touched.is_alias || rule.is_some() && verdict > Verdict::Allow {
            collected.add(verdict, By::of(rule, false), path);
        }
        let control = touched.control.as_deref();
        if let Some(control) = control.filter(|it| !names(rule, it)) {
            let by = By::Control(control.to_owned());
            collected.add(Verdict::AskAtTerminal, by, path);
        }
        if let Some(rule) = self.workspace.first_about(touched) {
            collected.add(rule.then, By::of(Some(rule), true), path);
        }
    }
}

fn about_action<'r>(rules: &'r [Rule], subject: &Subject<'_>) -> Vec<&'r Rule> {
    fn any<T>(list: &[T], is: impl Fn(&T) -> bool) -> bool {
        list.is_empty() || list.iter().any(is)
    }
    let plugin = PluginName::Digest(subject.plugin);
    let is_about = |rule: &Rule| {
        any(&rule.tools, |it| it == subject.tool)
            && any(&rule.plugins, |it| *it == plugin)
            && any(&rule.workspaces, |it| {
                subject.workspace.is_some_and(|path| path == Path::new(it))
            })
    };
    rules.iter().filter(|rule| is_about(rule)).collect()
}

/// Treats effects that the host has not seen as the worst possible: the strictest of all rules
/// applies, up to the first one that covers unverified actions explicitly.
fn unseen(rules: &[&Rule], default: Option<Verdict>, collected: &mut Collected) {
    let is_workspace = default.is_none();
    for rule in rules {
        if rule.unverified || rule.then > Verdict::Allow {
            collected.add(rule.then, By::of(Some(rule), is_workspace), "");
        }
        if rule.unverified {
            return;
        }
    }
    if let Some(default) = default {
        collected.add(default.max(Verdict::AskAtTerminal), By::Unverified, "");
    }
}

/// The rules whose limits fit an action.
struct Fitting<'r>(Vec<&'r Rule>);

impl<'r> Fitting<'r> {
    fn new(rules: Vec<&'r Rule>, totals: &Totals) -> Self {
        let fits = |rule: &&Rule| {
            rule.max_files.is_none_or(|most| totals.files <= most)
                && rule.max_bytes.is_none_or(|most| totals.bytes <= most.0)
                && rule
                    .max_deletions
                    .is_none_or(|most| totals.deletions <= most)
        };
        Self(rules.into_iter().filter(fits).collect())
    }

    /// Returns the first rule that is about a path. A rule that doesn't name a control file can't
    /// allow one, but may be stricter.
    fn first_about(&self, touched: &Touched<'_>) -> Option<&'r Rule> {
        let path = &*touched.path;
        let control = touched.control.as_deref();
        let is_about = |rule: &&&Rule| {
            (rule.paths.is_empty() || rule.paths.iter().any(|it| it.matches(path)))
                && is_of_kinds(rule, touched.change)
                && rule
                    .executable
                    .is_none_or(|it| it == (touched.executable || touched.link))
                && rule.links.is_none_or(|it| it == touched.link)
                && rule.builds.is_none_or(|it| it == is_for_builds(path))
                && control.is_none_or(|control| {
                    rule.then >= Verdict::AskAtTerminal || names(Some(rule), control)
                })
        };
        self.0.iter().find(is_about).copied()
    }

    /// Returns the first rule without conditions on changes, for an action that changes nothing.
    fn first_about_nothing(&self) -> Option<&'r Rule> {
        let looks_at_none = |rule: &&&Rule| {
            rule.paths.is_empty()
                && rule.kinds.is_empty()
                && rule.executable.is_none()
                && rule.links.is_none()
                && rule.builds.is_none()
        };
        self.0.iter().find(looks_at_none).copied()
    }
}

/// Checks if a rule is about the kind of a change. To allow a renamed and rewritten file, a rule
/// has to have both kinds. To ask or refuse, one of them is enough.
fn is_of_kinds(rule: &Rule, change: &Change) -> bool {
    let has = |kind: ChangeKind| rule.kinds.is_empty() || rule.kinds.contains(&kind);
    match (change.is_rewritten(), rule.then) {
        (true, Verdict::Allow) => has(change.kind) && has(ChangeKind::Modified),
        (true, _) => has(change.kind) || has(ChangeKind::Modified),
        (false, _) => has(change.kind),
    }
}

fn names(rule: Option<&Rule>, control: &str) -> bool {
    rule.is_some_and(|rule| rule.control.iter().any(|name| name == control))
}
