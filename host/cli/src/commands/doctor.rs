//! `airlock doctor`: checks the parts that a user's calls depend on.

use std::path::{Path, PathBuf};

use airlock_desk::configuration::{Given, OperatorFiles, Settings};
use airlock_desk::lock::Installed;
use airlock_desk::plugin;
use airlock_desk::session::{real_path, without_model};
use airlock_desk::store::{self, StoreOptions, WhenMissing};
use airlock_host::compile::WASMTIME_VERSION;
use airlock_registry::{Client, OciReference, Options, Reference};
use airlock_render::{Line, Role};

use crate::bundled::CATALOG;
use crate::commands::{checks, installed};
use crate::documents::doctor::{Check, Doctor};
use crate::failure::{Exit, Failure};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// The arguments of the command.
pub struct Request {
    pub workspace: Option<PathBuf>,
    /// True to ask no registry.
    pub offline: bool,
    pub store: StoreOptions,
}

pub async fn doctor(request: &Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let checking = progress.during("Checking…".to_owned(), all(request));
    let checks = interrupt.token().run_until_cancelled(checking).await;
    let checks = checks.ok_or_else(Failure::interrupted)?;
    let version = concat!("airlock ", env!("CARGO_PKG_VERSION")).to_owned();
    let wasmtime = WASMTIME_VERSION;
    let title = Line::new().with_role(Role::Title, &*version);
    out.line(title.with(format!(", wasmtime {wasmtime}")));
    for check in &checks {
        out.show(&checks::shown(check));
    }
    let exit = checks::exit(&checks);
    out.json(&Doctor {
        checks,
        version,
        wasmtime,
    });
    Ok(exit)
}

async fn all(request: &Request) -> Vec<Check> {
    let config = &request.store.config;
    let mut checks = vec![configuration(request), store(&request.store).await];
    checks.push(cache());
    match installed::all(config) {
        Ok(installed) => {
            checks.extend(installed.iter().map(checks::component));
            let asked = installed.iter().filter(|_| !request.offline);
            for one in asked {
                checks.extend(registry(one).await);
            }
        }
        Err(failure) => checks.push(Check::wrong("plugins", &failure)),
    }
    checks.push(workspace(&request.workspace, config));
    checks
}

fn configuration(request: &Request) -> Check {
    let given = Given {
        workspace: request.workspace.clone(),
        ..Given::default()
    };
    let (files, settings) = Settings::check(&request.store.config, &given, CATALOG);
    if let Err(problems) = settings {
        let failure = Failure::from(airlock_desk::Error::from(problems));
        return Check::wrong("configuration", &failure);
    }
    let found = files.iter().filter(|it| it.is_found);
    let found: Vec<String> = found.map(|it| it.path.display().to_string()).collect();
    match &found[..] {
        [] => Check::well("configuration", "no file, so the defaults apply"),
        found => Check::well("configuration", found.join(", ")),
    }
}

async fn store(options: &StoreOptions) -> Check {
    let opened = async {
        let store = store::open(options, WhenMissing::Refuse).await?;
        let stats = store.durable().stats().await?;
        Ok::<_, Failure>((store.location(), stats))
    };
    match opened.await {
        Ok((location, stats)) if stats.interrupted > 0 => {
            let text = format!("{location}: {} actions are interrupted", stats.interrupted);
            Check::note("store", text, "`airlock pending --all` lists them")
        }
        Ok((location, stats)) => {
            let text = format!("{location}: {} actions are pending", stats.pending);
            Check::well("store", text)
        }
        Err(failure) => Check::wrong("store", &failure),
    }
}

fn cache() -> Check {
    match plugin::compile_cache() {
        Ok(cache) => Check::well("cache", cache.folder().display().to_string()),
        Err(error) => Check::note(
            "cache",
            format!("{error}, so each command compiles its plugin again"),
            "AIRLOCK_CACHE_DIR names another folder",
        ),
    }
}

/// Checks whether a plugin's tag still leads to the installed artifact.
async fn registry(installed: &Installed) -> Option<Check> {
    let entry = &installed.entry;
    let Reference::Oci(reference) = &entry.reference else {
        return None;
    };
    Some(match resolve(reference).await {
        Ok(digest) if Some(digest) == entry.manifest => {
            Check::well("registry", format!("{reference} is the installed artifact"))
        }
        Ok(_) => Check::note(
            "registry",
            format!("{reference} is another artifact than the installed one"),
            format!("`airlock update {}` shows the difference", entry.name),
        ),
        Err(error) => Check::wrong("registry", &error.into()),
    })
}

async fn resolve(
    reference: &OciReference,
) -> Result<airlock_host::digest::Digest, airlock_desk::Error> {
    let client = Client::new(Options::default())?;
    Ok(client.resolve(reference).await?.digest)
}

fn workspace(named: &Option<PathBuf>, config: &OperatorFiles) -> Check {
    let configured = || config.operator().ok()?.workspace();
    let path = named.clone().or_else(configured);
    let path = real_path(path.as_deref().unwrap_or(Path::new(".")));
    let shown = path.display();
    let session = without_model().workspace(&path).open();
    match session {
        Ok(session) => match session.apply_obstacle() {
            None => {
                let text = format!("{shown}: an apply is one step, and survives a crash");
                Check::well("workspace", text)
            }
            Some(obstacle) => Check::note(
                "workspace",
                format!("{shown}: tools can preview, but nothing can be applied: {obstacle}"),
                "choose a directory on another file system",
            ),
        },
        Err(error) => Check::wrong("workspace", &error.into()),
    }
}
