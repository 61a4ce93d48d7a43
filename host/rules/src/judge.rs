//! What the rules say of an action.

use std::path::Path;

use airlock_model::digest::Digest;
use airlock_model::effects::{Change, Effects, ObjectKind};

use crate::control::{BUILT_IN, Control, ControlFiles, OUTSIDE};
use crate::pattern::Pattern;
use crate::plugin::PluginName;
use crate::rule::{Budget, Rule, Verdict};
use crate::totals::Totals;

mod because;

use because::Collected;
pub use because::{Because, By, Judgement};

/// The rules of one file, or of several one after the other.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// In their order: the first one that is about a path counts for it.
    pub rules: Vec<Rule>,
    /// What else is a control file.
    pub control: Control,
    /// What is let through in an hour.
    pub budget: Budget,
}

impl RuleSet {
    /// What is wrong in a file's rules that no line alone shows, as sentences: two rules of one
    /// name, and control files that there are not.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (at, rule) in self.rules.iter().enumerate() {
            if self.rules[..at].iter().any(|it| it.name == rule.name) {
                problems.push(format!("two rules are called {:?}", rule.name));
            }
            for name in &rule.control {
                let also = self.control.also.iter().map(Pattern::as_str);
                let mut known = BUILT_IN.iter().map(|it| it.name).chain(also);
                if name != OUTSIDE && !known.any(|it| it == name) {
                    let names: Vec<_> = BUILT_IN.iter().map(|it| it.name).collect();
                    problems.push(format!(
                        "rule {:?} names the control file {name:?}, and there is none of this name: there are {}, {OUTSIDE}, and what `[control]` has in `also`",
                        rule.name,
                        names.join(", ")
                    ));
                }
            }
        }
        problems
    }
}

/// All rules that hold for a workspace.
#[derive(Debug, Clone)]
pub struct Rules {
    operator: Vec<Rule>,
    workspace: Vec<Rule>,
    control: ControlFiles,
    budget: Budget,
}

/// What is judged.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The tool that was called: not what its plugin says.
    pub tool: &'a str,
    /// Its plugin, by its bytes.
    pub plugin: Digest,
    /// The workspace's absolute path.
    pub workspace: Option<&'a Path>,
    /// What the host has seen it do, if it has.
    pub effects: Option<&'a Effects>,
}

/// What is in a directory that is moved: each path, relative to it, of whatever is in it at any
/// depth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inside {
    /// The paths, separated by `/`.
    pub paths: Vec<String>,
    /// Whether these are all; else anything may be there.
    pub is_all: bool,
}

impl Rules {
    /// The operator's rules hold, those of the workspace only narrow: an action is judged by both,
    /// and the stricter verdict counts. Of the workspace's control files and budget, likewise, what
    /// narrows.
    ///
    /// `own` are paths below the workspace that are Airlock's own, beside those that always are.
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

    /// What is let through in an hour.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// What is to be done with an action.
    ///
    /// `default` is for what no rule is about. `inside` says what is in a directory that is moved,
    /// by its path before.
    pub fn judge(
        &self,
        subject: &Subject<'_>,
        default: Verdict,
        inside: impl Fn(&str) -> Inside,
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
        let changes: Vec<Looked<'_>> = effects
            .changes
            .iter()
            .map(|change| Looked::at(change, &inside))
            .collect();
        let mut totals = Totals::default();
        for looked in &changes {
            totals.add(looked.change, looked.inside.paths.len() as u64);
            if !looked.inside.is_all {
                // More than anybody looked through.
                totals.files = u64::MAX;
            }
        }
        let operator = Fitting::new(operator, &totals);
        let workspace = Fitting::new(workspace, &totals);
        if changes.is_empty() {
            let rule = operator.first_about_nothing();
            let verdict = rule.map_or(default, |rule| rule.then);
            collected.add(verdict, By::of(rule, false), "");
            if let Some(rule) = workspace.first_about_nothing() {
                collected.add(rule.then, By::of(Some(rule), true), "");
            }
        }
        for looked in &changes {
            for path in looked.paths() {
                let control = self.control_of(&path, looked.change);
                let change = looked.change;
                let rule = operator.first_about(change, &path, control);
                let verdict = rule.map_or(default, |rule| rule.then);
                collected.add(verdict, By::of(rule, false), &path);
                if let Some(control) = control.filter(|it| !names(rule, it)) {
                    let by = By::Control(control.to_owned());
                    collected.add(Verdict::AskAtTerminal, by, &path);
                }
                if let Some(rule) = workspace.first_about(change, &path, control) {
                    collected.add(rule.then, By::of(Some(rule), true), &path);
                }
            }
            if !looked.inside.is_all {
                let by = By::TooMuchInside;
                collected.add(Verdict::AskAtTerminal, by, &looked.change.path);
            }
        }
        collected.judgement(Some(totals))
    }

    fn control_of(&self, path: &str, change: &Change) -> Option<&str> {
        let target = change.after.as_ref().and_then(|it| it.target.as_deref());
        let own = self.control.name_of(path);
        match target {
            Some(target) if own.is_none() && path == change.path => match led_to(path, target) {
                Some(led) => self.control.name_of(&led),
                None => Some(OUTSIDE),
            },
            _ => own,
        }
    }
}

/// Where a link leads, below the workspace; none where that is outside.
fn led_to(link: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
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

/// What the host has not seen counts as the worst that it could be: it takes the strictest of all
/// rules, down to one that is about such actions by name.
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

/// A change, with what is in the directory that it moves.
struct Looked<'a> {
    change: &'a Change,
    inside: Inside,
}

impl<'a> Looked<'a> {
    fn at(change: &'a Change, inside: &impl Fn(&str) -> Inside) -> Self {
        let is_directory = |it: &airlock_model::effects::Facts| it.object == ObjectKind::Directory;
        let moved = change.from.as_deref().filter(|from| *from != change.path);
        let inside = match moved.filter(|_| change.after.as_ref().is_some_and(is_directory)) {
            Some(from) => inside(from),
            None => Inside {
                paths: Vec::new(),
                is_all: true,
            },
        };
        Self { change, inside }
    }

    /// Each path that is touched, before and after.
    fn paths(&self) -> impl Iterator<Item = String> {
        let change = self.change;
        let from = change.from.as_deref().filter(|from| *from != change.path);
        let ends = [Some(change.path.as_str()), from].into_iter().flatten();
        let inside = |end: &'a str| {
            let below = self.inside.paths.iter();
            below.map(move |path| format!("{end}/{path}"))
        };
        ends.flat_map(move |end| [end.to_owned()].into_iter().chain(inside(end)))
    }
}

/// Rules of which the numbers fit an action.
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

    /// A rule that doesn't name a control file lets none through, and may still be stricter.
    fn first_about(&self, change: &Change, path: &str, control: Option<&str>) -> Option<&'r Rule> {
        let after = change.after.as_ref();
        let executable =
            after.is_some_and(|it| it.object == ObjectKind::File && it.mode & 0o111 != 0);
        let link = [after, change.before.as_ref()]
            .into_iter()
            .flatten()
            .any(|it| it.object == ObjectKind::Link);
        let is_about = |rule: &&&Rule| {
            (rule.paths.is_empty() || rule.paths.iter().any(|it| it.matches(path)))
                && (rule.kinds.is_empty() || rule.kinds.contains(&change.kind))
                && rule.executable.is_none_or(|it| it == executable)
                && rule.links.is_none_or(|it| it == link)
                && control.is_none_or(|control| {
                    rule.then >= Verdict::AskAtTerminal || names(Some(rule), control)
                })
        };
        self.0.iter().find(is_about).copied()
    }

    /// The first rule that looks at no change, for an action that changes nothing.
    fn first_about_nothing(&self) -> Option<&'r Rule> {
        let looks_at_none = |rule: &&&Rule| {
            rule.paths.is_empty()
                && rule.kinds.is_empty()
                && rule.executable.is_none()
                && rule.links.is_none()
        };
        self.0.iter().find(looks_at_none).copied()
    }
}

fn names(rule: Option<&Rule>, control: &str) -> bool {
    rule.is_some_and(|rule| rule.control.iter().any(|name| name == control))
}
