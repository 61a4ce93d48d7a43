//! Creates projects.

mod folder;
mod sdk;
mod start;

use std::fs;
use std::path::{Path, PathBuf};

use airlock_render::shell;
use anyhow::{Context, anyhow};

use crate::build::sdk::{FOLDER, Sdk};
use crate::build::{Language, detect};
use crate::error::Error;
use folder::TemplateFile;
use start::{Start, Words};

pub use crate::build::sdk::{Updated, update as update_sdk};

/// The languages that have templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewLanguage {
    /// Rust, built by cargo.
    Rust,
    /// TypeScript, built by the SDK's own builder.
    TypeScript,
    /// JavaScript with types in comments, built by the SDK's own builder.
    JavaScript,
    /// Python, built by the SDK's own builder.
    Python,
    /// Go, built by the Go compiler.
    Go,
    /// C, built by zig or another clang.
    C,
}

impl NewLanguage {
    /// The languages.
    pub const ALL: [Self; 6] = [
        Self::Rust,
        Self::TypeScript,
        Self::JavaScript,
        Self::Python,
        Self::Go,
        Self::C,
    ];

    /// Returns the language with this name, in any case, as people write it or as in `airlock new
    /// --lang`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match &*name.to_ascii_lowercase() {
            "rust" => Self::Rust,
            "ts" | "typescript" => Self::TypeScript,
            "js" | "javascript" => Self::JavaScript,
            "python" => Self::Python,
            "go" => Self::Go,
            "c" => Self::C,
            _ => return None,
        })
    }

    /// Returns the language of its SDK. TypeScript and JavaScript share one.
    fn of_sdk(self) -> Language {
        match self {
            Self::Rust => Language::Rust,
            Self::TypeScript | Self::JavaScript => Language::TypeScript,
            Self::Python => Language::Python,
            Self::Go => Language::Go,
            Self::C => Language::C,
        }
    }
}

impl From<Language> for NewLanguage {
    fn from(language: Language) -> Self {
        match language {
            Language::Rust => Self::Rust,
            Language::TypeScript => Self::TypeScript,
            Language::Python => Self::Python,
            Language::C => Self::C,
            Language::Go => Self::Go,
        }
    }
}

/// The initial contents of a project.
#[derive(Debug, Clone, Copy)]
pub enum Template<'a> {
    /// A small working tool with a test.
    Of(NewLanguage),
    /// The files of a folder, with their placeholders filled in.
    Folder {
        /// The path of the folder.
        folder: &'a Path,
        /// The language of the files, if it can't be detected from them.
        language: Option<NewLanguage>,
    },
}

/// Options for [`new()`].
#[derive(Debug, Clone, Copy)]
pub struct NewOptions<'a> {
    /// The project's name.
    pub name: &'a str,
    /// The template to start from.
    pub template: Template<'a>,
    /// The project's folder; `None` means a folder with the project's name in the current one.
    pub folder: Option<&'a Path>,
    /// A clone of Airlock whose SDK the project uses instead of its own copy.
    pub checkout: Option<&'a Path>,
}

/// A created project.
#[derive(Debug)]
pub struct Project {
    /// The project's folder.
    pub folder: PathBuf,
    /// The project's files, relative to its folder, without those of its SDK.
    pub files: Vec<String>,
    /// The folder of its SDK, relative to the project's; `None` if the project has no copy.
    pub sdk: Option<&'static str>,
    /// The software that building it requires, as text for people.
    pub needs: &'static str,
    /// The commands that set up, build and test the project, and call its tool.
    pub commands: Vec<String>,
}

/// Creates a project.
///
/// # Errors
/// If the name is not valid in every language, the folder is not empty, the template or the
/// checkout is unusable, or the files can't be written.
pub fn new(order: NewOptions<'_>) -> Result<Project, Error> {
    let name = order.name;
    check_name(name)?;
    let folder = order.folder.unwrap_or(Path::new(name));
    check_folder(folder)?;
    let (language, files) = read_template(order.template)?;
    let elsewhere = match order.checkout {
        Some(checkout) => sdk::within_checkout(language, checkout)?,
        None => None,
    };
    let is_own = elsewhere.is_none();
    let named = elsewhere.unwrap_or_else(|| sdk::within_project(language));
    let words = Words { name, sdk: &named };
    let mut written = Vec::new();
    for file in files {
        let path = words.fill(&file.path);
        let place = folder.join(&path);
        // Files that are not text are copied as they are.
        match std::str::from_utf8(&file.contents) {
            Ok(text) => write(&place, words.fill(text).as_bytes())?,
            Err(_) => write(&place, &file.contents)?,
        }
        if let Some(permissions) = file.permissions {
            // Keep scripts executable, if the file system supports such permissions.
            let _ = fs::set_permissions(&place, permissions);
        }
        written.push(path);
    }
    if is_own {
        Sdk::of(language.of_sdk())?.write(folder)?;
    }
    let Start { needs, prepare, .. } = start::of(language);
    let prepare = prepare.iter().map(|command| words.fill(command)).collect();
    let is_ours = matches!(order.template, Template::Of(_));
    Ok(Project {
        folder: folder.to_owned(),
        files: written,
        sdk: is_own.then_some(FOLDER),
        needs,
        commands: commands(folder, prepare, is_ours.then_some(name)),
    })
}

/// Reads a template's language and files.
fn read_template(template: Template<'_>) -> Result<(NewLanguage, Vec<TemplateFile>), Error> {
    match template {
        Template::Of(language) => {
            let files = start::of(language).files.iter();
            let files = files.map(|(path, text)| TemplateFile {
                path: (*path).to_owned(),
                contents: text.as_bytes().to_owned(),
                permissions: None,
            });
            Ok((language, files.collect()))
        }
        Template::Folder { folder, language } => {
            let files = folder::read(folder)?;
            let language = match language {
                Some(language) => language,
                None => detect(folder)
                    .map_err(|error| error.with_advice("say its language: --lang LANGUAGE"))?
                    .into(),
            };
            Ok((language, files))
        }
    }
}

/// Checks that cargo, npm, pip and Go all accept the name as a package name, including
/// underscores.
///
/// # Errors
/// If the name is invalid or reserved.
pub fn check_name(name: &str) -> Result<(), Error> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    // Registries treat `-` and `_` as the same character.
    let dashed = name.replace('_', "-");
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && dashed.chars().all(|c| is_letter(c) || c == '-')
        && !dashed.ends_with('-')
        && !dashed.contains("--")
        && name.len() <= 64;
    // The last one is the SDK's name: a package can't have that name and depend on the SDK.
    if fits && !["resolve", "test", "airlock-tool"].contains(&&*dashed) {
        return Ok(());
    }
    let error = if fits {
        anyhow!("a tool can't be called `{name}`: that name is reserved")
    } else {
        anyhow!("`{name}` can't be a project's name")
    };
    let hint = "a name has lowercase letters, digits and single dashes or underscores, and begins with a letter, for example: rename-photos";
    Err(Error::usage(error).with_advice(hint))
}

/// Refuses a folder with existing files, so that none are overwritten.
fn check_folder(folder: &Path) -> Result<(), Error> {
    let name = folder.display();
    let elsewhere = "name another one: --path DIR";
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Error::usage(anyhow!("the folder {name} is not empty"))
                .with_advice(format!("empty it, or {elsewhere}"))),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => {
            let error = anyhow::Error::new(error).context(format!("can't use {name}"));
            Err(Error::usage(error).with_advice(elsewhere))
        }
    }
}

fn write(file: &Path, contents: &[u8]) -> Result<(), Error> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, contents))
        .with_context(|| format!("could not write {}", file.display()))
        .map_err(|error| Error::machine(error).with_advice("name another folder: --path DIR"))
}

/// Returns the commands that set up and test the project. If `ours` names one of our tools, they
/// also call it.
fn commands(folder: &Path, prepare: Vec<String>, ours: Option<&str>) -> Vec<String> {
    let folder = folder.to_string_lossy();
    let mut commands = vec![shell::join(["cd", &*folder])];
    commands.extend(prepare);
    commands.push("airlock build".to_owned());
    if let Some(name) = ours {
        let params = r#"{"path": "notes.txt", "line": "Two"}"#;
        let component = format!("build/{name}.wasm");
        commands.push("echo One > notes.txt".to_owned());
        commands.push(shell::join(["airlock", "run", &component, params]));
    }
    commands.push("airlock test".to_owned());
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_every_language_takes() {
        let check = |name, fits| assert_eq!(check_name(name).is_ok(), fits, "{name}");
        check("rename", true);
        check("rename-2-photos", true);
        check("", false);
        check("-a", false);
        check("a-", false);
        check("a--b", false);
        check("2a", false);
        check("Rename", false);
        check("rename_photos", true);
        check("a__b", false);
        check("a-_b", false);
        check("a_", false);
        check("_a", false);
        check("airlock_tool", false);
        check("../a", false);
        check("ä", false);
        check("resolve", false);
        check(&"a".repeat(65), false);
    }

    #[test]
    fn a_folder_with_something_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_folder(folder.path()).is_ok());
        assert!(check_folder(&folder.path().join("new")).is_ok());
        fs::write(folder.path().join("thesis.txt"), "").unwrap();
        let failure = check_folder(folder.path()).unwrap_err().to_string();
        assert!(failure.contains("is not empty"), "{failure}");
        let file = folder.path().join("thesis.txt");
        assert!(check_folder(&file).is_err());
    }
}
