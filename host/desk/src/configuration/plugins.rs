//! The plugins that rules are about, by the digests of their bytes.

use std::path::{Path, PathBuf};

use airlock_host::digest::Digest;
use airlock_rules::{PluginName, Rule, resolve_names, resolve_plugins};

use super::operator::{Checked, below};
use super::places::Role;
use super::problem::Problem;
use super::values::PathText;
use crate::Error;
use crate::lock::{InstalledName, Locks};
use crate::plugin::{BundledKind, Catalog, Source, is_made};

/// Replaces the names and paths of plugins in the rules and grants with digests. A plugin that
/// can't be found is a problem of its file.
pub(super) fn resolve(checked: &mut [Checked], catalog: Catalog, locks: &Locks) {
    for one in checked {
        let Some(file) = &mut one.file else {
            continue;
        };
        let of_rules = file.rules.iter().flat_map(|rule| &rule.plugins);
        let named = of_rules.chain(file.grants.iter().flatten().flat_map(|it| &it.plugins));
        let named: Vec<PluginName> = named.cloned().collect();
        file.components = files(&one.path, &named);
        let digest_of =
            |plugin: &PluginName| digest_of(one.role, &one.path, plugin, catalog, locks);
        let mut problems = resolve_plugins(&mut file.rules, digest_of);
        for grant in file.grants.iter_mut().flatten() {
            grant.files = files(&one.path, &grant.plugins);
            grant.installed = installed(&grant.plugins, catalog, locks);
            let of_grant = resolve_names(&mut grant.plugins, |plugin| match plugin {
                PluginName::Bundled(name) if is_native(name, catalog) => Err(format!(
                    "{name:?} is part of this program, and grants are for plugins"
                )),
                plugin => digest_of(plugin),
            });
            problems.extend(of_grant.into_iter().map(|it| format!("a grant: {it}")));
        }
        let problems = problems.into_iter();
        one.problems
            .extend(problems.map(|it| Problem::of_file(&one.path, it)));
    }
}

/// Returns the files among these plugins.
fn files(file: &Path, plugins: &[PluginName]) -> Vec<PathBuf> {
    let files = plugins.iter().filter_map(|plugin| match plugin {
        PluginName::File(path) => Some(below(file, &PathText::try_from(path.clone()).ok()?)),
        _ => None,
    });
    files.collect()
}

/// Returns the installed ones among these plugins.
fn installed(plugins: &[PluginName], catalog: Catalog, locks: &Locks) -> Vec<InstalledName> {
    let installed = plugins.iter().filter_map(|plugin| match plugin {
        PluginName::Bundled(name) if catalog.find(name).is_none() => {
            Some(locks.find(name)?.entry.name)
        }
        _ => None,
    });
    installed.collect()
}

fn is_native(name: &str, catalog: Catalog) -> bool {
    let found = catalog.find(name);
    found.is_some_and(|it| matches!(it.kind, BundledKind::Native(_)))
}

fn digest_of(
    role: Role,
    file: &Path,
    plugin: &PluginName,
    catalog: Catalog,
    locks: &Locks,
) -> Result<Digest, String> {
    match plugin {
        PluginName::Digest(digest) => Ok(*digest),
        PluginName::Bundled(name) => match (catalog.find(name), locks.find(name)) {
            (Some(bundled), _) => Ok(bundled.kind.digest()),
            (None, Some(installed)) => Ok(installed.entry.digest),
            (None, None) => Err(format!(
                "no plugin {name:?} is bundled or installed: there are {}; another one is named by the path of its file, or by the digest of its bytes",
                [catalog.names(), locks.names()]
                    .join(", ")
                    .trim_end_matches(", ")
            )),
        },
        PluginName::File(path) => {
            let path = PathText::try_from(path.clone())?;
            let path = below(file, &path);
            // Making a component takes time, and a workspace's file may come from a stranger.
            if role == Role::Workspace && is_made(&path) {
                return Err(format!(
                    "{} is no component: a workspace's rules name a program or a tools file by the digest that `airlock inspect` shows",
                    path.display()
                ));
            }
            match Source::File(&path).bytes() {
                Ok(Some(bytes)) => Ok(Digest::of(&bytes)),
                Ok(None) => Err(format!("{} is no component", path.display())),
                Err(error @ Error::ToolsFile(_)) => Err(error.to_string()),
                Err(_) => Err(format!(
                    "there is no component {} that can be read",
                    path.display()
                )),
            }
        }
    }
}

/// Notes each digest in a rule that matches no known plugin. Call this before names are replaced
/// with digests.
pub(super) fn note_unknown_digests(checked: &mut [Checked], catalog: Catalog, locks: &Locks) {
    let bundled = catalog.all().iter().map(|it| it.kind.digest());
    let installed = locks.all().into_iter().map(|it| it.entry.digest);
    let mut known: Vec<Digest> = bundled.chain(installed).collect();
    for one in &*checked {
        let named = one.file.iter().flat_map(|it| it.plugins.iter().flatten());
        let is_file = |it: &&PathText| {
            catalog.find(it.as_str()).is_none() && locks.find(it.as_str()).is_none()
        };
        for plugin in named.filter(is_file) {
            // Loading it reports an error.
            let bytes = Source::File(&below(&one.path, plugin)).bytes();
            known.extend(bytes.ok().flatten().map(|it| Digest::of(&it)));
        }
    }
    for one in checked {
        let rules = one.file.iter().flat_map(|file| &file.rules);
        let of_rule = |rule: &Rule| format!("rule {:?}", rule.name);
        let rules = rules.flat_map(|rule| rule.plugins.iter().map(move |it| (of_rule(rule), it)));
        let grants = one
            .file
            .iter()
            .flat_map(|file| file.grants.iter().flatten());
        let grants = grants.flat_map(|it| it.plugins.iter().map(|it| ("a grant".to_owned(), it)));
        let unknown = rules.chain(grants).filter_map(|(of, plugin)| match plugin {
            PluginName::Digest(digest) if !known.contains(digest) => Some(format!(
                "{of} is about {digest}: no plugin has it that is bundled, installed, or named in `plugins`"
            )),
            _ => None,
        });
        one.notes = unknown.map(|it| Problem::of_file(&one.path, it)).collect();
    }
}
