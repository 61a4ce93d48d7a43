//! Fetches the component that a reference leads to.

use std::fs;
use std::path::{Path, PathBuf};

use airlock_host::digest::Digest;
use airlock_host::regular::read_regular_file;
use airlock_registry::{
    Cache, Client, DEFAULT_MAX_COMPONENT_BYTES, FoundSignature, Options, Progress, Reference,
    signatures_next_to_file,
};

use crate::Error;
use crate::lock::Entry;
use crate::plugin::{Source, is_made, program_of};

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
    /// The signatures next to it, which are not verified.
    pub signatures: Vec<FoundSignature>,
}

impl FetchedComponent {
    /// Reads the component.
    ///
    /// # Errors
    /// Fails if the file can't be read, or was changed since.
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        let bytes =
            read_regular_file(&self.path, DEFAULT_MAX_COMPONENT_BYTES).map_err(|source| {
                let path = self.path.clone();
                airlock_registry::Error::Cache { path, source }
            })?;
        match Digest::of(&bytes) {
            actual if actual != self.digest => Err(airlock_registry::Error::WrongContents {
                name: self.path.display().to_string(),
                expected: self.digest,
                actual,
            }
            .into()),
            _ => Ok(bytes),
        }
    }
}

/// Fetches the component that the reference leads to now, unless the cache has it, and its
/// signatures.
///
/// # Errors
/// Fails if there is no component, if it can't be fetched, or if it isn't the expected one.
pub async fn fetch(
    reference: &Reference,
    expected: Option<Digest>,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<FetchedComponent, Error> {
    let check = |actual| match expected {
        Some(expected) if expected != actual => {
            let name = reference.to_string();
            Err(airlock_registry::Error::WrongContents {
                name,
                expected,
                actual,
            })
        }
        _ => Ok(()),
    };
    match reference {
        Reference::Oci(oci) => {
            let client = Client::new(Options::default())?;
            let artifact = client.resolve(oci).await?;
            check(artifact.component)?;
            let signatures = client.signatures(&artifact).await?;
            let fetched = client.fetch(&artifact, cache, progress).await?;
            Ok(FetchedComponent {
                manifest: Some(artifact.digest),
                digest: fetched.digest,
                path: fetched.path,
                signatures,
            })
        }
        Reference::Web(url) => {
            let client = Client::new(Options::default())?;
            let signatures = client.signatures_next_to(url).await?;
            let fetched = client.fetch_url(url, expected, cache, progress).await?;
            Ok(FetchedComponent {
                manifest: None,
                digest: fetched.digest,
                path: fetched.path,
                signatures,
            })
        }
        Reference::Path(path) => {
            let file = file_at(path)?;
            let bytes = bytes_of(&file)?;
            let digest = Digest::of(&bytes);
            check(digest)?;
            Ok(FetchedComponent {
                manifest: None,
                digest,
                path: cache.add(&bytes)?,
                signatures: signatures_of(&file)?,
            })
        }
    }
}

/// Fetches an installed plugin's pinned component again, unless the cache has it and its entry
/// names no signers. A component in the cache may be there for another entry, so it doesn't show
/// who signed it. Returns whether it was missing, and the component if it was fetched.
///
/// # Errors
/// Fails if that can't be fetched, or something else is at the place now.
pub async fn fetch_pinned(
    entry: &Entry,
    cache: &Cache,
    progress: Progress<'_>,
) -> Result<(bool, Option<FetchedComponent>), Error> {
    let was_missing = cache.find(entry.digest)?.is_none();
    if !was_missing && entry.signed_by.is_empty() {
        return Ok((false, None));
    }
    let pinned = match (&entry.reference, entry.manifest) {
        (Reference::Oci(oci), Some(manifest)) => Reference::Oci(oci.clone().pinned(manifest)),
        (reference, _) => reference.clone(),
    };
    let fetching = fetch(&pinned, Some(entry.digest), cache, progress);
    Ok((was_missing, Some(fetching.await?)))
}

/// Returns the component's file at a path: the file itself, or the only one in a folder.
///
/// # Errors
/// Fails if a folder has none, or several.
pub fn file_at(path: &Path) -> Result<PathBuf, Error> {
    if path.is_dir() {
        component_in(path)
    } else {
        Ok(path.to_owned())
    }
}

/// Returns the component of a file.
///
/// # Errors
/// Fails if there is none, or if it can't be read.
pub fn bytes_of(file: &Path) -> Result<Vec<u8>, Error> {
    let bytes = Source::File(file).bytes()?;
    Ok(bytes.unwrap_or_default().into_owned())
}

/// Returns the signatures next to a component's file. Those of a file that a component is made of
/// are not the component's.
///
/// # Errors
/// Fails if there are some, and none can be read.
pub fn signatures_of(file: &Path) -> Result<Vec<FoundSignature>, Error> {
    if is_made(file) {
        return Ok(Vec::new());
    }
    Ok(signatures_next_to_file(file)?)
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
