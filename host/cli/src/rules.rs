//! The rules that hold for what is decided here.

use std::path::Path;

use airlock_desk::approval::Judge;
use airlock_desk::decider;
use airlock_desk::store::{Location, Store};
use airlock_rules::{RuleSet, Rules};

/// Those of the operator's configuration, and of the workspace's own.
pub fn judge(workspace: Option<&Path>, store: &Store) -> Judge {
    let own = own_paths(workspace, store);
    let rules = Rules::new(
        RuleSet::default(),
        RuleSet::default(),
        own.iter().map(String::as_str),
    );
    let operator = decider::user_at_machine();
    Judge::new(rules, store, operator.name().unwrap_or_default())
}

/// What of the program's own is in the workspace, with other names than it always has.
fn own_paths(workspace: Option<&Path>, store: &Store) -> Vec<String> {
    let Location::File(file) = &store.choice().location else {
        return Vec::new();
    };
    let file = airlock_desk::session::real_path(file);
    let below = workspace.and_then(|workspace| file.strip_prefix(workspace).ok());
    let Some(below) = below.and_then(Path::to_str) else {
        return Vec::new();
    };
    // With what SQLite has beside it.
    let beside = ["", "-wal", "-shm", "-journal"];
    beside.iter().map(|end| format!("{below}{end}")).collect()
}
