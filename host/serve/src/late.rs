//! Answers that arrive after their call has ended, because a person may take longer than a client's
//! limit on the duration of a call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use rmcp::model::CallToolResponse;
use tokio::time::sleep;

use crate::answer;
use crate::asking::QuestionState;

/// The time that a call waits for the person who is asked in the client. The official TypeScript
/// SDK limits a call to 60 s.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(50);

/// The result of a call that ends before the answer.
const STILL_ASKED: &str = "Nothing was applied yet: the user is still being asked about it in this client. Their answer still counts, and your next call to this server reports it. You can go on with something else. If the user no longer sees the question, they can decide in a terminal: `airlock pending --all` lists the action, and `airlock resolve` decides.";

/// The open questions of one conversation whose calls have ended. Clones share state.
#[derive(Clone)]
pub struct LateAnswers {
    inner: Arc<Mutex<Inner>>,
    patience: Duration,
}

#[derive(Default)]
struct Inner {
    /// The tokens that withdraw the open questions.
    stops: Vec<CancellationToken>,
    /// The outcomes that the model hasn't seen.
    outcomes: Vec<String>,
}

impl Default for LateAnswers {
    fn default() -> Self {
        Self::after(ANSWER_TIMEOUT)
    }
}

impl LateAnswers {
    /// Makes calls wait for `patience`.
    pub fn after(patience: Duration) -> Self {
        Self {
            inner: Arc::default(),
            patience,
        }
    }

    /// Waits until a call has waited long enough for an answer to its question.
    pub async fn is_due(&self, question: &QuestionState) {
        sleep(self.patience).await;
        // A call that has no open question is busy.
        while !question.is_open() {
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Continues a call in the background until `stop` is cancelled. Returns the response that its
    /// client gets now.
    pub fn go_on(
        &self,
        stop: CancellationToken,
        call: impl Future<Output = CallToolResponse> + Send + 'static,
    ) -> CallToolResponse {
        self.lock().stops.push(stop.clone());
        let late = self.clone();
        tokio::spawn(async move {
            let answered = call.await;
            let mut inner = late.lock();
            // A question that was withdrawn has no outcome.
            if !stop.is_cancelled() {
                inner.outcomes.extend(quoted_outcome(&answered));
            }
            stop.cancel();
            inner.stops.retain(|it| !it.is_cancelled());
        });
        still_asked()
    }

    /// Keeps the outcome of a call that its client would not get otherwise.
    pub fn keep(&self, answered: &CallToolResponse) {
        self.lock().outcomes.extend(quoted_outcome(answered));
    }

    /// Returns the result of another `resolve` while a question is open: questions are not
    /// repeated.
    pub fn still_asked(&self) -> Option<CallToolResponse> {
        (!self.lock().stops.is_empty()).then(still_asked)
    }

    /// Prepends the outcomes that the model hasn't seen to a result.
    pub fn before(&self, response: CallToolResponse) -> CallToolResponse {
        let CallToolResponse::Complete(result) = response else {
            return response;
        };
        let outcomes = std::mem::take(&mut self.lock().outcomes);
        let message = |result, outcome: String| {
            let message = format!("The user has answered since they were asked: {outcome}");
            answer::preceded(result, &message)
        };
        outcomes.into_iter().rev().fold(result, message).into()
    }

    /// Withdraws all open questions.
    pub fn cancel_all(&self) {
        for stop in self.lock().stops.drain(..) {
            stop.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn still_asked() -> CallToolResponse {
    answer::of_host(STILL_ASKED).into()
}

fn quoted_outcome(response: &CallToolResponse) -> Option<String> {
    match response {
        CallToolResponse::Complete(result) => Some(answer::quoted(result)),
        _ => None,
    }
}
