//! A plugin that may be installed.

use std::path::{self, Component};

use airlock_desk::configuration::Grant;
use airlock_desk::fetching;
use airlock_desk::lock::{Entry, InstalledName, Lock};
use airlock_host::regular::read_regular_file;
use airlock_host::{Limits, Plugin};
use airlock_registry::{DEFAULT_MAX_COMPONENT_BYTES, Reference};

use crate::failure::Failure;
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::progress::Progress;
use crate::terminal::size::thousands;

/// A plugin that was fetched, compiled and checked, and that nothing is granted yet.
pub struct Candidate {
    pub entry: Entry,
    pub plugin: Plugin,
}

impl Candidate {
    /// Fetches and loads the component that the reference leads to now. If `known` is from the same
    /// artifact, its component is loaded, and fetched only if it is missing.
    pub async fn fetch(
        lock: &Lock,
        name: InstalledName,
        reference: Reference,
        known: Option<&Entry>,
        interrupt: &Interrupt,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let fetching = fetch(lock, name, reference, known, progress);
        let fetched = interrupt.token().run_until_cancelled(fetching).await;
        fetched.ok_or_else(Failure::interrupted)?
    }
}

async fn fetch(
    lock: &Lock,
    name: InstalledName,
    reference: Reference,
    known: Option<&Entry>,
    progress: &Progress,
) -> Result<Candidate, Failure> {
    let cache = lock.components();
    let manifest = known.and_then(|it| it.manifest);
    let mut shown = downloading(progress, &name);
    let what = format!("Fetching {name}…");
    let fetching = fetching::fetch(&reference, manifest, &cache, &mut shown);
    let fetched = progress.during(what, fetching).await?;
    let (digest, manifest) = match (fetched, known) {
        (Some(fetched), _) => (fetched.digest, fetched.manifest),
        (None, Some(known)) => {
            fetching::fetch_pinned(known, &cache, &mut shown).await?;
            (known.digest, known.manifest)
        }
        (None, None) => return Err(Failure::host(format!("nothing was fetched for {name}"))),
    };
    let path = cache.path(digest);
    let failed = |error| Failure::host(format!("can't read {}: {error}", path.display()));
    let bytes = read_regular_file(&path, DEFAULT_MAX_COMPONENT_BYTES).map_err(failed)?;
    let engine = load::engine(Limits::default())?;
    let loading = Plugin::from_bytes(&engine, name.as_str(), bytes);
    let loaded = progress.during(format!("Compiling {name}…"), loading).await;
    let plugin = match loaded {
        Ok(plugin) => plugin,
        Err(error) => {
            lock.forget(digest)?;
            return Err(error.into());
        }
    };
    let nothing = Grant::of_wants([]);
    let entry = Entry::new(name, reference, manifest, &plugin, nothing);
    Ok(Candidate { entry, plugin })
}

/// Returns a function that shows how far a download is.
pub fn downloading(
    progress: &Progress,
    name: &InstalledName,
) -> impl FnMut(u64, Option<u64>) + Send + use<> {
    let (progress, name) = (progress.clone(), name.clone());
    let shown = |bytes: u64| thousands(usize::try_from(bytes).unwrap_or(usize::MAX));
    move |bytes, total| {
        progress.say(&match total {
            Some(total) => format!(
                "Fetching {name}: {} of {} bytes",
                shown(bytes),
                shown(total)
            ),
            None => format!("Fetching {name}: {} bytes", shown(bytes)),
        });
    }
}

/// Returns the reference with an absolute path, which means the same from any folder.
pub fn absolute(reference: &Reference) -> Result<Reference, Failure> {
    let Reference::Path(relative) = reference else {
        return Ok(reference.clone());
    };
    let leads_up = relative.components().any(|it| it == Component::ParentDir);
    let absolute = if leads_up {
        relative.canonicalize()
    } else {
        path::absolute(relative)
    };
    let absolute = absolute
        .map_err(|error| Failure::host(format!("can't find {}: {error}", relative.display())))?;
    match absolute.to_str() {
        Some(_) => Ok(Reference::Path(absolute)),
        None => Err(Failure::usage(format!(
            "the path {} is not UTF-8",
            absolute.display()
        ))),
    }
}
