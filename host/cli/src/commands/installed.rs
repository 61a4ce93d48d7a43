//! `airlock list` and `airlock uninstall`.

use airlock_desk::configuration::{Given, OperatorFiles, Settings};
use airlock_desk::lock::{Entry, Installed, InstalledName};
use airlock_host::Policy;
use airlock_render::{Block, Role};

use crate::bundled::CATALOG;
use crate::commands::install::{describing, lock_of};
use crate::commands::update::named;
use crate::documents::installed::{InstalledPlugin, InstalledPlugins, Uninstalled};
use crate::failure::{Exit, Failure};
use crate::terminal::output::{Output, show_on_stderr};

pub fn list(files: &OperatorFiles, out: &mut Output) -> Result<Exit, Failure> {
    let all = all(files)?;
    if all.is_empty() {
        out.line("Nothing is installed. `airlock install REFERENCE` installs a plugin.");
    }
    let effective = Effective::of(files);
    let plugins = all.iter().map(|Installed { entry, .. }| {
        let policy = effective.policy(entry);
        out.show(&describing::title(entry));
        out.show(&describing::origin(entry).block(describing::granted(&policy)));
        InstalledPlugin::new(entry, &policy)
    });
    let plugins = plugins.collect();
    out.json(&InstalledPlugins { plugins });
    Ok(Exit::Done)
}

/// Returns all installed plugins that a name can mean.
///
/// # Errors
/// If a lock can't be read.
pub fn all(files: &OperatorFiles) -> Result<Vec<Installed>, Failure> {
    let locks = files.locks().map_err(airlock_desk::Error::from)?;
    Ok(locks.all())
}

/// The policies of installed plugins under the configuration.
pub struct Effective(Option<Settings>);

impl Effective {
    /// Reads the configuration again. If it has errors, only the lock counts.
    pub fn of(files: &OperatorFiles) -> Self {
        Self(Settings::read(&files.anew(), &Given::default(), CATALOG).ok())
    }

    pub fn policy(&self, entry: &Entry) -> Policy {
        match &self.0 {
            Some(settings) => settings.policy_of(entry),
            None => entry.policy(),
        }
    }
}

pub fn uninstall(
    names: &[InstalledName],
    files: &OperatorFiles,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let lock = lock_of(files)?;
    let entries = named(&lock, names)?;
    let configuration = || Settings::read(&files.anew(), &Given::default(), CATALOG);
    let was_valid = configuration().is_ok();
    for entry in &entries {
        lock.replace(Some(entry), None)?;
        out.line(format!("Uninstalled {}.", entry.name));
    }
    if let (true, Err(problems)) = (was_valid, configuration()) {
        let text = format!("the configuration has errors now: {problems}");
        show_on_stderr(&Block::new().named(Role::Note, "note:", &text, 2));
    }
    out.json(&Uninstalled {
        uninstalled: entries.iter().map(|it| it.name.as_str()).collect(),
    });
    Ok(Exit::Done)
}
