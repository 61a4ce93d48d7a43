//! The hostile corpus: what a plugin does to its host, what must come of it, and how much it may
//! take.
//!
//! The test `hostile` runs each row in a process of its own, `src/bin/hostile_worker.rs`, beside an
//! honest session in the same process, and looks at that process from outside.

mod applying;
mod asking;
mod compiling;
mod components;
mod computing;
mod definitions;
mod describing;
mod editing;
mod files;
mod greed;
mod holding;
mod json;
mod paths;
mod program;
mod pushing;
mod schemas;
mod storing;
mod swapping;

use std::path::Path;
use std::time::Duration;

use airlock_host::compile::CompileLimits;
use airlock_host::policy::Pattern;
use airlock_host::{Limits, Policy};
use serde_json::{Value, json};

pub use describing::table;
pub use program::tried;

/// What a session may use up at most, where its row says nothing else: little, so that a fault
/// shows soon.
pub fn limits() -> Limits {
    Limits::default()
        .with_call_time(Duration::from_secs(2))
        .with_memory(64 << 20)
        .with_open_files(64)
        .with_scratch_bytes(16 << 20)
        .with_pending_actions(100)
}

/// What compiling one component may take: much more than the puppet needs, on a machine with other
/// things to do too.
pub fn compile_limits() -> CompileLimits {
    CompileLimits::default()
        .with_time(Duration::from_secs(4))
        .with_memory(256 << 20)
}

/// Bytes of the store that [`Attack::Sessions`] fills.
pub const STORE_BYTES: u64 = 24 << 20;

/// One hostile behaviour.
pub struct Row {
    /// In kebab case.
    pub name: &'static str,
    /// What the plugin does, for people.
    pub does: &'static str,
    /// The same, for the harness.
    pub attack: Attack,
    /// What must come of it.
    pub ends: Ends,
    /// What the host's process may take meanwhile.
    pub bounds: Bounds,
    /// How long a call of `ast_edit` may take. What must meet another limit than this one has time
    /// for it, also on a slow machine.
    pub call_time: Duration,
    /// What is in the workspace beside what is always there.
    pub fill: fn(&Path),
    /// What a neighbour does to the workspace meanwhile, from outside of the process, over and
    /// over. In the end all is as it was.
    pub neighbour: Option<fn(&Path)>,
}

/// Makes a component.
pub type Make = Box<dyn Fn() -> Vec<u8> + Send>;

/// Who does it, and when.
pub enum Attack {
    /// The puppet, in calls one after the other. The last one's end counts.
    Calls(Vec<Value>),
    /// The puppet, when its action is applied.
    Apply(Value),
    /// The puppet pushes an action, which is applied so many times. The last one's end counts.
    Again(Value, usize),
    /// The puppet, when its action is discarded.
    Discard(Value),
    /// The puppet does one thing when it is applied, and another in the call that follows.
    ApplyThenCall(Value, Value),
    /// A component that is loaded.
    Load(Make),
    /// A component that is loaded, and whose tool `t` is called with these params so many times.
    /// The last one's end counts.
    Tool(Make, fn() -> Value, usize),
    /// A guest that is loaded.
    LoadGuest(&'static str),
    /// A call with params that are not the puppet's steps.
    Params(fn() -> Value),
    /// A call of `ast_edit`, on files that are as hostile as a plugin.
    Edit(fn() -> Value),
    /// The puppet, in a call; then its session, another one and a person with the store's list look
    /// at what is pending, so many times.
    Look(fn() -> Value, usize),
    /// The puppet, in the same call of so many sessions, whose store takes no more than
    /// [`STORE_BYTES`]. The last one's end counts.
    Sessions(Value, usize),
}

/// How the attack ends.
#[derive(Debug, Clone, Copy)]
pub enum Ends {
    /// A result whose text holds this.
    Result(&'static str),
    /// Such a result, or the end of the call's time on a disk that is slow.
    ResultOrTime(&'static str),
    /// A result, or an error of one of these kinds: that depends on who is faster.
    ResultOrError(&'static [&'static str]),
    /// An error of this kind, whose text holds that.
    Error(&'static str, &'static str),
    /// An error of one of these kinds, since it depends on the machine which limit is met first.
    ErrorOf(&'static [&'static str], &'static str),
}

/// What the host's process may take, beside what it had before.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Seconds until the attack has ended.
    pub seconds: u64,
    /// Resident memory, in MiB.
    pub memory_mib: u64,
    /// That of the processes that compile and parse for it, in MiB.
    pub helpers_mib: u64,
    /// Descriptors at one time.
    pub descriptors: usize,
    /// Space on the disk for workspace, scratch directories and store, in MiB, and also as the
    /// files' lengths say.
    pub disk_mib: u64,
}

impl Default for Bounds {
    /// A call's time, a guest's memory, its files and its scratch directory, each with room for
    /// what the host needs for it.
    fn default() -> Self {
        Self {
            seconds: 12,
            memory_mib: 160,
            // Beside what it may take, a process that compiles has the program itself.
            helpers_mib: (compile_limits().memory >> 20) + 64,
            descriptors: 96,
            disk_mib: 32,
        }
    }
}

impl Row {
    fn new(name: &'static str, does: &'static str, attack: Attack, ends: Ends) -> Self {
        Self {
            name,
            does,
            attack,
            ends,
            bounds: Bounds::default(),
            call_time: limits().call_time,
            fill: |_| {},
            neighbour: None,
        }
    }

    fn filled(mut self, fill: fn(&Path)) -> Self {
        self.fill = fill;
        self
    }

    fn beside(mut self, neighbour: fn(&Path)) -> Self {
        self.neighbour = Some(neighbour);
        self
    }

    fn seconds(mut self, seconds: u64) -> Self {
        self.bounds.seconds = seconds;
        self
    }

    fn memory(mut self, mib: u64) -> Self {
        self.bounds.memory_mib = mib;
        self
    }

    fn disk(mut self, mib: u64) -> Self {
        self.bounds.disk_mib = mib;
        self
    }

    /// The component that it is about, where one was made by hand.
    pub fn component(&self) -> Option<Vec<u8>> {
        match &self.attack {
            Attack::Load(make) | Attack::Tool(make, ..) => Some(make()),
            _ => None,
        }
    }

    /// Whether nothing in the workspace may change.
    pub fn only_previews(&self) -> bool {
        !matches!(
            self.attack,
            Attack::Apply(_) | Attack::Again(..) | Attack::ApplyThenCall(..)
        )
    }
}

/// The grants of the hostile plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grants {
    /// The whole workspace, as by default.
    Default,
    /// Only a directory of the workspace that no attack is about.
    Narrow,
}

impl Grants {
    /// The word for it on the worker's command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Grants::Default => "default",
            Grants::Narrow => "narrow",
        }
    }

    /// The policy.
    ///
    /// # Panics
    /// Never: its pattern is one.
    pub fn policy(self) -> Policy {
        let granted = Pattern::new("granted/").expect("a pattern");
        match self {
            Grants::Default => Policy::default(),
            Grants::Narrow => Policy::default().with_paths(&[], &[granted]),
        }
    }
}

/// The groups whose rows have to do with files. They are repeated with [`Grants::Narrow`].
pub const OF_FILES: [&str; 6] = ["holding", "greed", "files", "paths", "swapping", "applying"];

/// One step in a call.
fn call(name: &'static str, does: &'static str, step: Value, ends: Ends) -> Row {
    Row::new(name, does, Attack::Calls(vec![json!([step])]), ends)
}

/// Several steps in a call.
fn calls(name: &'static str, does: &'static str, steps: Value, ends: Ends) -> Row {
    Row::new(name, does, Attack::Calls(vec![steps]), ends)
}

/// Rows about one subject.
pub struct Group {
    /// The subject, for people.
    pub title: &'static str,
    /// The rows.
    pub rows: Vec<Row>,
}

/// All of them, by name.
pub fn group(name: &str) -> Group {
    let (title, rows) = match name {
        "computing" => ("Computing and memory", computing::rows()),
        "asking" => ("Calling the host forever", asking::rows()),
        "holding" => ("Keeping the host's resources", holding::rows()),
        "greed" => ("Exceeding a share", greed::rows()),
        "files" => ("Changing files before a decision", files::rows()),
        "paths" => ("Paths that lead outside", paths::rows()),
        "pushing" => ("Results and pending actions", pushing::rows()),
        "schemas" => ("Params that are expensive to check", schemas::rows()),
        "json" => ("JSON that is larger in memory than as text", json::rows()),
        "compiling" => (
            "Components that are expensive to compile",
            compiling::rows(),
        ),
        "components" => ("Components that no compiler would make", components::rows()),
        "editing" => ("Sources that are expensive for `ast_edit`", editing::rows()),
        "swapping" => (
            "Other programs that swap files during a call",
            swapping::rows(),
        ),
        "storing" => ("Filling the store", storing::rows()),
        "applying" => ("Expensive actions", applying::rows()),
        _ => panic!("there is no group {name}"),
    };
    Group { title, rows }
}

/// The names of the groups.
pub const GROUPS: [&str; 15] = [
    "computing",
    "asking",
    "holding",
    "greed",
    "files",
    "paths",
    "swapping",
    "pushing",
    "storing",
    "applying",
    "json",
    "schemas",
    "components",
    "compiling",
    "editing",
];

/// The row of this name.
///
/// # Panics
/// Where there is none.
pub fn row(name: &str) -> Row {
    let rows = GROUPS.into_iter().flat_map(|name| group(name).rows);
    let mut rows = rows.filter(|row| row.name == name);
    rows.next().unwrap_or_else(|| panic!("no row {name}"))
}
