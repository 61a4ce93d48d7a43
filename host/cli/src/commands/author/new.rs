//! `airlock new`: creates a project, or updates the SDK of an existing one.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use airlock_author::new::{
    NewLanguage, NewOptions, Project, Template, Updated, check_name, new as new_project, update_sdk,
};
use airlock_render::{Block, Line, Role};

use crate::documents::author::ProjectReport;
use crate::failure::{Exit, Failure};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::Output;
use crate::terminal::prompt;

/// The task of the command.
pub enum Request {
    /// Create a project.
    Create(NewProject),
    /// Update the SDK in the project in this folder, by default the current one, to this program's.
    UpdateSdk(Option<PathBuf>),
}

/// A project to create.
pub struct NewProject {
    /// The name. On a terminal, the command prompts for a missing name or language.
    pub name: Option<String>,
    pub language: Option<NewLanguage>,
    /// A template folder, if not one of this program's.
    pub template: Option<PathBuf>,
    /// The project's folder, if not one with its name.
    pub folder: Option<PathBuf>,
    /// A clone of Airlock, if not the one in AIRLOCK_SDK.
    pub sdk: Option<PathBuf>,
}

pub async fn new(request: Request, out: &mut Output) -> Result<Exit, Failure> {
    match request {
        Request::Create(wanted) => create(wanted, out).await,
        Request::UpdateSdk(folder) => {
            let folder = folder.unwrap_or_else(|| PathBuf::from("."));
            update(&folder, out)
        }
    }
}

async fn create(mut wanted: NewProject, out: &mut Output) -> Result<Exit, Failure> {
    ask_for_missing(&mut wanted, out).await?;
    let NewProject {
        name,
        language,
        template,
        folder,
        sdk,
    } = wanted;
    let template = match (&template, language) {
        (Some(folder), language) => Template::Folder { folder, language },
        (None, Some(language)) => Template::Of(language),
        (None, None) => return Err(missing("the language", "--lang LANGUAGE")),
    };
    let named = std::env::var_os("AIRLOCK_SDK").filter(|named| !named.is_empty());
    let checkout = sdk.or(named.map(PathBuf::from));
    let project = new_project(NewOptions {
        name: &name.ok_or_else(|| missing("the name", "airlock new NAME"))?,
        template,
        folder: folder.as_deref(),
        checkout: checkout.as_deref(),
    })?;
    out.show(&created_block(&project));
    out.json(&ProjectReport::from(&project));
    Ok(Exit::Done)
}

/// Prompts for missing values on a terminal.
async fn ask_for_missing(wanted: &mut NewProject, out: &Output) -> Result<(), Failure> {
    let at_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !at_terminal || out.is_json() {
        return Ok(());
    }
    let interrupt = Interrupt::watch();
    if wanted.name.is_none() {
        let question = "Name, for example rename-photos: ";
        wanted.name = Some(ask(question, &interrupt, read_name).await?);
    }
    // The template's files determine the language.
    if wanted.language.is_none() && wanted.template.is_none() {
        let question = "Language (rust, ts, js, python, go, c): ";
        let read = |answer: &str| {
            let answer = answer.trim();
            let language = NewLanguage::named(answer);
            language.ok_or_else(|| Failure::usage(format!("`{answer}` is none of these")))
        };
        wanted.language = Some(ask(question, &interrupt, read).await?);
    }
    Ok(())
}

fn read_name(answer: &str) -> Result<String, Failure> {
    let name = answer.trim();
    check_name(name)?;
    Ok(name.to_owned())
}

/// Prompts until the answer is valid.
async fn ask<T>(
    question: &str,
    interrupt: &Interrupt,
    read: impl Fn(&str) -> Result<T, Failure>,
) -> Result<T, Failure> {
    loop {
        let Some(answer) = prompt::read_line(question, interrupt).await else {
            return Err(Failure::interrupted());
        };
        match read(&answer) {
            Ok(answer) => return Ok(answer),
            Err(refused) => {
                refused.report_on_stderr();
            }
        }
    }
}

fn missing(what: &str, how: &str) -> Failure {
    let failure = Failure::usage(format!("{what} is missing"));
    failure.with_hint(format!("{how}; on a terminal, `airlock new` asks for it"))
}

fn created_block(project: &Project) -> Block {
    let path = project.folder.display().to_string();
    let block = Block::from(Line::new().with_role(Role::Title, path));
    let files = project.files.iter();
    let block = files.fold(block, |block, file| listed(block, file));
    let block = match project.sdk {
        Some(sdk) => listed(block, &format!("{sdk}/")),
        None => block,
    };
    let block = block.line("").line(format!("Next ({}):", project.needs));
    let commands = project.commands.iter();
    commands.fold(block, |block, command| listed(block, command))
}

fn listed(block: Block, line: &str) -> Block {
    block.line(Line::from(line).indented(2))
}

fn update(folder: &Path, out: &mut Output) -> Result<Exit, Failure> {
    let updated = update_sdk(folder)?;
    out.show(&now_there(&updated));
    out.json(&ProjectReport::from(&updated));
    Ok(Exit::Done)
}

fn now_there(updated: &Updated) -> Block {
    let version = updated.version;
    if !updated.changed {
        return Block::new().line(format!("The SDK is this program's already: {version}"));
    }
    let block = Block::new().line(match &updated.before {
        Some(before) => format!("The SDK was {before}, and is {version} now."),
        None => format!("The SDK is there now: {version}"),
    });
    let block = block.line("").line("Next:");
    let commands = updated.commands.iter();
    commands.fold(block, |block, command| listed(block, command))
}
