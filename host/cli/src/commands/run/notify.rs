//! A user's command that is notified when an action is pending or was resolved elsewhere.

use std::collections::HashSet;
use std::env;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use airlock_desk::store::Store;
use airlock_host::pending::{ActionId, ActionState};
use airlock_host::store::{ActionRecord, DurableStore};
use airlock_host::{PendingAction, Session};
use airlock_render::{Line, Role, escape_line};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::commands::context::OwnDecisions;
use crate::documents::actions::Record;
use crate::documents::calls::Notification;
use crate::terminal::output::on_stderr;

/// The environment variable that enables it for all calls.
const VARIABLE: &str = "AIRLOCK_NOTIFY";

/// The time that the command may take before this program continues without it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The command to notify, and the session to watch.
pub struct Notifier {
    command: String,
    session: Session,
    store: Arc<dyn DurableStore>,
}

/// A running notifier, in parallel to the decision.
pub struct Notifying {
    task: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Notifying {
    /// Waits until all notifications are sent.
    pub async fn end(self) {
        // A task that has ended or panicked has nothing to send.
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

fn is_decided(state: ActionState) -> bool {
    matches!(state, ActionState::Applied | ActionState::Discarded)
}

impl Notifier {
    /// Returns `None` if no command is set.
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

    /// Notifies that these actions are pending, and of each one as soon as it is resolved
    /// elsewhere.
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

    /// Runs the command once for all actions in the given state, however many a tool has pushed.
    /// Returns these actions.
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
        let problem = match tokio::time::timeout(TIMEOUT, running).await {
            Ok(Ok(None)) => return told,
            Ok(Ok(Some(status))) => status,
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it took longer than {} seconds", TIMEOUT.as_secs()),
        };
        let note = Line::new().with_role(Role::Note, "note:");
        on_stderr(note.with(format!(" the command of `--notify` failed: {problem}")));
        told
    }

    /// Runs the command. Returns how it failed, if it ran.
    async fn run(
        &self,
        event: &'static str,
        record: &ActionRecord,
        more: usize,
    ) -> std::io::Result<Option<String>> {
        let notification = Notification {
            event,
            action: Record::new(record),
            more,
        };
        let json = serde_json::to_vec(&notification)?;
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
            // Standard output belongs to the tool.
            .stdout(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = Group::of(&child);
        if let Some(mut input) = child.stdin.take() {
            // A command that doesn't read its input closes it.
            let _ = input.write_all(&json).await;
        }
        let status = child.wait().await?;
        group.leave();
        Ok((!status.success()).then(|| status.to_string()))
    }
}

/// The process group of a command and everything it started. It is killed on drop.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    /// Lets processes that the command left running continue after its end.
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
