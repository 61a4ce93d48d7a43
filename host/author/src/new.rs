//! New projects.

mod sdk;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

use airlock_render::shell;
use anyhow::{Context, anyhow};

use crate::error::Error;

/// The languages that there are templates for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewLanguage {
    /// Built by cargo.
    Rust,
    /// Built by the SDK's own builder, as the next one.
    TypeScript,
    /// With the types in comments.
    JavaScript,
    /// Built by the SDK's own builder.
    Python,
    /// Built by Go's own compiler.
    Go,
    /// Built by zig, or another clang.
    C,
}

impl NewLanguage {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Rust,
        Self::TypeScript,
        Self::JavaScript,
        Self::Python,
        Self::Go,
        Self::C,
    ];
}

/// What to create.
#[derive(Debug, Clone, Copy)]
pub struct NewOptions<'a> {
    /// The project's name.
    pub name: &'a str,
    /// What it is written in.
    pub language: NewLanguage,
    /// Where it goes; else a folder of its name, in the current one.
    pub folder: Option<&'a Path>,
    /// A clone of Airlock, whose SDKs it uses in place of published ones.
    pub checkout: Option<&'a Path>,
}

/// A project that was created.
#[derive(Debug)]
pub struct Project {
    /// Where it is.
    pub folder: PathBuf,
    /// Its files, from there.
    pub files: Vec<&'static str>,
    /// What must be on the machine to build it, for people.
    pub needs: &'static str,
    /// The command lines that lead from nothing to a tool that was called and tested.
    pub commands: Vec<String>,
}

/// Creates a project.
///
/// # Errors
/// If the name is none that every language takes, if there is something in the folder, if the
/// checkout has no SDK that can be used, and if the files can't be written.
pub fn new(order: NewOptions<'_>) -> Result<Project, Error> {
    let NewOptions { name, language, .. } = order;
    check_name(name)?;
    let folder = order.folder.unwrap_or(Path::new(name));
    check_folder(folder)?;
    let template = template::of(language);
    let sdk = sdk::of(language, order.checkout)?;
    for (file, text) in template.files {
        write(&folder.join(file), &template::fill(text, name, &sdk))?;
    }
    Ok(Project {
        folder: folder.to_owned(),
        files: template.files.iter().map(|(file, _)| *file).collect(),
        needs: template.needs,
        commands: commands(folder, name, template.prepare),
    })
}

/// Names of packages in every language are made of these.
fn check_name(name: &str) -> Result<(), Error> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(allowed)
        && !name.ends_with('-')
        && !name.contains("--")
        && name.len() <= 64;
    // The last one is the SDK, which no package can be and need at once.
    if fits && !["resolve", "test", "airlock-tool"].contains(&name) {
        return Ok(());
    }
    let error = match fits {
        true => anyhow!("a tool can't be called `{name}`: that name is reserved"),
        false => anyhow!("`{name}` can't be a project's name"),
    };
    let hint = "a name has lowercase letters, digits and single dashes, and begins with a letter, for example: rename-photos";
    Err(Error::usage(error).with_advice(hint))
}

/// Nothing that somebody wrote is overwritten.
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

fn write(file: &Path, text: &str) -> Result<(), Error> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, text))
        .with_context(|| format!("could not write {}", file.display()))
        .map_err(|error| Error::machine(error).with_advice("name another folder: --path DIR"))
}

/// From nothing to a tool that was called and tested.
fn commands(folder: &Path, name: &str, prepare: &[&str]) -> Vec<String> {
    let folder = folder.to_string_lossy();
    let mut commands = vec![shell::join(["cd", &*folder])];
    commands.extend(prepare.iter().map(|command| (*command).to_owned()));
    let params = r#"{"path": "notes.txt", "line": "Two"}"#;
    let component = format!("build/{name}.wasm");
    commands.push("airlock build".to_owned());
    commands.push("echo One > notes.txt".to_owned());
    commands.push(shell::join(["airlock", "run", &component, params]));
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
        check("a_b", false);
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
