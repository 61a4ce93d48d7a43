//! `airlock policy explain`: shows which rules decide about an action or a file, and why.

mod path;

use std::path::Path;

use airlock_desk::approval::Wanted;
use airlock_desk::configuration::{Given, Settings};
use airlock_desk::store::{self, Store, StoreOptions, WhenMissing};
use airlock_host::store::ActionRecord;
use airlock_render::{Block, Line, Role};
use airlock_rules::{Because, Judgement, Verdict};

use crate::bundled::CATALOG;
use crate::commands::rehearsed;
use crate::documents::policy::{ActionVerdicts, PolicyExplanation};
use crate::failure::{Exit, Failure};
use crate::rules;
use crate::terminal::output::Output;

/// Explains an action or a file. Ids contain neither slashes nor dots.
pub async fn explain(
    subject: &str,
    store: &StoreOptions,
    verbose: u8,
    out: &mut Output,
) -> Result<Exit, Failure> {
    if subject.contains(['/', '.']) || Path::new(subject).exists() {
        return path::explain(subject, store, out).await;
    }
    let store = store::open(store, WhenMissing::Refuse).await?;
    match store.find(subject).await {
        Err(error @ airlock_desk::Error::NoSuchAction { .. }) => {
            let hint = format!("for a file that doesn't exist yet, write `./{subject}`");
            Err(Failure::from(error).and_hint(&hint))
        }
        found => explain_action(&found?, &store, verbose, out).await,
    }
}

/// Explains an action for a model whose client calls `airlock serve`, and for a person at the
/// command line.
async fn explain_action(
    record: &ActionRecord,
    store: &Store,
    verbose: u8,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let action = &record.action;
    let call = store.call_record(record).await?;
    let effects = rehearsed::effects(store, record, verbose).await?;
    let workspace = action.workspace.as_deref();
    let given = Given {
        workspace: workspace.map(Into::into),
        ..Given::default()
    };
    let settings = Settings::read(store.choice().config(), &given, CATALOG);
    let settings = settings.map_err(airlock_desk::Error::from)?;
    let judge = match workspace {
        Some(workspace) => rules::judge_by(&settings, workspace, store),
        None => rules::judge(None, store)?,
    };
    let wanted = Wanted {
        session: &record.session,
        workspace,
        action,
        call: call.as_ref(),
        effects: effects.as_ref(),
    };
    let decide = settings.decide.value;
    let of_model = judge.judge(&wanted, decide.verdict()).await;
    let on_the_line = judge.judge(&wanted, Verdict::Allow).await;
    let spent = judge.spent(workspace).await?;
    out.json(&PolicyExplanation::Action(ActionVerdicts {
        action: action.id.as_str(),
        budget: spent.map(Into::into),
        command_line: (&on_the_line).into(),
        label: &action.label,
        model: (&of_model).into(),
    }));
    let label = Line::new().with_quoted(Role::Plain, &*action.label);
    let block = verdicts(Block::new().line(label), &of_model, &on_the_line);
    let block = match of_model.totals {
        Some(totals) => block.line(format!("It changes {totals}.")),
        None => block,
    };
    out.show(&match spent {
        Some(spent) => block.line(format!(
            "Let through in the last hour: {}, of {}.",
            spent.spent, spent.budget
        )),
        None => block,
    });
    Ok(Exit::Done)
}

fn verdicts(block: Block, of_model: &Judgement, on_the_line: &Judgement) -> Block {
    let block = block.line(verdict("A model's apply:", verdict_text(of_model.verdict)));
    let block = of_model.because.iter().fold(block, reason);
    let block = match of_model.because.len() {
        0 | 1 => block,
        _ => block.line(Line::from("The strictest of these counts.").indented(2)),
    };
    let message = match on_the_line.verdict {
        same if same == of_model.verdict => "the same",
        Verdict::Allow => "allowed, since the user of the command line decides",
        other => verdict_text(other),
    };
    block.line(verdict("On the command line, without a terminal:", message))
}

fn verdict(of: &str, message: &'static str) -> Line {
    Line::new()
        .with(format!("{of} "))
        .with_role(Role::Note, message)
        .hanging(2)
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "let through",
        Verdict::Ask => "asks a person",
        Verdict::AskAtTerminal => "asks a person at a terminal",
        Verdict::Refuse => "refused",
    }
}

fn reason(block: Block, because: &Because) -> Block {
    let line = format!("{}: {because}", because.verdict);
    block.line(Line::from(line).indented(2).hanging(4))
}
