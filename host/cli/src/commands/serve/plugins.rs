//! The served plugins, as they were last loaded.

use std::ffi::{OsStr, OsString};

use airlock_desk::lock::Locks;
use airlock_desk::plugin::{Loaded, Source};
use airlock_host::Engine;
use airlock_render::Line;
use airlock_rules::PluginName;

use crate::bundled::CATALOG;
use crate::failure::Failure;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::on_stderr;
use crate::terminal::progress::Progress;

/// A plugin, as it was loaded, with its name on the command line.
#[derive(Clone)]
pub struct Served {
    pub named: OsString,
    pub loaded: Loaded,
}

/// Loads the named plugins, or all bundled ones.
///
/// # Errors
/// If one of them can't be loaded.
pub async fn load(
    named: &[OsString],
    locks: &Locks,
    engine: &Engine,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Vec<Served>, Failure> {
    let mut all = Vec::with_capacity(named.len());
    for named in or_bundled(named) {
        let what = format!("Compiling {}…", Source::find(CATALOG, locks, named)?.name());
        let loading = progress.during(what, load_one(named, locks, engine));
        match interrupt.token().run_until_cancelled(loading).await {
            Some(served) => all.push(served?),
            None => return Err(Failure::interrupted()),
        }
    }
    Ok(all)
}

/// Reloads them. A plugin that can no longer be loaded is served as `before`, with a message on
/// standard error.
///
/// # Errors
/// If an installed plugin can't be loaded: its grants and rules are about other bytes by now.
pub async fn load_again(
    named: &[OsString],
    locks: &Locks,
    engine: &Engine,
    before: &[Served],
) -> Result<Vec<Served>, Failure> {
    let mut all = Vec::with_capacity(named.len());
    for named in or_bundled(named) {
        let failure = match load_one(named, locks, engine).await {
            Ok(served) => {
                all.push(served);
                continue;
            }
            Err(failure) if !PluginName::is_path(&named.to_string_lossy()) => return Err(failure),
            Err(failure) => failure,
        };
        failure.report_on_stderr();
        let old = before.iter().find(|it| it.named == named);
        let named = named.display();
        match old {
            Some(old) => {
                all.push(old.clone());
                on_stderr(Line::from(format!(
                    "not reloaded, and served as it was: {named}"
                )));
            }
            None => on_stderr(Line::from(format!("not loaded, and not served: {named}"))),
        }
    }
    Ok(all)
}

fn or_bundled(named: &[OsString]) -> Vec<&OsStr> {
    match named {
        [] => {
            let bundled = CATALOG.all().iter();
            bundled.map(|it| OsStr::new(it.name)).collect()
        }
        named => named.iter().map(OsString::as_os_str).collect(),
    }
}

async fn load_one(named: &OsStr, locks: &Locks, engine: &Engine) -> Result<Served, Failure> {
    let source = Source::find(CATALOG, locks, named)?;
    Ok(Served {
        named: named.to_owned(),
        loaded: source.load(|| Ok(engine.clone())).await?,
    })
}
