//! Applies that wait for a person, as tasks of the client that asked for them: the protocol's
//! extension `io.modelcontextprotocol/tasks`.
//!
//! A task is the call that asked for the apply, and not the action, which is in the store. The task
//! ends with the process, and its action stays pending. The task manager of `rmcp` is not used: it
//! keeps each ended task for as long as a task may wait, without limiting their number, and ends
//! tasks whose time is up in the middle of an apply.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use airlock_host::cancel::CancellationToken;
use rmcp::model::{
    CallToolResponse, DetailedTask, ElicitRequestParams, ElicitResult, ErrorData, InputResponses,
    Task, TaskPayload, TaskStatus,
};
use rmcp::task_manager::current_timestamp;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::question::{self, KEY};

/// The time that a person may take. The action stays pending after that.
pub const ANSWERED_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

/// The interval at which a client should poll a task.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The most tasks of a conversation. The oldest ended task makes room for a new one. If all of them
/// are waiting, an apply becomes no task and is answered at once.
const MAX_TASKS: usize = 128;

/// The tasks of a conversation, oldest first. Clones share state.
#[derive(Clone, Default)]
pub struct Tasks(Arc<Mutex<Vec<Entry>>>);

struct Entry {
    task: Task,
    payload: TaskPayload,
    begun: Instant,
    /// The receiver of the answer, while the task waits for one.
    answer: Option<oneshot::Sender<ElicitResult>>,
    stop: CancellationToken,
}

/// A call that may become a task.
pub struct Candidate {
    tasks: Tasks,
    /// The token that cancels the call.
    stop: CancellationToken,
    begun: oneshot::Sender<Task>,
}

impl Tasks {
    /// Returns a candidate for the call with this token, and a receiver for the task that the call
    /// becomes, if it does.
    pub fn candidate(&self, stop: &CancellationToken) -> (Candidate, oneshot::Receiver<Task>) {
        let (begun, becomes) = oneshot::channel();
        let candidate = Candidate {
            tasks: self.clone(),
            stop: stop.clone(),
            begun,
        };
        (candidate, becomes)
    }

    /// Returns the state of a task, or `None` if there is no such task.
    pub fn get(&self, id: &str) -> Option<DetailedTask> {
        self.with(id, |entry| {
            DetailedTask::new(entry.task.clone(), entry.payload.clone())
        })
    }

    /// Passes a person's answer on. Other entries among the answers are ignored, as the protocol
    /// requires. Returns `None` if there is no such task.
    pub fn answer(&self, id: &str, answers: &InputResponses) -> Option<Result<(), ErrorData>> {
        self.with(id, |entry| {
            let Some(answer) = answers.get(KEY).filter(|_| entry.asks()) else {
                return Ok(());
            };
            let answer = serde_json::from_value(answer.clone()).map_err(|problem| {
                let text = format!("`params.inputResponses.{KEY}` can't be read: {problem}");
                ErrorData::invalid_params(text, None)
            })?;
            if let Some(waiting) = entry.answer.take() {
                let _ = waiting.send(answer);
            }
            entry.change("The answer is being carried out.", TaskPayload::Working);
            Ok(())
        })
    }

    /// Cancels the call. Its action stays pending. Returns `None` if there is no such task.
    pub fn cancel(&self, id: &str) -> Option<()> {
        self.with(id, |entry| entry.stop.cancel())
    }

    /// Cancels all tasks.
    pub fn cancel_all(&self) {
        self.change(|tasks| tasks.iter().for_each(|entry| entry.stop.cancel()));
    }

    /// Records the end of a task, with the answer to its call. A task asks its own questions, so
    /// the answer is never one.
    pub fn end(&self, id: &str, answer: CallToolResponse) {
        let result = match answer {
            CallToolResponse::Complete(result) => Some(result),
            _ => None,
        };
        let is_error = result.as_ref().is_some_and(|it| it.is_error == Some(true));
        let written = result.map(serde_json::to_value);
        self.with(id, |entry| {
            let (text, payload) = match written {
                Some(Ok(Value::Object(result))) if !is_error || !entry.stop.is_cancelled() => {
                    ("It has ended.", TaskPayload::Completed { result })
                }
                _ => (
                    "It was cancelled: nothing was decided by it.",
                    TaskPayload::Cancelled,
                ),
            };
            entry.change(text, payload);
        });
    }

    fn begin(&self, entry: Entry) -> bool {
        self.change(|tasks| {
            tasks.retain(|entry| entry.begun.elapsed() < ANSWERED_WITHIN || !entry.has_ended());
            if tasks.len() >= MAX_TASKS {
                let Some(ended) = tasks.iter().position(Entry::has_ended) else {
                    return false;
                };
                tasks.remove(ended);
            }
            tasks.push(entry);
            true
        })
    }

    fn with<T>(&self, id: &str, act: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.change(|tasks| tasks.iter_mut().find(|it| it.task.task_id == id).map(act))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Entry {
    fn has_ended(&self) -> bool {
        self.payload.status().is_terminal()
    }

    /// Returns whether the task has an open question.
    fn asks(&self) -> bool {
        match &self.payload {
            TaskPayload::InputRequired { input_requests } => input_requests.contains_key(KEY),
            _ => false,
        }
    }

    fn change(&mut self, text: &str, payload: TaskPayload) {
        self.task.status_message = Some(text.to_owned());
        self.task.last_updated_at = current_timestamp();
        self.payload = payload;
    }
}

impl Candidate {
    /// Turns the call into a task that waits for a person. `how` says how the person decides. If
    /// the client can ask them, it gets the question. Returns the person's answer, once there is
    /// one.
    ///
    /// # Errors
    /// If there is no room for another task, or no randomness for its id. The call must then end.
    pub fn begin(
        self,
        how: &str,
        question: Option<ElicitRequestParams>,
    ) -> Result<oneshot::Receiver<ElicitResult>, &'static str> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|_| "there is no randomness to name a task by")?;
        let id = format!("{:032x}", u128::from_ne_bytes(id));
        let now = current_timestamp();
        let task = Task::new(id, TaskStatus::InputRequired, now.clone(), now)
            .with_status_message(how)
            .with_ttl_ms(milliseconds(ANSWERED_WITHIN))
            .with_poll_interval_ms(milliseconds(POLL_INTERVAL));
        let (answer, answered) = oneshot::channel();
        let entry = Entry {
            task: task.clone(),
            payload: TaskPayload::InputRequired {
                input_requests: question.map(question::requests).unwrap_or_default(),
            },
            begun: Instant::now(),
            answer: Some(answer),
            stop: self.stop,
        };
        if !self.tasks.begin(entry) {
            return Err("too many tasks wait for a decision");
        }
        // The client can query the task before it learns of it.
        let _ = self.begun.send(task);
        Ok(answered)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolResult, ElicitationAction, ElicitationSchema};

    use super::*;

    fn begin(tasks: &Tasks) -> Result<(String, oneshot::Receiver<ElicitResult>), &'static str> {
        let (candidate, mut becomes) = tasks.candidate(&CancellationToken::new());
        let form = ElicitationSchema::builder().build_unchecked();
        let question = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: "Apply this?".to_owned(),
            requested_schema: form,
        };
        let answered = candidate.begin("how", Some(question))?;
        Ok((becomes.try_recv().unwrap().task_id, answered))
    }

    #[test]
    fn a_task_that_has_ended_makes_room_and_one_that_waits_does_not() {
        let tasks = Tasks::default();
        let begun: Vec<_> = (0..MAX_TASKS).map(|_| begin(&tasks).unwrap()).collect();
        assert!(begin(&tasks).is_err());
        tasks.end(&begun[7].0, CallToolResult::success(Vec::new()).into());
        let (id, _answered) = begin(&tasks).unwrap();
        assert!(tasks.get(&begun[7].0).is_none());
        for known in [&begun[0].0, &begun[8].0, &id] {
            assert!(tasks.get(known).is_some());
        }
    }

    #[test]
    fn the_first_answer_that_can_be_read_counts_and_no_other() {
        let tasks = Tasks::default();
        let (id, mut answered) = begin(&tasks).unwrap();
        let answer = |key: &str, action: &str| {
            InputResponses::from([(key.to_owned(), serde_json::json!({"action": action}))])
        };
        assert!(tasks.answer("another", &answer(KEY, "accept")).is_none());
        assert!(
            tasks
                .answer(&id, &answer("else", "accept"))
                .unwrap()
                .is_ok()
        );
        assert!(tasks.answer(&id, &answer(KEY, "nod")).unwrap().is_err());
        assert!(answered.try_recv().is_err());
        assert_eq!(tasks.get(&id).unwrap().status(), TaskStatus::InputRequired);
        for action in ["decline", "accept"] {
            assert!(tasks.answer(&id, &answer(KEY, action)).unwrap().is_ok());
        }
        let answer = answered.try_recv().unwrap();
        assert_eq!(answer.action, ElicitationAction::Decline);
        assert_eq!(tasks.get(&id).unwrap().status(), TaskStatus::Working);
    }
}
