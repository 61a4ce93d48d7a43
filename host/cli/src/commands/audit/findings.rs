//! The findings of an audit.

use airlock_desk::store::Store;
use airlock_host::policy::WorkspaceGrant;

use super::{Audited, Other, advisories};
use crate::commands::checks;
use crate::documents::audit::{OtherKind, Runtime};
use crate::documents::doctor::{Check, CheckState};
use crate::terminal::size::counted;

/// Returns all findings.
pub fn all(
    runtime: &Runtime,
    plugins: &[Audited<'_>],
    others: &[Other],
    unreadable: u64,
    store: &Store,
) -> Vec<Check> {
    let mut found = advisories::checks(runtime);
    found.extend(plugins.iter().flat_map(of_installed));
    found.extend(others.iter().filter_map(|it| of_other(it, store)));
    let interrupted = plugins.iter().map(Audited::interrupted);
    let interrupted = interrupted.chain(others.iter().map(|it| it.activity.interrupted));
    found.extend(of_store(interrupted.sum(), unreadable, store));
    found
}

/// Returns the findings about an installed plugin.
fn of_installed(plugin: &Audited<'_>) -> Vec<Check> {
    let entry = &plugin.installed.entry;
    let name = &entry.name;
    let mut found = Vec::new();
    found.extend(
        Some(checks::component(plugin.installed)).filter(|it| it.state != CheckState::Well),
    );
    let less = "`airlock install` with `--grant change=PATH` grants less";
    if entry.facts.wants.is_none() {
        let text = format!("{name} lists no wants, so only grants limit it");
        found.push(Check::note("plugin", text, less));
    }
    let policy = &plugin.policy;
    if policy.workspace == WorkspaceGrant::ReadWrite && policy.change.is_everything() {
        let text = format!("{name} may change every file of a workspace while applying");
        found.push(Check::note("plugin", text, less));
    }
    if plugin.is_unused() {
        let text = format!(
            "{name} has no action in this store: it was never used, or only for calls that change nothing"
        );
        let hint = format!("`airlock uninstall {name}` removes it");
        found.push(Check::note("plugin", text, hint));
    }
    found
}

/// Returns the finding about a plugin that is not installed under its name, if there is one.
fn of_other(plugin: &Other, store: &Store) -> Option<Check> {
    if plugin.kind != OtherKind::NotInstalled {
        return None;
    }
    let (pending, actions) = (plugin.activity.pending, plugin.activity.actions);
    let (name, digest) = (&plugin.producer.name, plugin.producer.digest.short());
    let actions = counted(actions, "action");
    let text = format!(
        "{name} ({digest}) has {actions} and is not installed: it was uninstalled, or run from a file"
    );
    let hint = match pending {
        0 => format!("`{}` lists its decisions", store.command(&["log", "--all"])),
        _ => format!(
            "`{}` lists its pending actions",
            store.command(&["pending", "--all"])
        ),
    };
    Some(Check::note("plugin", text, hint))
}

/// Returns the findings about the actions of all listed plugins.
fn of_store(interrupted: u64, unreadable: u64, store: &Store) -> Vec<Check> {
    let mut found = Vec::new();
    if interrupted > 0 {
        let text = match interrupted {
            1 => "1 action is interrupted".to_owned(),
            count => format!("{count} actions are interrupted"),
        };
        let hint = format!("`{}` lists them", store.command(&["pending", "--all"]));
        found.push(Check::note("store", text, hint));
    }
    if unreadable > 0 {
        let text = match unreadable {
            1 => "1 action can't be read, and is not counted".to_owned(),
            count => format!("{count} actions can't be read, and are not counted"),
        };
        let hint = format!("`{}` shows why", store.command(&["store", "check"]));
        found.push(Check::note("store", text, hint));
    }
    found
}
