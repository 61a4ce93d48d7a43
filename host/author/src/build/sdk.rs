//! The SDK copy in a project's folder: its contents, its version and how to install it.

use std::fs;
use std::io;
use std::path::Path;

use airlock_host::digest::Digest;
use anyhow::{Context, anyhow};
use serde::Deserialize;

use super::bindings::{self, World};
use super::manifest::read_if_there;
use super::project::{Language, Project};
use super::sources::holds_sources;
use super::{embedded, go};
use crate::error::Error;

/// The SDK's folder in a project. It is not `vendor`, which Go uses itself.
pub const FOLDER: &str = "sdk";

/// The archive from which npm installs the TypeScript SDK.
pub const NODE_ARCHIVE: &str = "sdk/airlock-tool.tgz";

/// The file that marks a folder as an SDK and contains its version.
const STAMP: &str = "version.toml";

/// The file with this information for people.
const README: &str = "README.md";

/// The version of all SDKs in this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An SDK that is embedded in this program.
pub struct Sdk {
    language: Language,
    /// The files, with paths relative to the SDK's folder.
    files: Vec<(String, Vec<u8>)>,
}

/// The contents of [`STAMP`].
#[derive(Deserialize)]
struct Stamp {
    language: Language,
    version: String,
    digest: String,
}

/// The result of updating a project's SDK.
#[derive(Debug)]
pub struct Updated {
    /// The previous version, if there was one.
    pub before: Option<String>,
    /// The new version.
    pub version: &'static str,
    /// True if any file changed.
    pub changed: bool,
    /// The commands that make the project use the new SDK.
    pub commands: Vec<String>,
}

impl Sdk {
    /// Returns the SDK for a language.
    ///
    /// # Errors
    /// If the embedded world is damaged, from which bindings are generated.
    pub fn of(language: Language) -> Result<Self, Error> {
        let mut files: Vec<(String, Vec<u8>)> = table(language)
            .iter()
            .map(|(name, contents)| (place(name).to_owned(), contents.to_vec()))
            .collect();
        if language == Language::Go {
            // Lets Go's own tools and editors find all packages.
            files.extend(go::bindings(&World::read()?)?);
        }
        files.sort();
        Ok(Self { language, files })
    }

    /// Returns the SDK's files, with paths relative to its folder.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let files = self.files.iter();
        files.map(|(name, contents)| (name.as_str(), contents.as_slice()))
    }

    fn digest(&self) -> String {
        digest(&self.files)
    }

    /// Writes the SDK to a project that has none.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, project: &Path) -> Result<(), Error> {
        self.write_to(&project.join(FOLDER))
    }

    /// Writes the SDK's files.
    ///
    /// # Errors
    /// If they can't be written.
    pub fn write_files(&self, folder: &Path) -> Result<(), Error> {
        let mut files = self.files();
        files.try_for_each(|(name, contents)| bindings::write(&folder.join(name), contents))
    }

    fn write_to(&self, folder: &Path) -> Result<(), Error> {
        self.write_files(folder)?;
        bindings::write(&folder.join(README), readme(self.language).as_bytes())?;
        let stamp = format!(
            "# Written by `airlock`, which tells by it whether this folder is that of another version.\n\
             language = \"{}\"\nversion = \"{VERSION}\"\ndigest = \"{}\"\n",
            self.language.name(),
            self.digest()
        );
        bindings::write(&folder.join(STAMP), stamp.as_bytes())
    }
}

fn table(language: Language) -> &'static [(&'static str, &'static [u8])] {
    use embedded::sdks;

    match language {
        Language::Rust => sdks::RUST,
        Language::TypeScript => sdks::TS,
        Language::Python => sdks::PYTHON,
        Language::C => sdks::C,
        Language::Go => sdks::GO,
    }
}

/// Returns the destination of a file. A cargo package can't contain another one's manifest under
/// its usual name, and the C compiler gets a single folder.
fn place(name: &str) -> &str {
    match name {
        "Cargo.toml.copy" => "Cargo.toml",
        "cjson/LICENSE" => "cJSON-LICENSE",
        _ => name.strip_prefix("cjson/").unwrap_or(name),
    }
}

fn readme(language: Language) -> String {
    let title = language.title();
    let published = match language {
        Language::Rust | Language::TypeScript | Language::Python => {
            "\nOnce the SDK is published, a project can take it from its registry, and needs no such folder: the project's README says how.\n"
        }
        // These languages have no registry entry.
        Language::Go | Language::C => "",
    };
    format!(
        "# Airlock's SDK for {title}, {VERSION}\n\n\
         `airlock new` put it here, so that the project builds wherever `airlock` and the language's own tools are.\n\
         It belongs to the project's sources: keep it with them.\n\n\
         Nothing here is to be edited. `airlock new --update-sdk`, in the project's folder, puts the SDK of a newer `airlock` in its place.\n\
         {published}"
    )
}

/// Returns the digest of all files, sorted by name, including these.
fn digest(files: &[(String, Vec<u8>)]) -> String {
    let mut all = Vec::new();
    for (name, contents) in files {
        all.extend_from_slice(format!("{name}\0{}\0", contents.len()).as_bytes());
        all.extend_from_slice(contents);
    }
    Digest::of(&all).to_string()
}

/// Returns whether the project has a copy of the SDK for its language.
pub fn is_kept(project: &Path, language: Language) -> bool {
    matches!(read_stamp(project), Ok(Some(stamp)) if stamp.language == language)
}

/// Describes the difference if a project's SDK has another version than this program's.
///
/// # Errors
/// If its stamp can't be read.
pub fn difference(project: &Path, language: Language) -> Result<Option<String>, Error> {
    let Some(stamp) = read_stamp(project)? else {
        return Ok(None);
    };
    if stamp.language != language || stamp.digest == Sdk::of(language)?.digest() {
        return Ok(None);
    }
    let which = if stamp.version == VERSION {
        format!("is another one of the version {VERSION} than this program's")
    } else {
        format!("is {}, and this program's is {VERSION}", stamp.version)
    };
    Ok(Some(format!(
        "note: the SDK in `{FOLDER}` {which}; to take that: airlock new --update-sdk"
    )))
}

/// Replaces a project's SDK with the one in this program.
///
/// # Errors
/// If the folder contains no project, its SDK was edited, or the SDK can't be written.
pub fn update(folder: &Path) -> Result<Updated, Error> {
    let project = Project::find(folder)?;
    let (folder, language) = (&project.folder, project.language);
    let sdk = Sdk::of(language)?;
    let before = match read_stamp(folder)? {
        Some(stamp) => {
            check_unedited(folder, &stamp)?;
            Some(stamp)
        }
        None if folder.join(FOLDER).exists() => {
            let error = anyhow!("the folder `{FOLDER}` is none that `airlock new` made");
            return Err(Error::usage(error).with_advice(format!("it has no {STAMP}")));
        }
        None => None,
    };
    let changed = before
        .as_ref()
        .is_none_or(|stamp| stamp.digest != sdk.digest());
    if changed {
        replace(&sdk, folder)
            .with_context(|| format!("could not write {}", folder.join(FOLDER).display()))
            .map_err(|error| Error::machine(error).with_advice("check the folder's permissions"))?;
    }
    Ok(Updated {
        before: before.map(|stamp| stamp.version),
        version: VERSION,
        changed,
        commands: install_commands(language),
    })
}

/// Returns the commands that make the language's own tools take the SDK from the project's folder
/// again, if they keep a copy.
fn install_commands(language: Language) -> Vec<String> {
    let commands: &[&str] = match language {
        Language::TypeScript => &["npm install ./sdk/airlock-tool.tgz"],
        Language::Python => &[".venv/bin/pip install ./sdk"],
        Language::Rust | Language::C | Language::Go => &[],
    };
    let commands = commands.iter().chain(&["airlock build"]);
    commands.map(|command| (*command).to_owned()).collect()
}

/// Writes to a folder next to it first, so that a complete SDK exists at all times except for an
/// instant.
fn replace(sdk: &Sdk, project: &Path) -> anyhow::Result<()> {
    let mut beside = tempfile::Builder::new();
    let beside = beside.prefix(".sdk-").tempdir_in(project)?;
    let (new, old) = (beside.path().join("new"), beside.path().join("old"));
    sdk.write_to(&new).map_err(anyhow::Error::new)?;
    let place = project.join(FOLDER);
    let was_there = place.exists();
    if was_there {
        fs::rename(&place, &old)?;
    }
    let placed = fs::rename(&new, &place);
    if placed.is_err() && was_there {
        fs::rename(&old, &place)?;
    }
    Ok(placed?)
}

/// Refuses to overwrite edited files.
fn check_unedited(project: &Path, stamp: &Stamp) -> Result<(), Error> {
    let folder = project.join(FOLDER);
    let mut files = Vec::new();
    read_all(&folder, "", &mut files)
        .with_context(|| format!("can't read {}", folder.display()))
        .map_err(Error::machine)?;
    files.sort();
    if digest(&files) == stamp.digest {
        return Ok(());
    }
    let error = anyhow!("the SDK in `{FOLDER}` was changed since it was put there");
    let hint = "keep what you changed elsewhere, remove the folder, and run this again";
    Err(Error::usage(error).with_advice(hint))
}

/// Reads all files except the stamp and build output.
fn read_all(folder: &Path, below: &str, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !holds_sources(Path::new(&name)) {
            continue;
        }
        let name = format!("{below}{}", name.to_string_lossy());
        if entry.file_type()?.is_dir() {
            read_all(&entry.path(), &format!("{name}/"), files)?;
        } else if ![STAMP, README].contains(&&*name) {
            files.push((name, fs::read(entry.path())?));
        }
    }
    Ok(())
}

fn read_stamp(project: &Path) -> Result<Option<Stamp>, Error> {
    let path = project.join(FOLDER).join(STAMP);
    let Some(text) = read_if_there(&path).map_err(Error::usage)? else {
        return Ok(None);
    };
    let stamp = toml::from_str(&text)
        .with_context(|| format!("{} is not valid", path.display()))
        .map_err(|error| Error::usage(error).with_advice("restore it, or remove the folder"))?;
    Ok(Some(stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [Language; 5] = [
        Language::Rust,
        Language::TypeScript,
        Language::Python,
        Language::C,
        Language::Go,
    ];

    #[test]
    fn an_sdk_that_was_written_is_this_programs() {
        for language in LANGUAGES {
            let project = tempfile::tempdir().unwrap();
            assert!(!is_kept(project.path(), language));
            Sdk::of(language).unwrap().write(project.path()).unwrap();
            assert!(is_kept(project.path(), language), "{language:?}");
            assert_eq!(difference(project.path(), language).unwrap(), None);
            let stamp = read_stamp(project.path()).unwrap().unwrap();
            check_unedited(project.path(), &stamp).unwrap();
        }
    }

    /// Returns a C project whose SDK has a file of another version, as its stamp says.
    fn with_another() -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join("airlock.toml"), "language = \"c\"").unwrap();
        let other = Sdk {
            language: Language::C,
            files: vec![("airlock.h".to_owned(), b"// of old\n".to_vec())],
        };
        other.write(project.path()).unwrap();
        project
    }

    #[test]
    fn another_one_is_told_and_replaced() {
        let project = with_another();
        let note = difference(project.path(), Language::C).unwrap().unwrap();
        assert!(note.contains("airlock new --update-sdk"), "{note}");
        let updated = update(project.path()).unwrap();
        assert!(updated.changed);
        assert_eq!(updated.before.as_deref(), Some(VERSION));
        assert_eq!(difference(project.path(), Language::C).unwrap(), None);
        let header = fs::read_to_string(project.path().join("sdk/airlock.h")).unwrap();
        assert!(header.contains("airlock_push"), "{header}");
        assert!(!update(project.path()).unwrap().changed);
        let left: Vec<_> = fs::read_dir(project.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }

    #[test]
    fn one_that_was_edited_or_is_somebody_elses_stays_as_it_is() {
        let check = |file: &str, remove: &str, part: &str| {
            let project = with_another();
            let sdk = project.path().join(FOLDER);
            fs::write(sdk.join(file), "mine").unwrap();
            let _ = fs::remove_file(sdk.join(remove));
            let refused = update(project.path()).unwrap_err().to_string();
            assert!(refused.contains(part), "{refused}");
            assert_eq!(fs::read_to_string(sdk.join(file)).unwrap(), "mine");
        };
        check("airlock.h", "", "was changed");
        check("more.h", "", "was changed");
        check("more.h", STAMP, "none that `airlock new` made");
        check(STAMP, "", "version.toml is not valid");
    }

    #[test]
    fn what_a_build_left_there_is_no_edit() {
        let project = with_another();
        fs::create_dir(project.path().join("sdk/target")).unwrap();
        fs::write(project.path().join("sdk/target/made"), "").unwrap();
        assert!(update(project.path()).unwrap().changed);
    }
}
