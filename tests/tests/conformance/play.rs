//! Plays a case's steps with a session of its own.

use airlock_tests::Tester;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use airlock_host::cancel::CancellationToken;
use airlock_host::event::{Event, LogLevel};
use airlock_host::pending::{ActionState, StackedAction};
use airlock_host::policy::Rehearse;
use airlock_host::{Error, Resolution, Session};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::case::{Action, Cancel, Case, Fails, Gives, Placed, Step};
use crate::compare::{self, Ids, Outcome};
use crate::language::Language;

/// What is wrong, and in which step.
pub async fn play(language: &Language, case: &Case) -> Result<(), String> {
    let mut player = Player::open(language, case).await?;
    for (index, step) in case.steps.iter().enumerate() {
        let at = |problem| format!("step {}: {problem}", index + 1);
        player.play(step).await.map_err(at)?;
    }
    Ok(())
}

struct Player<'a> {
    language: &'a Language,
    session: Session,
    recorder: Arc<EventRecorder>,
    /// Of everything that was pushed.
    ids: Ids,
    workspace: TempDir,
}

/// What the observer has heard, and what it does when the guest reports progress.
#[derive(Default)]
struct EventRecorder {
    events: Mutex<Vec<String>>,
    at_progress: Mutex<Option<CancellationToken>>,
}

impl EventRecorder {
    fn hear(&self, event: &Event) {
        let line = match event {
            Event::Log { level, message } => format!("{}: {message}", name(*level)),
            Event::Progress {
                message,
                progress: Some(progress),
                total: Some(total),
            } => format!("progress: {message} {progress}/{total}"),
            Event::Progress { message, .. } => format!("progress: {message}"),
            _ => return,
        };
        self.events.lock().unwrap().push(line);
        if let Event::Progress { .. } = event
            && let Some(cancel) = &*self.at_progress.lock().unwrap()
        {
            cancel.cancel();
        }
    }
}

fn name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Trace => "trace",
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}

impl<'a> Player<'a> {
    async fn open(language: &'a Language, case: &Case) -> Result<Self, String> {
        let plugin = language.plugin().await?;
        let recorder = Arc::new(EventRecorder::default());
        let hears = Arc::clone(&recorder);
        let workspace = TempDir::new().map_err(|error| error.to_string())?;
        let mut session = Session::builder()
            .model_decides()
            .id("conformance")
            .observer(move |_, event| hears.hear(event))
            // The cases say what is heard of each call.
            .rehearse(Rehearse::Never)
            .bind(&plugin);
        if case.session.workspace {
            session = session.workspace(workspace.path());
        }
        if !case.session.store {
            session = session.without_store();
        }
        Ok(Self {
            language,
            session: session.open().map_err(|error| error.to_string())?,
            recorder,
            ids: Ids::new(),
            workspace,
        })
    }

    async fn play(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Call {
                tool,
                params,
                cancel,
                gives,
                fails,
            } => {
                let found = self.call(tool, params, *cancel).await;
                self.compare(gives.as_ref(), fails.as_ref(), found).await
            }
            Step::Resolve {
                action,
                reason,
                extra,
                of,
                cancel,
                gives,
                fails,
            } => {
                let mut resolution = match action {
                    Action::Apply => Resolution::apply(reason),
                    Action::Discard => Resolution::discard(reason),
                };
                resolution.extra.clone_from(extra);
                if let Some(label) = of {
                    resolution.id = Some(compare::id(label, &self.ids)?.into());
                }
                let found = self.resolve(resolution, *cancel).await;
                self.compare(gives.as_ref(), fails.as_ref(), found).await
            }
            Step::Pending { is } => {
                let pending = self.pending().await?;
                let found: Vec<Value> = pending.iter().map(as_json).collect();
                compare::stack(is, &found)
            }
            Step::Definitions { is } => {
                let plugin = self.language.plugin().await?;
                let found: Value = plugin
                    .tools()
                    .map(|tool| {
                        json!({"name": tool.name, "label": tool.label, "traits": tool.traits.names()})
                    })
                    .collect();
                compare::same("definitions", is, &found)
            }
            Step::Tools { named, is } => {
                let tools = match named {
                    Some(names) => {
                        let names: Vec<&str> = names.iter().map(String::as_str).collect();
                        self.session.tools_named(&names)
                    }
                    None => self.session.tools(),
                };
                let found: Vec<String> = tools.into_iter().map(|tool| tool.name).collect();
                compare::same("tools", &json!(is), &json!(found))
            }
            Step::Events { is } => {
                let found = std::mem::take(&mut *self.recorder.events.lock().unwrap());
                compare::same("events", &json!(is), &json!(found))
            }
            Step::Files { are } => {
                let placed = are.iter().try_for_each(|(path, placed)| {
                    place(&self.workspace.path().join(path), placed)
                });
                placed.map_err(|error| error.to_string())
            }
            Step::DropInstances => {
                self.session.drop_idle_instances();
                Ok(())
            }
            Step::Upgrade => self.upgrade().await,
        }
    }

    async fn call(
        &self,
        tool: &str,
        params: &Value,
        cancel: Option<Cancel>,
    ) -> Result<Outcome, Error> {
        let cancel = self.token(cancel).unwrap_or_default();
        let outcome = self.session.call(tool, params).cancelled_by(&cancel).await;
        let outcome = outcome?;
        let pushed = outcome.pushed.iter();
        Ok(Outcome {
            content: json!(outcome.content),
            details: outcome.details.map(|details| details.value()),
            pushed: pushed.map(|action| action.label.clone()).collect(),
        })
    }

    async fn resolve(
        &self,
        resolution: Resolution,
        cancel: Option<Cancel>,
    ) -> Result<Outcome, Error> {
        let cancel = self.token(cancel).unwrap_or_default();
        let resolved = self
            .session
            .resolve(resolution, Tester)
            .cancelled_by(&cancel)
            .await;
        let outcome = resolved?;
        Ok(Outcome {
            content: json!(outcome.content),
            details: Some(json!(outcome.details)),
            pushed: Vec::new(),
        })
    }

    fn token(&self, cancel: Option<Cancel>) -> Option<CancellationToken> {
        let token = cancel.map(|_| CancellationToken::new());
        match cancel {
            Some(Cancel::Before) => token.iter().for_each(CancellationToken::cancel),
            Some(Cancel::During) => *self.recorder.at_progress.lock().unwrap() = token.clone(),
            None => {}
        }
        token
    }

    async fn compare(
        &mut self,
        gives: Option<&Gives>,
        fails: Option<&Fails>,
        found: Result<Outcome, Error>,
    ) -> Result<(), String> {
        *self.recorder.at_progress.lock().unwrap() = None;
        // Those of a call that failed too.
        for stacked in self.pending().await? {
            let action = &stacked.action;
            self.ids.insert(action.label.clone(), action.id.clone());
        }
        match (gives, fails, found) {
            (Some(expected), _, Ok(found)) => compare::gives(expected, &found, &self.ids),
            (_, Some(expected), Err(found)) => {
                compare::fails(expected, &found, &self.ids, self.language.name())
            }
            (_, _, Err(found)) => Err(format!("it failed: {found}")),
            (_, _, Ok(found)) => Err(format!("it did not fail, but gave {}", found.content)),
        }
    }

    async fn pending(&self) -> Result<Vec<StackedAction>, String> {
        let pending = self.session.pending().await;
        pending.map_err(|error| error.to_string())
    }

    async fn upgrade(&self) -> Result<(), String> {
        let older = self.language.plugin().await?;
        let newer = self.language.upgraded().await?;
        self.session.unbind(&older);
        let bound = self.session.bind(&newer);
        match bound.map_err(|error| error.to_string())?.as_slice() {
            [] => Ok(()),
            rejected => Err(format!("tools were left out: {rejected:?}")),
        }
    }
}

fn place(path: &Path, placed: &Placed) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match placed {
        Placed::Text(text) => fs::write(path, text),
        Placed::Link { link } => std::os::unix::fs::symlink(link, path),
    }
}

fn as_json(stacked: &StackedAction) -> Value {
    let action = &stacked.action;
    let state: ActionState = stacked.state;
    json!({
        "label": action.label,
        "sourceToolName": action.source_tool_name,
        "details": action.details,
        "hasReject": action.has_reject,
        "durable": action.durable,
        "attempts": stacked.attempts,
        "lastError": stacked.last_error,
        "state": state.as_str(),
    })
}
