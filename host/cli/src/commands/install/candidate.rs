//! A plugin that may be installed.

use std::path::{self, Component};

use airlock_desk::configuration::Grant;
use airlock_desk::fetching::{self, FetchedComponent};
use airlock_desk::lock::{Entry, InstalledName, Lock};
use airlock_desk::signing::Signing;
use airlock_host::{Limits, Plugin};
use airlock_registry::Reference;
use airlock_render::{Block, Role};

use crate::failure::Failure;
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::show_on_stderr;
use crate::terminal::progress::Progress;
use crate::terminal::size::thousands;

/// A plugin that may be installed.
pub struct Candidate<'a> {
    pub lock: &'a Lock,
    pub signing: &'a Signing,
    pub name: InstalledName,
    pub reference: Reference,
}

impl Candidate<'_> {
    /// Fetches the component that the reference leads to now, verifies its signatures, and compiles
    /// it. The entry has no grant yet.
    ///
    /// # Errors
    /// If there is no such component, it lacks a required signature, it is no plugin, or Ctrl-C was
    /// pressed.
    pub async fn fetch(
        &self,
        interrupt: &Interrupt,
        progress: &Progress,
    ) -> Result<Entry, Failure> {
        let fetching = self.fetch_entry(progress);
        let fetched = interrupt.token().run_until_cancelled(fetching).await;
        fetched.ok_or_else(Failure::interrupted)?
    }

    async fn fetch_entry(&self, progress: &Progress) -> Result<Entry, Failure> {
        let Self {
            lock,
            name,
            reference,
            ..
        } = self;
        let cache = lock.components();
        let mut shown = downloading(progress, name);
        let fetching = fetching::fetch(reference, None, &cache, &mut shown);
        let what = format!("Fetching {name}…");
        let fetched = progress.during(what, fetching).await?;
        match self.checked(&fetched, progress).await {
            Ok(entry) => Ok(entry),
            Err(failure) => {
                drop(lock.forget(fetched.digest));
                Err(failure)
            }
        }
    }

    async fn checked(
        &self,
        fetched: &FetchedComponent,
        progress: &Progress,
    ) -> Result<Entry, Failure> {
        let (name, reference) = (&self.name, &self.reference);
        let bytes = fetched.bytes()?;
        let signatures = self.signing.verify(fetched, &bytes);
        self.signing.check(name, reference, &signatures)?;
        for refused in &signatures.refused {
            let text = format!("a signature of {name} doesn't count: {refused}");
            show_on_stderr(&Block::new().named(Role::Note, "note:", &text, 2));
        }
        let engine = load::engine(Limits::default())?;
        let loading = Plugin::from_bytes(&engine, name.as_str(), bytes);
        let plugin = progress
            .during(format!("Compiling {name}…"), loading)
            .await?;
        let (name, reference) = (name.clone(), reference.clone());
        let nothing = Grant::of_wants([]);
        let mut entry = Entry::new(name, reference, fetched.manifest, &plugin, nothing);
        entry.signed_by = signatures.signers;
        Ok(entry)
    }
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
