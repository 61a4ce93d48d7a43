//! A command of the user's that is told when something waits for a decision, or was decided
//! elsewhere.

use std::collections::HashSet;
use std::env;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use airlock_desk::record::Record;
use airlock_desk::store::Store;
use airlock_host::pending::{ActionId, ActionState};
use airlock_host::store::{ActionRecord, DurableStore};
use airlock_host::{PendingAction, Session};
use airlock_render::{Line, Role, escape_line};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::commands::context::OwnDecisions;
use crate::terminal::output::on_stderr;

/// The environment variable for those who want it always.
const VARIABLE: &str = "AIRLOCK_NOTIFY";

/// How long a command may take before this program goes on without it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who is told, and of which session.
pub struct Notifier {
    command: String,
    session: Session,
    store: Arc<dyn DurableStore>,
}

/// A notifier at work, beside whoever decides.
pub struct Notifying {
    task: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Notifying {
    /// Waits until all is told.
    pub async fn end(self) {
        // Who has ended by itself, or panicked, has nothing to tell.
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

fn is_decided(state: ActionState) -> bool {
    matches!(state, ActionState::Applied | ActionState::Discarded)
}

/// What the command reads.
#[derive(Serialize)]
struct Told<'a> {
    event: &'static str,
    /// The first action that this is about.
    action: Record<'a>,
    /// How many others it is about.
    more: usize,
}

impl Notifier {
    /// None where nobody wants to be told.
    pub fn of(named: Option<&str>, session: &Session, store: &Store) -> Option<Self> {
        let command = match named {
            Some(command) => command.to_owned(),
            None => env::var(VARIABLE).ok()?,
        };
        (!command.trim().is_empty()).then(|| Self {
            command,
            session: session.clone(),
            store: store.shared(),
        })
    }

    /// Tells that these wait, and of each as soon as somebody else has decided about it.
    pub fn begin(self, pushed: &[Arc<PendingAction>], own: OwnDecisions) -> Notifying {
        let ids: Vec<ActionId> = pushed.iter().map(|action| action.id.clone()).collect();
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            self.tell("pending", &ids, |state| state == ActionState::Pending)
                .await;
            let mut waiting = ids;
            loop {
                let changed = self.session.pending_changed();
                self.tell_decided(&mut waiting, &own).await;
                tokio::select! {
                    _ = &mut stopped => break,
                    () = changed => {}
                }
            }
            self.tell_decided(&mut waiting, &own).await;
        });
        Notifying { task, stop }
    }

    async fn tell_decided(&self, waiting: &mut Vec<ActionId>, own: &OwnDecisions) {
        let others: Vec<_> = waiting.iter().filter(|id| !own.has(id)).cloned().collect();
        let told = self.tell("decided", &others, is_decided).await;
        waiting.retain(|id| !told.contains(id));
    }

    /// Runs the command once for all actions that are in such a state, however many a tool has
    /// pushed. Returns which these are.
    async fn tell(
        &self,
        event: &'static str,
        ids: &[ActionId],
        is_so: impl Fn(ActionState) -> bool,
    ) -> HashSet<ActionId> {
        let mut first = None;
        let mut told = HashSet::new();
        for id in ids {
            if let Ok(Some(record)) = self.store.find(id).await
                && is_so(record.state)
            {
                told.insert(id.clone());
                first.get_or_insert(record);
            }
        }
        let Some(first) = first else {
            return told;
        };
        let running = self.run(event, &first, told.len() - 1);
        let problem = match tokio::time::timeout(PATIENCE, running).await {
            Ok(Ok(None)) => return told,
            Ok(Ok(Some(status))) => status,
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it took longer than {} seconds", PATIENCE.as_secs()),
        };
        let note = Line::new().with_role(Role::Note, "note:");
        on_stderr(note.with(format!(" the command of `--notify` failed: {problem}")));
        told
    }

    /// How it failed, if it ran.
    async fn run(
        &self,
        event: &'static str,
        record: &ActionRecord,
        more: usize,
    ) -> std::io::Result<Option<String>> {
        let told = Told {
            event,
            action: Record::new(record),
            more,
        };
        let json = serde_json::to_vec(&told)?;
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(&self.command)
            .env("AIRLOCK_EVENT", event)
            .env("AIRLOCK_ACTION", record.action.id.as_str())
            .env("AIRLOCK_LABEL", &*escape_line(&record.action.label))
            .env("AIRLOCK_SESSION", record.session.as_str())
            .env("AIRLOCK_STATE", record.state.as_str())
            .env("AIRLOCK_MORE", more.to_string())
            .stdin(Stdio::piped())
            // Standard output is the tool's.
            .stdout(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = Group::of(&child);
        if let Some(mut input) = child.stdin.take() {
            // Who doesn't read it closes it.
            let _ = input.write_all(&json).await;
        }
        let status = child.wait().await?;
        group.leave();
        Ok((!status.success()).then(|| status.to_string()))
    }
}

/// A command with all that it has started. They are killed on drop.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    /// The command has ended. What it has left running is meant to go on.
    fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
