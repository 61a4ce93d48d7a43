//! The SDK that a project keeps in a folder of its own: what is in it, whether it is this
//! program's, and how it gets there.

use std::fs;
use std::io;
use std::path::Path;

use airlock_host::digest::Digest;
use anyhow::{Context, anyhow};
use serde::Deserialize;

use super::bindings::{self, World};
use super::project::{Language, Project};
use super::sources::holds_sources;
use super::{embedded, go};
use crate::error::Error;

/// From the project's folder. Not `vendor`, which Go has uses of its own for.
pub const FOLDER: &str = "sdk";

/// What npm takes the SDK for TypeScript from.
pub const NODE_ARCHIVE: &str = "sdk/airlock-tool.tgz";

/// Says of a folder that it is an SDK of ours, and which.
const STAMP: &str = "version.toml";

/// Says the same to people.
const README: &str = "README.md";

/// The version of all SDKs in this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An SDK as it is in this program.
pub struct Sdk {
    language: Language,
    /// With their paths from the SDK's folder.
    files: Vec<(String, Vec<u8>)>,
}

/// What [`STAMP`] has.
#[derive(Deserialize)]
struct Stamp {
    language: Language,
    version: String,
    digest: String,
}

/// What became of a project's SDK.
#[derive(Debug)]
pub struct Updated {
    /// The version that was there before, if there was one.
    pub before: Option<String>,
    /// The one that is there now.
    pub version: &'static str,
    /// Whether anything is different.
    pub changed: bool,
    /// The command lines that make the project use it.
    pub commands: Vec<String>,
}

impl Sdk {
    /// The SDK for a language.
    ///
    /// # Errors
    /// If the world in this program is damaged, from which bindings are made.
    pub fn of(language: Language) -> Result<Self, Error> {
        let mut files: Vec<(String, Vec<u8>)> = table(language)
            .iter()
            .map(|(name, contents)| (place(name).to_owned(), contents.to_vec()))
            .collect();
        if language == Language::Go {
            // So that Go's own tools, and editors, find all of it.
            files.extend(go::bindings(&World::read()?)?);
        }
        files.sort();
        Ok(Self { language, files })
    }

    /// Its files, with their paths from its folder.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let files = self.files.iter();
        files.map(|(name, contents)| (name.as_str(), contents.as_slice()))
    }

    fn digest(&self) -> String {
        digest(&self.files)
    }

    /// Puts it into a project that has none.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, project: &Path) -> Result<(), Error> {
        self.write_to(&project.join(FOLDER))
    }

    fn write_to(&self, folder: &Path) -> Result<(), Error> {
        for (name, contents) in self.files() {
            bindings::write(&folder.join(name), contents)?;
        }
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

/// Where a file goes. A package of cargo's can hold no other one's manifest by its name, and C's
/// compiler is given one folder.
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
        // No registry has these.
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

/// Of all files in the order of their names, with these.
fn digest(files: &[(String, Vec<u8>)]) -> String {
    let mut all = Vec::new();
    for (name, contents) in files {
        all.extend_from_slice(format!("{name}\0{}\0", contents.len()).as_bytes());
        all.extend_from_slice(contents);
    }
    Digest::of(&all).to_string()
}

/// Whether the project keeps the SDK for its language.
pub fn is_kept(project: &Path, language: Language) -> bool {
    matches!(read_stamp(project), Ok(Some(stamp)) if stamp.language == language)
}

/// What to tell of a project whose SDK is another than this program's.
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
    let which = match stamp.version == VERSION {
        true => format!("is another one of the version {VERSION} than this program's"),
        false => format!("is {}, and this program's is {VERSION}", stamp.version),
    };
    Ok(Some(format!(
        "note: the SDK in `{FOLDER}` {which}; to take that: airlock new --update-sdk"
    )))
}

/// Puts this program's SDK into a project, in place of the one that it keeps.
///
/// # Errors
/// If the folder is no project, if its SDK was edited, and if it can't be written.
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

/// What makes the language's own tools take the SDK from the project's folder, where they keep a
/// copy.
fn install_commands(language: Language) -> Vec<String> {
    let commands: &[&str] = match language {
        Language::TypeScript => &["npm install ./sdk/airlock-tool.tgz"],
        Language::Python => &[".venv/bin/pip install ./sdk"],
        Language::Rust | Language::C | Language::Go => &[],
    };
    let commands = commands.iter().chain(&["airlock build"]);
    commands.map(|command| (*command).to_owned()).collect()
}

/// In a folder beside it first, so that there is a whole one at all times but for an instant.
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

/// What somebody changed in it is not thrown away.
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

/// All but what says what it is, and what builds leave there.
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
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let read = format!("can't read {}", path.display());
            return Err(Error::usage(anyhow::Error::new(error).context(read)));
        }
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

    /// A project in C, whose SDK has a file of another version, as its stamp says.
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
