//! `airlock config …`: the contents of the operator's files.

use std::path::{Path, PathBuf};

use airlock_desk::configuration::{
    self, Checked, Given, OperatorFiles, Problem, Role as Whose, Settings,
};
use airlock_desk::store::{StoreChoice, StoreOptions};
use airlock_render::{Block, Line, Role};
use airlock_rules::{Budget, RuleSet};
use serde_json::Value;

use crate::bundled::CATALOG;
use crate::documents::config::{ConfigCheck, ConfigFile, Setting};
use crate::failure::{Exit, Failure};
use crate::terminal::output::{Output, show_on_stderr};

/// The arguments of the command.
pub struct Request {
    pub task: Task,
    pub workspace: Option<PathBuf>,
    /// The file to use instead of the user's.
    pub config: Option<PathBuf>,
}

/// The task of the command.
pub enum Task {
    Schema,
    /// Checks all files that apply here.
    Check,
    /// Checks one file by itself.
    CheckFile(PathBuf),
}

pub fn run(request: &Request, out: &mut Output) -> Result<Exit, Failure> {
    match &request.task {
        Task::Schema => {
            out.write(configuration::schema().trim_end());
            Ok(Exit::Done)
        }
        Task::CheckFile(file) => Ok(report(&[Checked::named(file, CATALOG)], None, out)),
        Task::Check => check(request, out),
    }
}

fn check(request: &Request, out: &mut Output) -> Result<Exit, Failure> {
    let given = Given {
        workspace: request.workspace.clone(),
        ..Given::default()
    };
    let config = OperatorFiles::new(request.config.clone());
    let (checked, settings) = Settings::check(&config, &given, CATALOG);
    let told = match &settings {
        Ok(settings) => Some(effective(settings, &config)?),
        Err(_) => None,
    };
    Ok(report(&checked, told, out))
}

fn report(checked: &[Checked], settings: Option<Vec<Named>>, out: &mut Output) -> Exit {
    out.json(&ConfigCheck {
        files: checked.iter().map(ConfigFile::from).collect(),
        settings: (settings.as_ref()).map(|all| all.iter().map(|(key, it)| (*key, it)).collect()),
    });
    let problems: Vec<&Problem> = checked.iter().flat_map(|it| &it.problems).collect();
    if !out.is_json() {
        for one in checked {
            out.show(&described(one));
        }
        for problem in &problems {
            let text = problem.to_string();
            show_on_stderr(&Block::new().named(Role::Error, "error:", &text, 2));
        }
        for note in checked.iter().flat_map(|it| &it.notes) {
            let text = note.to_string();
            show_on_stderr(&Block::new().named(Role::Note, "note:", &text, 2));
        }
        if let Some(settings) = &settings {
            out.gap();
            out.show(&table(settings));
        }
    }
    if problems.is_empty() {
        Exit::Done
    } else {
        Exit::Usage
    }
}

fn described(checked: &Checked) -> Block {
    let state = match (checked.is_found, checked.problems.len()) {
        (false, _) => "there is none".to_owned(),
        (true, 0) => "fine".to_owned(),
        (true, 1) => "1 problem".to_owned(),
        (true, count) => format!("{count} problems"),
    };
    let path = checked.path.display();
    let text = match checked.role {
        Whose::Workspace => format!("{path}: {state}; it can only make the rest stricter"),
        _ => format!("{path}: {state}"),
    };
    let whose = format!("{}:", checked.role);
    Block::new().named(Role::Title, &whose, &text, 2)
}

/// A setting and its key, for people and programs.
type Named = (&'static str, Setting);

fn of<T>(key: &'static str, setting: &configuration::Setting<T>, value: impl Into<Value>) -> Named {
    (key, Setting::new(setting.origin.to_string(), value))
}

fn effective(settings: &Settings, config: &OperatorFiles) -> Result<Vec<Named>, Failure> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let workspace = settings
        .workspace
        .value
        .as_deref()
        .map_or(".".to_owned(), text);
    let plugins = settings.plugins.value.iter();
    let plugins: Vec<String> = match plugins.len() {
        0 => CATALOG.all().iter().map(|it| it.name.to_owned()).collect(),
        _ => plugins
            .map(|it| it.to_string_lossy().into_owned())
            .collect(),
    };
    let expires = settings.expires.value.map(|age| age.to_string());
    let rehearse = format!("{:?}", settings.rehearse.value).to_lowercase();
    let grants = serde_json::to_value(&settings.grants.value).unwrap_or_default();
    let timeout = settings.timeout.value.as_secs_f64();
    let memory = settings.shown_memory().to_string();
    Ok(vec![
        of("workspace", &settings.workspace, workspace),
        of("plugins", &settings.plugins, plugins),
        store(config)?,
        of("decide", &settings.decide, settings.decide.value.as_str()),
        of("expires", &settings.expires, expires),
        of("rehearse", &settings.rehearse, rehearse),
        of("grants", &settings.grants, grants),
        of("limits.timeout", &settings.timeout, timeout),
        of("limits.max-memory", &settings.max_memory, memory),
        rules("rules", &settings.operator_rules, "the operator"),
        rules(
            "rules of the workspace",
            &settings.workspace_rules,
            "the workspace",
        ),
        budget(settings),
    ])
}

/// Returns each rule with its verdict, in order.
fn rules(key: &'static str, set: &RuleSet, from: &str) -> Named {
    let rules = set.rules.iter();
    let texts: Vec<String> = rules
        .map(|it| format!("{}: {}", it.name, it.then))
        .collect();
    (key, Setting::new(from, texts))
}

fn budget(settings: &Settings) -> Named {
    let (operator, own) = (
        settings.operator_rules.budget,
        settings.workspace_rules.budget,
    );
    let budget = operator.narrowed_by(own);
    let text = if budget == Budget::default() {
        "none".to_owned()
    } else {
        budget.to_string()
    };
    let from = if own == Budget::default() {
        "the operator"
    } else {
        "the operator and the workspace"
    };
    ("budget", Setting::new(from, text))
}

fn store(config: &OperatorFiles) -> Result<Named, Failure> {
    let named = StoreOptions {
        store: None,
        config: config.clone(),
    };
    let choice = StoreChoice::of(&named)?;
    let operator = config.operator().map_err(airlock_desk::Error::from)?;
    let file = operator.store().map(|(_, file)| file.display().to_string());
    let from = match (choice.is_by_variable(), file) {
        (true, _) => "AIRLOCK_STORE".to_owned(),
        (false, Some(file)) => file,
        (false, None) => "the default".to_owned(),
    };
    let location = choice.location.without_password();
    Ok(("store", Setting::new(from, location)))
}

fn table(settings: &[Named]) -> Block {
    let longest = settings.iter().map(|(key, _)| key.len()).max();
    let columns = longest.unwrap_or(0);
    settings.iter().fold(
        Block::from(Line::new().with_role(Role::Title, "What holds here:")),
        |block, (key, it)| {
            let value = match &it.value {
                Value::String(text) => text.clone(),
                Value::Null => "for ever".to_owned(),
                Value::Array(list) if list.is_empty() => "none".to_owned(),
                value => value.to_string(),
            };
            block.fact(columns, key, &format!("{value}  (from {})", it.from))
        },
    )
}
