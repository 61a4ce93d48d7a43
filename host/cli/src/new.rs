//! `airlock new`: a project to begin with.

mod sdk;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

use airlock_render::{Block, Line, Role};
use serde_json::json;

use crate::args::NewArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shell;

pub fn new(args: &NewArgs, out: &mut Output) -> Result<Exit, Failure> {
    check_name(&args.name)?;
    let folder = args
        .path
        .clone()
        .unwrap_or_else(|| PathBuf::from(&args.name));
    check_folder(&folder)?;
    let template = template::of(args.lang);
    let named = std::env::var_os("AIRLOCK_SDK").filter(|named| !named.is_empty());
    let checkout = args.sdk.clone().or(named.map(PathBuf::from));
    let sdk = sdk::of(args.lang, checkout.as_deref())?;
    for (file, text) in template.files {
        write(&folder.join(file), &template::fill(text, &args.name, &sdk))?;
    }
    let commands = commands(&folder, &args.name, template.prepare);
    tell(out, &folder, template, &commands);
    out.json(&json!({
        "path": folder.display().to_string(),
        "files": template.files.iter().map(|(file, _)| *file).collect::<Vec<_>>(),
        "commands": commands,
    }));
    Ok(Exit::Done)
}

/// Names of packages in every language are made of these.
fn check_name(name: &str) -> Result<(), Failure> {
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
    let message = match fits {
        true => format!("a tool can't be called `{name}`: that name has a meaning already"),
        false => format!("`{name}` can't be a project's name"),
    };
    let hint = "a name is made of small letters, digits and single dashes, a letter first, for example: rename-photos";
    Err(Failure::usage(message).with_hint(hint))
}

/// Nothing that somebody wrote is overwritten.
fn check_folder(folder: &Path) -> Result<(), Failure> {
    let name = folder.display();
    let elsewhere = "name another one: --path DIR";
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Failure::usage(format!("the folder {name} is not empty"))
                .with_hint(format!("empty it, or {elsewhere}"))),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => {
            Err(Failure::usage(format!("can't use {name}: {error}")).with_hint(elsewhere))
        }
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| {
            Failure::host(format!("could not write {}: {error}", file.display()))
                .with_hint("name another folder: --path DIR")
        })
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

fn tell(out: &mut Output, folder: &Path, template: &template::Template, commands: &[String]) {
    let path = folder.display().to_string();
    let listed = |block: Block, line: &str| block.line(Line::from(line).indented(2));
    let block = Block::from(Line::new().with_role(Role::Title, path));
    let block = template
        .files
        .iter()
        .fold(block, |block, (file, _)| listed(block, file));
    let block = block.line("").line(format!("Next ({}):", template.needs));
    out.show(
        &commands
            .iter()
            .fold(block, |block, command| listed(block, command)),
    );
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
        let failure = check_folder(folder.path()).unwrap_err().to_json();
        assert!(
            failure["message"].to_string().contains("is not empty"),
            "{failure}"
        );
        let file = folder.path().join("thesis.txt");
        assert!(check_folder(&file).is_err());
    }
}
