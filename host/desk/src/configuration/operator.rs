//! The operator's configuration files.

use std::path::{Path, PathBuf, absolute};
use std::sync::{Arc, OnceLock};

use airlock_host::{Limits, UndoRetention};
use airlock_rules::{Budget, Pattern, RuleSet};

use super::file::{File, Http};
use super::places::{self, Role};
use super::plugins;
use super::problem::{Problem, Problems};
use super::require;
use super::values::PathText;
use crate::lock::{Lock, Locks};
use crate::plugin::Catalog;
use crate::signing::Signing;

/// A configuration file that was looked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checked {
    /// The file's role.
    pub role: Role,
    /// The file's absolute path.
    pub path: PathBuf,
    /// True if the file exists.
    pub is_found: bool,
    /// The errors in the file.
    pub problems: Vec<Problem>,
    /// Likely mistakes that are not errors.
    pub notes: Vec<Problem>,
    /// The contents, if there are no errors.
    pub file: Option<File>,
    /// The lock in the file's folder. `None` if it has errors, and for a workspace's file.
    pub lock: Option<Lock>,
}

/// The operator's files: the one that `--config` names, or else the user's, and the system's. They
/// are read once, when they are first needed. Clones share what was read.
#[derive(Debug, Clone, Default)]
pub struct OperatorFiles {
    named: Option<PathBuf>,
    read: Arc<OnceLock<Vec<Checked>>>,
}

/// The operator's configuration, from one or several files.
#[derive(Debug, Clone, Default)]
pub struct Operator {
    /// The files, highest precedence first.
    pub(super) files: Vec<(Role, PathBuf, File)>,
    /// The locks in their folders, in the same order.
    pub(super) locks: Locks,
}

impl Checked {
    pub(super) fn look(role: Role, path: &Path) -> Self {
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        let (mut file, mut problems) = match places::read(role, &path) {
            Ok(file) => (file, Vec::new()),
            Err(problems) => (None, problems),
        };
        problems.extend(file.iter_mut().flat_map(|it| require::resolve(&path, it)));
        let is_found = file.is_some() || !problems.is_empty();
        // Nothing is installed in a workspace, where tools could change it.
        let lock = match role {
            Role::Workspace => None,
            _ => Lock::next_to(&path).map_err(|it| problems.push(it)).ok(),
        };
        Self {
            role,
            is_found,
            path,
            problems,
            notes: Vec::new(),
            file,
            lock,
        }
    }

    /// Returns a problem if the file, its lock, or a file that it trusts lies in the workspace,
    /// where tools could change it.
    pub(super) fn inside(&self, workspace: &Path) -> Option<Problem> {
        let inside = |path: &Path| places::inside(path, workspace);
        let own = self.is_found.then_some(&*self.path).and_then(inside);
        // Each may be a link to somewhere else.
        let lock = self.lock.as_ref().filter(|it| !it.entries().is_empty());
        let lock = || lock.map(Lock::path).and_then(inside);
        let mut keys = self
            .file
            .iter()
            .flat_map(|it| require::files(&self.path, it));
        own.or_else(lock)
            .or_else(|| keys.find_map(|it| inside(&it)))
    }

    /// Checks a file that the user named, as an operator's file.
    pub fn named(path: &Path, catalog: Catalog) -> Self {
        let mut checked = [Self::look(Role::Named, path)];
        check_rules(&mut checked);
        let locks = locks_of(&checked);
        plugins::note_unknown_digests(&mut checked, catalog, &locks);
        plugins::resolve(&mut checked, catalog, &locks);
        let [checked] = checked;
        checked
    }
}

impl OperatorFiles {
    /// Chooses the files, with `named` in place of the user's. Reads nothing yet.
    pub fn new(named: Option<PathBuf>) -> Self {
        Self {
            named: named.map(|path| absolute(&path).unwrap_or(path)),
            read: Arc::default(),
        }
    }

    /// Returns the absolute path of the file that `--config` names.
    pub fn named(&self) -> Option<&Path> {
        self.named.as_deref()
    }

    /// Returns the same files, to be read again.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self::new(self.named.clone())
    }

    /// Returns the configuration.
    ///
    /// # Errors
    /// Returns all errors in the files.
    pub fn operator(&self) -> Result<Operator, Problems> {
        Operator::of(self.checked())
    }

    /// Returns the files, by precedence.
    pub(super) fn checked(&self) -> Vec<Checked> {
        self.read.get_or_init(|| self.check()).clone()
    }

    fn check(&self) -> Vec<Checked> {
        let first = match &self.named {
            Some(named) => Some(Checked::look(Role::Named, named)),
            None => places::user().map(|path| Checked::look(Role::User, &path)),
        };
        let system = Checked::look_at_system();
        let mut checked: Vec<_> = first.into_iter().chain([system]).collect();
        check_trust_root(&mut checked);
        check_rules(&mut checked);
        checked
    }

    /// Returns the rules of the files, in the order of their precedence.
    ///
    /// # Errors
    /// Returns all errors in the files.
    pub fn rules(&self, catalog: Catalog) -> Result<RuleSet, Problems> {
        let mut checked = self.checked();
        let locks = locks_of(&checked);
        plugins::resolve(&mut checked, catalog, &locks);
        Ok(Operator::of(checked)?.rules())
    }

    /// Returns the installed plugins.
    ///
    /// # Errors
    /// Returns the errors in the locks.
    pub fn locks(&self) -> Result<Locks, Problems> {
        let checked = self.checked();
        let broken = checked.iter().filter(|it| it.lock.is_none());
        let problems: Vec<Problem> = broken.flat_map(|it| it.problems.clone()).collect();
        match &problems[..] {
            [] => Ok(locks_of(&checked)),
            _ => Err(Problems(problems)),
        }
    }

    /// Returns the requirements on signers.
    ///
    /// # Errors
    /// Returns all errors in the files.
    pub fn signing(&self) -> Result<Signing, Problems> {
        let checked = self.checked();
        let workspace = self.operator()?.workspace();
        let inside = |it: &Checked| it.inside(workspace.as_deref()?);
        let problems: Vec<Problem> = checked.iter().filter_map(inside).collect();
        match &problems[..] {
            [] => Ok(signing_of(&checked)),
            _ => Err(Problems(problems)),
        }
    }

    /// Returns the lock that commands change: that of the file that `--config` names, or the
    /// user's. `None` if the user has no configuration folder.
    ///
    /// # Errors
    /// Returns the error in the lock.
    pub fn own_lock(&self) -> Result<Option<Lock>, Problem> {
        let configuration = self.named.clone().or_else(places::user);
        configuration.map(|it| Lock::next_to(&it)).transpose()
    }
}

pub(super) fn locks_of(checked: &[Checked]) -> Locks {
    let locks = checked.iter().filter_map(|it| it.lock.clone());
    Locks::new(locks.collect(), signing_of(checked))
}

/// Returns the requirements of all files, and the trust root.
fn signing_of(checked: &[Checked]) -> Signing {
    let files = || checked.iter().filter_map(|it| it.file.as_ref());
    let requirements = files().flat_map(|it| it.require.iter().flatten().cloned());
    let trust = files().find_map(|it| it.trusted.clone());
    // What a broken file requires isn't known.
    let broken = checked.iter().filter(|it| it.is_found && it.file.is_none());
    let problems = broken.flat_map(|it| it.problems.clone()).collect();
    Signing::new(requirements.collect(), trust, problems)
}

/// Adds a problem if a file chooses the trust root for requirements of another one with less
/// precedence.
fn check_trust_root(checked: &mut [Checked]) {
    let decides = |it: &Checked| {
        let file = it.file.as_ref();
        file.is_some_and(|file| file.require.is_some() || file.trust_root.is_some())
    };
    let Some((last, others)) = checked.split_last_mut().filter(|(last, _)| decides(last)) else {
        return;
    };
    for one in others {
        if one.file.as_ref().is_some_and(|it| it.trust_root.is_some()) {
            let message = format!(
                "`trust-root` is for {}, which requires signers or has a trust root of its own",
                last.path.display()
            );
            one.problems.push(Problem::of_file(&one.path, message));
        }
    }
}

impl Operator {
    fn of(checked: Vec<Checked>) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut files = Vec::new();
        let locks = locks_of(&checked);
        for one in checked {
            problems.extend(one.problems);
            files.extend(one.file.map(|file| (one.role, one.path, file)));
        }
        if problems.is_empty() {
            Ok(Self { files, locks })
        } else {
            Err(Problems(problems))
        }
    }

    /// Returns the first value that a file sets, with the role and the path of the file.
    pub(super) fn first<T>(&self, of: impl Fn(&File) -> Option<T>) -> Option<(T, Role, &Path)> {
        let mut files = self.files.iter();
        files.find_map(|(role, path, file)| Some((of(file)?, *role, path.as_path())))
    }

    /// Returns the store that the files name, if any: an address as it is, or a path. Also returns
    /// the path of the file that names it.
    pub fn store(&self) -> Option<(String, &Path)> {
        let (store, _, path) = self.first(|file| file.store.clone())?;
        let text = if store.as_str().contains("://") {
            store.as_str().to_owned()
        } else {
            below(path, &store).to_string_lossy().into_owned()
        };
        Some((text, path))
    }

    /// Returns the workspace that the files name, if any.
    pub fn workspace(&self) -> Option<PathBuf> {
        self.named_workspace().map(|(workspace, ..)| workspace)
    }

    /// Returns the workspace that the files name, with the role and the path of the file.
    pub(super) fn named_workspace(&self) -> Option<(PathBuf, Role, &Path)> {
        let (named, role, path) = self.first(|file| file.workspace.clone())?;
        Some((below(path, &named), role, path))
    }

    /// Returns the limits of a tool, for callers that know no workspace. A workspace's own file
    /// could lower them.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some((timeout, ..)) = self.first(|file| file.limits.timeout) {
            limits.call_time = timeout.0;
        }
        if let Some((memory, ..)) = self.first(|file| file.limits.max_memory) {
            limits.memory = memory.0.0 as usize;
        }
        limits
    }

    /// Returns what applies keep for an undo.
    pub fn undo(&self) -> UndoRetention {
        let mut retention = UndoRetention::default();
        if let Some((time, ..)) = self.first(|file| file.undo?.time) {
            retention.time = time.0;
        }
        if let Some((size, ..)) = self.first(|file| file.undo?.size) {
            retention.bytes = size.0;
        }
        retention
    }

    /// Returns the token file for `airlock serve --http`, if the files name one.
    pub fn token_file(&self) -> Option<PathBuf> {
        let named = |file: &File| file.http.as_ref()?.token_file.clone();
        let (named, _, path) = self.first(named)?;
        Some(below(path, &named))
    }

    /// Returns the settings of `airlock serve --http`. For each key, the first file that has it
    /// counts.
    pub fn http(&self) -> Http {
        let files = self.files.iter().filter_map(|(.., file)| file.http.clone());
        files.fold(Http::default(), |first, other| Http {
            token_file: first.token_file.or(other.token_file),
            hosts: first.hosts.or(other.hosts),
            origins: first.origins.or(other.origins),
            max_connections: first.max_connections.or(other.max_connections),
            max_body: first.max_body.or(other.max_body),
            requests_per_second: first.requests_per_second.or(other.requests_per_second),
            max_conversations: first.max_conversations.or(other.max_conversations),
            guest_memory: first.guest_memory.or(other.guest_memory),
        })
    }

    pub(super) fn rules(&self) -> RuleSet {
        let mut all = RuleSet::default();
        for (_, _, file) in &self.files {
            let one = file.rule_set();
            all.rules.extend(one.rules);
            all.control.also.extend(one.control.also);
            let (first, other) = (all.budget, one.budget);
            all.budget = Budget {
                files: first.files.or(other.files),
                bytes: first.bytes.or(other.bytes),
                deletions: first.deletions.or(other.deletions),
            };
        }
        all
    }
}

impl Checked {
    fn look_at_system() -> Self {
        let path = places::system();
        if path.is_absolute() {
            Self::look(Role::System, &path)
        } else {
            // The path is not made absolute, because that would depend on the current directory.
            Self {
                role: Role::System,
                problems: places::read(Role::System, &path).err().unwrap_or_default(),
                path,
                notes: Vec::new(),
                is_found: true,
                file: None,
                lock: None,
            }
        }
    }
}

/// Resolves a path in a file, relative to the file's folder.
pub(super) fn below(file: &Path, path: &PathText) -> PathBuf {
    path.below(file.parent().unwrap_or(Path::new("/")))
}

/// Adds the problems of rules that no single line shows. Control files of one file count for the
/// rules of all files.
pub(super) fn check_rules(checked: &mut [Checked]) {
    let files = checked.iter().filter_map(|one| one.file.as_ref());
    let also: Vec<_> = files.flat_map(|file| file.control.also.clone()).collect();
    for one in checked {
        check_rules_of(one, &also);
    }
}

/// Adds the problems of the rules of one file, with these additional control files.
pub(super) fn check_rules_of(one: &mut Checked, also: &[Pattern]) {
    let Some(file) = &one.file else {
        return;
    };
    let mut rules = file.rule_set();
    rules.control.also = also.to_vec();
    let problems = rules.problems().into_iter();
    one.problems
        .extend(problems.map(|it| Problem::of_file(&one.path, it)));
}
