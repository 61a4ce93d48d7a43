//! The effective settings and their origins.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use airlock_host::policy::Rehearse;
use airlock_host::{Limits, Policy};
use airlock_rules::{RuleSet, Rules, Size};

use super::file::{File, Http};
use super::grants::Grant;
use super::operator::{Checked, Operator, OperatorFiles, below, check_rules_of, locks_of};
use super::places::{NAME, Role};
use super::plugins;
use super::problem::Problems;
use super::values::{Age, Decide};
use crate::lock::{Entry, Locks};
use crate::plugin::{Catalog, Loaded, program_of};

/// The settings of the command line, which override every file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// The workspace.
    pub workspace: Option<PathBuf>,
    /// The plugins to serve.
    pub plugins: Vec<OsString>,
    /// The decider.
    pub decide: Option<Decide>,
    /// The time limit of a call.
    pub timeout: Option<Duration>,
    /// The memory limit of a tool, in bytes.
    pub max_memory: Option<usize>,
    /// The time for which pending actions can be applied.
    pub expires: Option<Duration>,
    /// The choice of when to rehearse actions.
    pub rehearse: Option<Rehearse>,
    /// What all plugins may do.
    pub grant: Option<Grant>,
}

/// The origin of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// A file.
    File(Role, PathBuf),
    /// The built-in default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => f.write_str("the command line"),
            Origin::File(_, path) => write!(f, "{}", path.display()),
            Origin::Default => f.write_str("the default"),
        }
    }
}

/// A value and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// The origin.
    pub origin: Origin,
}

/// The effective settings of `run` and `serve` in a workspace.
///
/// The first source that has a value wins: the command line, the user's file, the system's file,
/// the default. The workspace's own file applies only if it is stricter: a lower limit, an earlier
/// expiry, `rehearse = "always"`, or a decision that takes more.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The workspace; `None` means the current directory.
    pub workspace: Setting<Option<PathBuf>>,
    /// The plugins to serve; empty means all bundled ones.
    pub plugins: Setting<Vec<OsString>>,
    /// The decider.
    pub decide: Setting<Decide>,
    /// The time limit of a call.
    pub timeout: Setting<Duration>,
    /// The memory limit of a tool, in bytes.
    pub max_memory: Setting<usize>,
    /// The time for which pending actions can be applied; `None` means forever.
    pub expires: Setting<Option<Age>>,
    /// The choice of when to rehearse actions.
    pub rehearse: Setting<Rehearse>,
    /// What plugins may do: the first grant that is about a plugin counts for it.
    pub grants: Setting<Vec<Grant>>,
    /// The installed plugins.
    pub locks: Locks,
    /// The settings of `airlock serve --http`. See `token_file` for the path of the tokens.
    pub http: Http,
    /// The file of tokens, by an absolute path, if the operator's files name one.
    pub token_file: Option<PathBuf>,
    /// The components' files that rules name, and the programs of tools files.
    files: Vec<PathBuf>,
    /// The operator's rules.
    pub operator_rules: RuleSet,
    /// The workspace's rules, which can only narrow.
    pub workspace_rules: RuleSet,
}

impl Settings {
    /// Reads the workspace's file, and the operator's unless they were read, and determines the
    /// effective settings.
    ///
    /// # Errors
    /// Returns all errors in the files. An operator's file inside the workspace is an error too.
    pub fn read(files: &OperatorFiles, given: &Given, catalog: Catalog) -> Result<Self, Problems> {
        Self::check(files, given, catalog).1
    }

    /// Does the same as [`read`](Self::read), and returns each file that was looked for, by
    /// precedence.
    pub fn check(
        files: &OperatorFiles,
        given: &Given,
        catalog: Catalog,
    ) -> (Vec<Checked>, Result<Self, Problems>) {
        let mut checked = files.checked();
        let locks = locks_of(&checked);
        plugins::note_unknown_digests(&mut checked, catalog, &locks);
        plugins::resolve(&mut checked, catalog, &locks);
        // A file that names the workspace is not checked yet for being inside it.
        let said = Operator {
            files: (checked.iter())
                .filter_map(|one| Some((one.role, one.path.clone(), one.file.clone()?)))
                .collect(),
            locks,
        };
        let workspace = workspace(&said, given);
        let folder = workspace.value.as_deref().unwrap_or(Path::new("."));
        for one in &mut checked {
            one.problems.extend(one.inside(folder));
        }
        let mut own = Checked::look(Role::Workspace, &folder.join(NAME));
        check_own_rules(&mut own, &said);
        plugins::resolve(std::slice::from_mut(&mut own), catalog, &said.locks);
        checked.push(own);
        let problems = checked.iter().flat_map(|one| one.problems.clone());
        let problems: Vec<_> = problems.collect();
        if !problems.is_empty() {
            return (checked, Err(Problems(problems)));
        }
        let own = checked
            .last()
            .and_then(|one| Some((one.path.as_path(), one.file.as_ref()?)));
        let settings = Self::merged(&said, own, given, workspace, catalog);
        (checked, Ok(settings))
    }

    fn merged(
        operator: &Operator,
        own: Option<(&Path, &File)>,
        given: &Given,
        workspace: Setting<Option<PathBuf>>,
        catalog: Catalog,
    ) -> Self {
        let defaults = Limits::default();
        let timeout = Setting::first(given.timeout, operator, |it| {
            it.limits.timeout.map(|it| it.0)
        })
        .or(defaults.call_time)
        .narrowed(
            own,
            |it| it.limits.timeout.map(|it| it.0),
            |new, old| new < old,
        );
        let memory = |it: &File| it.limits.max_memory.map(|it| it.0.0 as usize);
        let max_memory = Setting::first(given.max_memory, operator, memory)
            .or(defaults.memory)
            .narrowed(own, memory, |new, old| new < old);
        let expires = Setting::first(given.expires.map(Age).map(Some), operator, |it| {
            it.expires.map(Some)
        });
        let expires = expires.or(None).narrowed(
            own,
            |it| it.expires.map(Some),
            |new, old| old.is_none_or(|old| new.is_some_and(|new| new < old)),
        );
        let decide = Setting::first(given.decide, operator, |it| it.decide)
            .or(Decide::default())
            .narrowed(own, |it| it.decide, |new, old| new > old);
        let rehearse = Setting::first(given.rehearse, operator, |it| it.rehearse)
            .or(Rehearse::default())
            .narrowed(own, |it| it.rehearse, |new, old| new > old);
        let plugins = plugins_of(operator, given, catalog);
        let files = operator.files.iter().map(|(.., file)| file);
        let mut files: Vec<_> = files.flat_map(|file| file.components.clone()).collect();
        let served = plugins.value.iter().map(Path::new);
        let programs = served.chain(files.iter().map(PathBuf::as_path));
        files.extend(programs.filter_map(program_of).collect::<Vec<_>>());
        files.extend(
            own.into_iter()
                .flat_map(|(_, file)| file.components.clone()),
        );
        let grants = match &given.grant {
            Some(grant) => Setting {
                value: vec![grant.clone()],
                origin: Origin::Flag,
            },
            None => with_installed(
                Setting::first(None, operator, |it| it.grants.clone()).or(Vec::new()),
                &operator.locks,
            ),
        };
        Self {
            workspace,
            plugins,
            decide,
            timeout,
            max_memory,
            expires,
            rehearse,
            grants,
            locks: operator.locks.clone(),
            http: operator.http(),
            token_file: operator.token_file(),
            files,
            operator_rules: operator.rules(),
            workspace_rules: own.map(|(_, file)| file.rule_set()).unwrap_or_default(),
        }
    }

    /// Returns the limits of a tool.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.call_time = self.timeout.value;
        limits.memory = self.max_memory.value;
        limits
    }

    /// Returns when to rehearse, if a source sets it. Actions keep this value.
    pub fn said_rehearse(&self) -> Option<Rehearse> {
        (self.rehearse.origin != Origin::Default).then_some(self.rehearse.value)
    }

    /// Returns the policy that a plugin is granted, which was loaded by this name or path.
    pub fn policy(&self, loaded: &Loaded, named: &OsStr) -> Policy {
        let policy = Grant::policy(&self.grants.value, loaded, named);
        match self.said_rehearse() {
            Some(rehearse) => policy.with_rehearse(rehearse),
            None => policy,
        }
    }

    /// Returns the policy of an installed plugin: the part of its grant that it wants.
    pub fn policy_of(&self, entry: &Entry) -> Policy {
        let named = OsStr::new(entry.name.as_str());
        entry.limited(Grant::policy_of(&self.grants.value, entry.digest, named))
    }

    /// Returns the files that the configuration names and trusts: components, files that give
    /// programs tools, their programs, and the token file.
    pub fn trusted_files(&self) -> impl Iterator<Item = &Path> {
        let plugins = self.plugins.value.iter().map(Path::new);
        let named = plugins.chain(self.files.iter().map(PathBuf::as_path));
        named.chain(self.token_file.as_deref())
    }

    /// Returns the memory limit, for people.
    pub fn shown_memory(&self) -> Size {
        Size(self.max_memory.value as u64)
    }

    /// Combines the operator's rules with the workspace's. `own` lists paths below the workspace
    /// that belong to Airlock.
    pub fn rules<'a>(&self, own: impl IntoIterator<Item = &'a str>) -> Rules {
        let (operator, workspace) = (self.operator_rules.clone(), self.workspace_rules.clone());
        Rules::new(operator, workspace, own)
    }
}

/// Checks the workspace's rules, which may name control files of the operator's files.
fn check_own_rules(own: &mut Checked, operator: &Operator) {
    let operators = operator.files.iter().map(|(.., file)| file);
    let all = operators.chain(&own.file);
    let also: Vec<_> = all.flat_map(|file| file.control.also.clone()).collect();
    check_rules_of(own, &also);
}

fn workspace(operator: &Operator, given: &Given) -> Setting<Option<PathBuf>> {
    if let Some(workspace) = &given.workspace {
        return Setting {
            value: Some(workspace.clone()),
            origin: Origin::Flag,
        };
    }
    match operator.named_workspace() {
        Some((workspace, role, file)) => Setting {
            value: Some(workspace),
            origin: Origin::File(role, file.to_owned()),
        },
        None => Setting {
            value: None,
            origin: Origin::Default,
        },
    }
}

/// Adds the grants of installed plugins. A grant that names the plugin comes before its own, and
/// one for all plugins after it.
fn with_installed(mut grants: Setting<Vec<Grant>>, locks: &Locks) -> Setting<Vec<Grant>> {
    let for_all = grants.value.iter().position(Grant::is_for_all);
    let at = for_all.unwrap_or(grants.value.len());
    let installed = locks.all().into_iter();
    let installed = installed.map(|it| it.entry.grant.for_installed(&it.entry.name));
    grants.value.splice(at..at, installed);
    grants
}

/// Returns the plugins to serve. The name of a bundled or installed plugin wins over a file. Any
/// other word is a path.
fn plugins_of(operator: &Operator, given: &Given, catalog: Catalog) -> Setting<Vec<OsString>> {
    if !given.plugins.is_empty() {
        return Setting {
            value: given.plugins.clone(),
            origin: Origin::Flag,
        };
    }
    let Some((plugins, role, file)) = operator.first(|file| file.plugins.clone()) else {
        return Setting {
            value: Vec::new(),
            origin: Origin::Default,
        };
    };
    let named = plugins.iter().map(|plugin| {
        let name = plugin.as_str();
        if catalog.find(name).is_some() || operator.locks.find(name).is_some() {
            name.into()
        } else {
            below(file, plugin).into_os_string()
        }
    });
    Setting {
        value: named.collect(),
        origin: Origin::File(role, file.to_owned()),
    }
}

/// A setting, if a flag or a file has it.
struct Said<T>(Option<Setting<T>>);

impl<T> Setting<T> {
    fn first(flag: Option<T>, operator: &Operator, of: impl Fn(&File) -> Option<T>) -> Said<T> {
        let by_flag = flag.map(|value| Setting {
            value,
            origin: Origin::Flag,
        });
        Said(by_flag.or_else(|| {
            let (value, role, path) = operator.first(of)?;
            Some(Setting {
                value,
                origin: Origin::File(role, path.to_owned()),
            })
        }))
    }

    /// Applies the workspace's value if it is stricter.
    fn narrowed(
        self,
        own: Option<(&Path, &File)>,
        of: impl Fn(&File) -> Option<T>,
        is_stricter: impl Fn(&T, &T) -> bool,
    ) -> Self {
        let said = own.and_then(|(path, file)| Some((path, of(file)?)));
        match said {
            Some((path, value)) if is_stricter(&value, &self.value) => Self {
                value,
                origin: Origin::File(Role::Workspace, path.to_owned()),
            },
            _ => self,
        }
    }
}

impl<T> Said<T> {
    fn or(self, default: T) -> Setting<T> {
        self.0.unwrap_or(Setting {
            value: default,
            origin: Origin::Default,
        })
    }
}
