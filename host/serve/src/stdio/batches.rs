//! Batches: several messages on one line, whose requests are answered together on one line.
//!
//! Only version 2025-03-26 of the protocol has them.

use rmcp::model::{RequestId, ServerJsonRpcMessage};
use serde_json::{Value, json};

use super::requests::Turn;

/// The most messages in a batch. An answer that waits for the rest of its batch keeps its turn, so
/// this must not exceed the number of turns.
pub const MAX_PARTS: usize = 64;

/// The unanswered batches.
#[derive(Default)]
pub struct Batches {
    open: Vec<Batch>,
}

#[derive(Default)]
struct Batch {
    /// The unanswered requests.
    waiting: Vec<RequestId>,
    answers: Vec<Value>,
    turns: Vec<Turn>,
    is_read: bool,
}

/// The complete answers of a batch. Dropping it ends the turns of the batch's requests.
pub struct Whole {
    pub answers: Value,
    _turns: Vec<Turn>,
}

/// The destination of an answer.
pub enum Answered {
    /// The answer belongs to no batch and is written by itself.
    Alone(Option<Turn>),
    /// Other answers of its batch are missing.
    Kept,
    /// The answer completes its batch.
    Whole(Whole),
}

impl Batches {
    /// Begins a batch; the next messages belong to it.
    pub fn begin(&mut self) {
        self.open.push(Batch::default());
    }

    /// Adds a request to the newest batch.
    pub fn wait_for(&mut self, id: RequestId) {
        if let Some(batch) = self.open.last_mut() {
            batch.waiting.push(id);
        }
    }

    /// Adds the answer to a message that is not a request.
    pub fn add(&mut self, answer: Value) {
        if let Some(batch) = self.open.last_mut() {
            batch.answers.push(answer);
        }
    }

    /// Ends the newest batch. Returns its answers if it has any and none is missing.
    pub fn end(&mut self) -> Option<Whole> {
        let batch = self.open.last_mut()?;
        batch.is_read = true;
        self.take_whole()
    }

    /// Takes the answer to a request.
    pub fn answered(
        &mut self,
        id: &RequestId,
        message: &ServerJsonRpcMessage,
        turn: Option<Turn>,
    ) -> Answered {
        let Some(batch) = self.forget_in_batch(id) else {
            return Answered::Alone(turn);
        };
        batch.answers.push(json!(message));
        batch.turns.extend(turn);
        self.take_whole().map_or(Answered::Kept, Answered::Whole)
    }

    /// Forgets a request that will not be answered. Returns the answers of its batch if no other is
    /// missing.
    pub fn forget(&mut self, id: &RequestId) -> Option<Whole> {
        self.forget_in_batch(id)?;
        self.take_whole()
    }

    fn forget_in_batch(&mut self, id: &RequestId) -> Option<&mut Batch> {
        self.open.iter_mut().find_map(|batch| {
            let at = batch.waiting.iter().position(|it| it == id)?;
            batch.waiting.swap_remove(at);
            Some(batch)
        })
    }

    fn take_whole(&mut self) -> Option<Whole> {
        let is_whole = |batch: &Batch| batch.is_read && batch.waiting.is_empty();
        let batch = self.open.remove(self.open.iter().position(is_whole)?);
        (!batch.answers.is_empty()).then_some(Whole {
            answers: Value::Array(batch.answers),
            _turns: batch.turns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: i64) -> RequestId {
        RequestId::Number(id)
    }

    fn answer(at: i64) -> ServerJsonRpcMessage {
        serde_json::from_value(json!({"jsonrpc": "2.0", "id": at, "result": {}})).unwrap()
    }

    #[test]
    fn a_batch_is_answered_once_all_of_it_is() {
        let mut batches = Batches::default();
        batches.begin();
        batches.wait_for(id(1));
        batches.wait_for(id(2));
        batches.add(json!("a mistake"));
        assert!(batches.end().is_none());
        let alone = batches.answered(&id(3), &answer(3), None);
        assert!(matches!(alone, Answered::Alone(_)));
        assert!(matches!(
            batches.answered(&id(2), &answer(2), None),
            Answered::Kept
        ));
        let Answered::Whole(whole) = batches.answered(&id(1), &answer(1), None) else {
            panic!("it is whole");
        };
        assert_eq!(whole.answers, json!(["a mistake", answer(2), answer(1)]));
        assert!(batches.open.is_empty());
    }

    #[test]
    fn cancelled_requests_are_not_waited_for() {
        let mut batches = Batches::default();
        batches.begin();
        batches.wait_for(id(1));
        assert!(batches.forget(&id(1)).is_none());
        batches.add(json!(1));
        assert!(batches.end().is_some());
        batches.begin();
        batches.wait_for(id(1));
        assert!(batches.end().is_none());
        assert!(batches.forget(&id(1)).is_none());
        assert!(batches.open.is_empty());
    }
}
