//! `airlock audit`: installed plugins, the actions of all plugins, and known advisories.

mod activity;
mod advisories;
mod describing;
mod findings;
mod ledger;

use std::collections::HashSet;

use airlock_desk::lock::Installed;
use airlock_desk::store::{self, StoreOptions, WhenMissing};
use airlock_host::Policy;
use airlock_host::policy::Pattern;
use airlock_render::{Block, Line, Role};

use activity::Activity;
use advisories::Advisories;
use ledger::{Ledger, Producer};

use crate::bundled::CATALOG;
use crate::commands::checks;
use crate::commands::installed::{self, Effective};
use crate::documents::audit::{Audit, AuditedPlugin, OtherKind, OtherPlugin, Runtime};
use crate::documents::doctor::Check;
use crate::documents::installed::InstalledPlugin;
use crate::failure::{Exit, Failure};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// The arguments of the command.
pub struct Request {
    /// The plugins; empty for all.
    pub names: Vec<String>,
    pub store: StoreOptions,
}

/// An installed plugin, and its actions.
struct Audited<'a> {
    installed: &'a Installed,
    policy: Policy,
    activity: Activity,
    /// The actions of other components with its name.
    other_versions: Option<Activity>,
    /// The patterns of paths to change that match no file that it is known to have changed.
    unused_changes: Vec<Pattern>,
}

/// A plugin that is not installed under its name, and its actions.
struct Other {
    producer: Producer,
    kind: OtherKind,
    activity: Activity,
}

/// The outcome of an audit.
struct Report<'a> {
    plugins: Vec<Audited<'a>>,
    others: Vec<Other>,
    findings: Vec<Check>,
    runtime: Runtime,
    store: String,
}

pub async fn audit(request: &Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let installed = installed::all(&request.store.config)?;
    let reading = Report::read(request, &installed);
    let reading = progress.during("Reading the store…".to_owned(), reading);
    let report = interrupt.token().run_until_cancelled(reading).await;
    let report = report.ok_or_else(Failure::interrupted)??;
    out.page(&report.block());
    let exit = checks::exit(&report.findings);
    out.json(&report.document());
    Ok(exit)
}

impl<'a> Report<'a> {
    async fn read(request: &Request, installed: &'a [Installed]) -> Result<Self, Failure> {
        let runtime = Advisories::known()?.runtime()?;
        let names = request.names.iter().map(|it| full_name(it));
        let names: HashSet<&str> = names.collect();
        let effective = Effective::of(&request.store.config);
        let chosen = installed
            .iter()
            .filter(|it| is_chosen(&names, it.entry.name.as_str()));
        let chosen: Vec<_> = chosen.map(|it| (it, effective.policy(&it.entry))).collect();
        let mut ledger = Ledger::default();
        for (installed, policy) in &chosen {
            ledger.watch(installed.entry.name.as_str(), policy);
        }
        let store = store::open(&request.store, WhenMissing::Refuse).await?;
        ledger.read(&store, |name| is_chosen(&names, name)).await?;
        let plugins = chosen.into_iter();
        let plugins = plugins.map(|(it, policy)| Audited::new(it, policy, &mut ledger));
        let plugins: Vec<_> = plugins.collect();
        let unreadable = ledger.unreadable;
        let others = others(ledger, installed, &names);
        known(&names, &plugins, &others)?;
        Ok(Self {
            findings: findings::all(&runtime, &plugins, &others, unreadable, &store),
            plugins,
            others,
            runtime,
            store: store.location(),
        })
    }

    fn block(&self) -> Block {
        let heading = |text: &str| Line::new().with_role(Role::Faint, text).hanging(2);
        let mut block = match &self.plugins[..] {
            [] => Block::from(Line::from("No installed plugin is listed.")).line(""),
            _ => Block::new(),
        };
        for plugin in &self.plugins {
            block = block.block(describing::installed(plugin)).line("");
        }
        if !self.others.is_empty() {
            block = block.line(heading("Other plugins:"));
        }
        for plugin in &self.others {
            block = block.block(describing::other(plugin)).line("");
        }
        let store = format!("Findings, with the actions in {}:", self.store);
        let findings = self.findings.iter();
        findings.fold(block.line(heading(&store)), |block, it| {
            block.block(checks::shown(it))
        })
    }

    fn document(&self) -> Audit<'_> {
        Audit {
            findings: &self.findings,
            others: self.others.iter().map(Other::document).collect(),
            plugins: self.plugins.iter().map(Audited::document).collect(),
            runtime: &self.runtime,
            store: &self.store,
        }
    }
}

/// Returns the name under which a bundled plugin has its actions, for any spelling. Other names
/// stay as they are.
fn full_name(name: &str) -> &str {
    CATALOG.find(name).map_or(name, |bundled| bundled.name)
}

/// Returns whether a plugin is listed. Without names, all are.
fn is_chosen(names: &HashSet<&str>, name: &str) -> bool {
    names.is_empty() || names.contains(name)
}

/// Returns the plugins that are not installed under their names: those with actions, and bundled
/// ones that are named.
fn others(ledger: Ledger, installed: &[Installed], names: &HashSet<&str>) -> Vec<Other> {
    let others = ledger
        .activities
        .into_iter()
        .map(|(producer, activity)| Other {
            kind: kind(&producer, installed),
            producer,
            activity,
        });
    let mut others: Vec<Other> = others.collect();
    let is_listed = |others: &[Other], name| others.iter().any(|it| &*it.producer.name == name);
    for bundled in CATALOG.all().iter().filter(|it| names.contains(it.name)) {
        if !is_listed(&others, bundled.name) {
            others.push(Other {
                producer: Producer {
                    name: bundled.name.into(),
                    digest: bundled.kind.digest(),
                },
                kind: OtherKind::Bundled,
                activity: Activity::default(),
            });
        }
    }
    others
}

/// Checks that each name is one of a plugin.
fn known(names: &HashSet<&str>, plugins: &[Audited<'_>], others: &[Other]) -> Result<(), Failure> {
    let is_unknown = |name: &&&str| {
        let mut installed = plugins.iter().map(|it| it.installed.entry.name.as_str());
        let mut others = others.iter().map(|it| &*it.producer.name);
        installed.all(|it| it != **name) && others.all(|it| it != **name)
    };
    match names.iter().filter(is_unknown).min() {
        Some(name) => {
            let message = format!("{name} is neither bundled nor installed, and has no actions");
            let hint = "`airlock audit` without a name lists all plugins";
            Err(Failure::usage(message).quoting().with_hint(hint))
        }
        None => Ok(()),
    }
}

fn kind(producer: &Producer, all: &[Installed]) -> OtherKind {
    match CATALOG.find(&producer.name) {
        Some(bundled) if bundled.kind.digest() == producer.digest => OtherKind::Bundled,
        Some(_) => OtherKind::NamedAsBundled,
        None if all.iter().any(|it| it.entry.digest == producer.digest) => {
            OtherKind::NamedDifferently
        }
        None => OtherKind::NotInstalled,
    }
}

impl<'a> Audited<'a> {
    fn new(installed: &'a Installed, policy: Policy, ledger: &mut Ledger) -> Self {
        let name = installed.entry.name.as_str();
        Self {
            activity: ledger
                .take(name, installed.entry.digest)
                .unwrap_or_default(),
            other_versions: ledger.take_named(name),
            unused_changes: ledger.unused(name).to_vec(),
            installed,
            policy,
        }
    }

    fn is_unused(&self) -> bool {
        self.activity.actions == 0 && self.other_versions.is_none()
    }

    fn interrupted(&self) -> u64 {
        let others = self.other_versions.as_ref().map_or(0, |it| it.interrupted);
        self.activity.interrupted + others
    }

    fn document(&self) -> AuditedPlugin<'_> {
        let unused = self.unused_changes.iter();
        AuditedPlugin {
            plugin: InstalledPlugin::new(&self.installed.entry, &self.policy),
            activity: self.activity.document(),
            other_versions: self.other_versions.as_ref().map(Activity::document),
            unused: self.is_unused(),
            unused_changes: unused.map(|it| it.as_str().to_owned()).collect(),
        }
    }
}

impl Other {
    fn document(&self) -> OtherPlugin<'_> {
        OtherPlugin {
            activity: self.activity.document(),
            digest: self.producer.digest.to_string(),
            kind: self.kind,
            name: &self.producer.name,
        }
    }
}
