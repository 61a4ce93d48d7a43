//! `airlock policy explain PATH`.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use airlock_desk::configuration::{Given, Settings};
use airlock_desk::session::real_path;
use airlock_desk::store::{self, StoreOptions, WhenMissing};
use airlock_render::{Block, Line};
use airlock_rules::{By, ControlFile, Judgement, Verdict, built_in, is_for_builds, quoted};

use super::verdicts;
use crate::bundled::CATALOG;
use crate::documents::policy::{ControlFileReport, PathVerdicts, PolicyExplanation};
use crate::failure::{Exit, Failure};
use crate::rules;
use crate::terminal::output::Output;

pub async fn explain(path: &str, store: &StoreOptions, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let settings = Settings::read(store.choice().config(), &Given::default(), CATALOG);
    let settings = settings.map_err(airlock_desk::Error::from)?;
    let named = settings.workspace.value.as_deref();
    let workspace = real_path(named.unwrap_or(Path::new(".")));
    let path = below(&workspace, Path::new(path))?;
    let judge = rules::judge_by(&settings, &workspace, &store);
    let decide = settings.decide.value;
    let of_model = judge.judge_path(&workspace, &path, decide.verdict()).await;
    let on_the_line = judge.judge_path(&workspace, &path, Verdict::Allow).await;
    let control: Vec<_> = control_files(&of_model).collect();
    let builds = is_for_builds(&path);
    out.json(&PolicyExplanation::Path(PathVerdicts {
        builds,
        command_line: (&on_the_line).into(),
        control_files: control
            .iter()
            .copied()
            .map(ControlFileReport::from)
            .collect(),
        model: (&of_model).into(),
        path: &path,
        workspace: &workspace,
    }));
    let about = Line::from(format!("{path}, in {}", workspace.display()));
    let mut block = verdicts(Block::new().line(about), &of_model, &on_the_line);
    let through = links(&of_model, &path);
    if !through.is_empty() {
        let led = format!("Links lead to it: {}.", through.join(", "));
        block = block.line(Line::from(led).hanging(2));
    }
    for file in control {
        let source = format!(
            "{}: see {} (last reviewed {})",
            file.name, file.source, file.reviewed
        );
        block = block.line(Line::from(source).hanging(2));
    }
    if builds {
        block = block.line(
            "Builds or tests run it: only rules with `builds = true` tell it from other files.",
        );
    }
    out.show(&block);
    Ok(Exit::Done)
}

fn control_files(judgement: &Judgement) -> impl Iterator<Item = &'static ControlFile> {
    judgement.because.iter().filter_map(|it| match &it.by {
        By::Control(name) => built_in().iter().find(|file| file.name == *name),
        _ => None,
    })
}

/// Returns other names of a path that the reasons mention, quoted.
fn links(judgement: &Judgement, path: &str) -> Vec<String> {
    let named = judgement.because.iter().flat_map(|it| &it.paths);
    let others: BTreeSet<_> = named.filter(|it| *it != path).collect();
    others.into_iter().map(|it| quoted(it)).collect()
}

/// Returns a path relative to the workspace, without `.` and `..`. It doesn't have to exist, and
/// links aren't followed.
fn below(workspace: &Path, path: &Path) -> Result<String, Failure> {
    let here = real_path(Path::new("."));
    let mut whole = PathBuf::new();
    for part in here.join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    let below = whole.strip_prefix(workspace).ok();
    match below.and_then(Path::to_str).filter(|it| !it.is_empty()) {
        Some(below) => Ok(below.to_owned()),
        None => Err(Failure::usage(format!(
            "{} is not below the workspace {}: rules are about paths below it",
            path.display(),
            workspace.display()
        ))),
    }
}
