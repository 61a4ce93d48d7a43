//! The rules for decisions that are made here.

use std::path::Path;

use airlock_desk::approval::Judge;
use airlock_desk::configuration::{Given, Settings};
use airlock_desk::decider;
use airlock_desk::store::{Location, Store};
use airlock_rules::{RuleSet, Rules};

use crate::bundled::CATALOG;
use crate::failure::Failure;

/// Returns the rules of the operator's configuration, and of the workspace's.
///
/// # Errors
/// The problem with one of the files. An invalid file never means no rules.
pub fn judge(workspace: Option<&Path>, store: &Store) -> Result<Judge, Failure> {
    let config = store.choice().config();
    let Some(workspace) = workspace else {
        let rules = config.rules(CATALOG).map_err(airlock_desk::Error::from)?;
        let rules = Rules::new(rules, RuleSet::default(), []);
        return Ok(Judge::new(rules, store, decider::user_at_machine()));
    };
    let given = Given {
        workspace: Some(workspace.to_owned()),
        ..Given::default()
    };
    let settings = Settings::read(config, &given, CATALOG).map_err(airlock_desk::Error::from)?;
    Ok(judge_by(&settings, workspace, store))
}

/// Returns a judge by the rules of settings that were read.
pub fn judge_by(settings: &Settings, workspace: &Path, store: &Store) -> Judge {
    let rules = of(settings, workspace, store);
    Judge::new(rules, store, decider::user_at_machine())
}

/// Returns the rules of settings that were read.
pub fn of(settings: &Settings, workspace: &Path, store: &Store) -> Rules {
    let mut own = own_paths(workspace, store);
    own.extend(
        settings
            .trusted_files()
            .filter_map(|it| below(workspace, it)),
    );
    settings.rules(own.iter().map(String::as_str))
}

/// Returns the store's files, if the store is in the workspace.
fn own_paths(workspace: &Path, store: &Store) -> Vec<String> {
    let Location::File(file) = &store.choice().location else {
        return Vec::new();
    };
    let Some(below) = below(workspace, file) else {
        return Vec::new();
    };
    // Include the files that SQLite keeps next to the store.
    let beside = ["", "-wal", "-shm", "-journal"];
    beside.iter().map(|end| format!("{below}{end}")).collect()
}

/// Returns a file's path relative to the workspace, if it is in it.
pub fn below(workspace: &Path, file: &Path) -> Option<String> {
    let file = airlock_desk::session::real_path(file);
    let workspace = airlock_desk::session::real_path(workspace);
    Some(file.strip_prefix(workspace).ok()?.to_str()?.to_owned())
}
