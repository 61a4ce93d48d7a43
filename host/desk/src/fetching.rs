//! Fetches the component that a reference leads to.

use std::fs;
use std::path::{Path, PathBuf};

use airlock_host::digest::Digest;
use airlock_registry::{Artifact, Cache, Client, Options, Progress, Reference};

use crate::Error;
use crate::lock::Entry;
use crate::plugin::{Source, program_of};

/// A component that was fetched.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FetchedComponent {
    /// The digest of the artifact's manifest, if it came from a registry.
    pub manifest: Option<Digest>,
    /// The SHA-256 of the component's bytes.
    pub digest: Digest,
    /// Its file in the cache.
    pub path: PathBuf,
}

/// Fetches the component that the reference leads to now. Returns `None` without fetching it if
/// the artifact's manifest is `known`.
///
/// # Errors
/// Fails if there is no component, or if it can't be fetched.
pub async fn fetch(
    reference: &Reference,
    known: Option<Digest>,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<Option<FetchedComponent>, Error> {
    match reference {
        Reference::Oci(oci) => {
            let client = Client::new(Options::default())?;
            let artifact = client.resolve(oci).await?;
            if known == Some(artifact.digest) {
                return Ok(None);
            }
            from_registry(&client, &artifact, cache, progress)
                .await
                .map(Some)
        }
        Reference::Web(url) => {
            let client = Client::new(Options::default())?;
            let fetched = client.fetch_url(url, None, cache, progress).await?;
            Ok(Some(FetchedComponent {
                manifest: None,
                digest: fetched.digest,
                path: fetched.path,
            }))
        }
        Reference::Path(path) => from_disk(path, cache).map(Some),
    }
}

/// Fetches an installed plugin's pinned component again, unless it is there. Returns whether it
/// was missing.
///
/// # Errors
/// Fails if that can't be fetched, or something else is at the place now.
pub async fn fetch_pinned(
    entry: &Entry,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<bool, Error> {
    if cache.find(entry.digest)?.is_some() {
        return Ok(false);
    }
    let other = |actual| {
        Err(Error::from(airlock_registry::Error::WrongContents {
            name: entry.reference.to_string(),
            expected: entry.digest,
            actual,
        }))
    };
    match &entry.reference {
        Reference::Oci(oci) => {
            let client = Client::new(Options::default())?;
            let pinned = match entry.manifest {
                Some(manifest) => oci.clone().pinned(manifest),
                None => oci.clone(),
            };
            let artifact = client.resolve(&pinned).await?;
            if artifact.component != entry.digest {
                return other(artifact.component);
            }
            from_registry(&client, &artifact, cache, progress).await?;
        }
        Reference::Web(url) => {
            let client = Client::new(Options::default())?;
            let expected = Some(entry.digest);
            client.fetch_url(url, expected, cache, progress).await?;
        }
        Reference::Path(path) => {
            let bytes = bytes_at(path)?;
            let digest = Digest::of(&bytes);
            if digest != entry.digest {
                return other(digest);
            }
            cache.add(&bytes)?;
        }
    }
    Ok(true)
}

async fn from_registry(
    client: &Client,
    artifact: &Artifact,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<FetchedComponent, Error> {
    let fetched = client.fetch(artifact, cache, progress).await?;
    Ok(FetchedComponent {
        manifest: Some(artifact.digest),
        digest: fetched.digest,
        path: fetched.path,
    })
}

fn from_disk(path: &Path, cache: &Cache) -> Result<FetchedComponent, Error> {
    let bytes = bytes_at(path)?;
    Ok(FetchedComponent {
        manifest: None,
        digest: Digest::of(&bytes),
        path: cache.add(&bytes)?,
    })
}

/// Returns the component at a path: a file, or a folder with one component.
///
/// # Errors
/// Fails if there is none, or if it can't be read.
pub fn bytes_at(path: &Path) -> Result<Vec<u8>, Error> {
    let file = if path.is_dir() {
        component_in(path)?
    } else {
        path.to_owned()
    };
    let bytes = Source::File(&file).bytes()?;
    Ok(bytes.unwrap_or_default().into_owned())
}

/// The folders of a project in which a component can be, the first one with a component counts.
const PLACES: [&str; 2] = [".", "build"];

/// Finds the only component or tools file in a folder, or in its folder `build`, into which
/// `airlock build` writes. The program of a tools file doesn't count.
fn component_in(folder: &Path) -> Result<PathBuf, Error> {
    let failed = |problem: String| Error::Folder {
        folder: folder.to_owned(),
        problem,
    };
    for place in PLACES {
        let Ok(files) = fs::read_dir(folder.join(place)) else {
            continue;
        };
        let files: Vec<PathBuf> = files.filter_map(|it| Some(it.ok()?.path())).collect();
        let programs: Vec<PathBuf> = files.iter().filter_map(|it| program_of(it)).collect();
        let is_program = |it: &Path| {
            let same = |program: &PathBuf| program.canonicalize().ok() == it.canonicalize().ok();
            programs.iter().any(same)
        };
        let is_component = |it: &&PathBuf| {
            let is_wasm = it.extension().is_some_and(|it| it == "wasm");
            (is_wasm && !is_program(it)) || program_of(it).is_some()
        };
        let mut found: Vec<&PathBuf> = files.iter().filter(is_component).collect();
        found.sort();
        match &found[..] {
            [] => {}
            [only] => return Ok((*only).clone()),
            [first, second, ..] => {
                return Err(failed(format!(
                    "has several components, such as {} and {}",
                    first.display(),
                    second.display()
                )));
            }
        }
    }
    Err(failed(
        "has no component: there is no file that ends in .wasm, there or in its folder build"
            .to_owned(),
    ))
}
