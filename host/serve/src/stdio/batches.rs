//! Batches: several messages on one line, whose requests are answered together on one line.
//!
//! Of all versions of the protocol only 2025-03-26 has them.

use rmcp::model::{RequestId, ServerJsonRpcMessage};
use serde_json::{Value, json};

use super::requests::Turn;

/// The most messages of a batch. An answer that waits for others of its batch keeps its turn, so
/// this must not be more than the turns that there are.
pub const LONGEST: usize = 64;

/// The batches that are not answered yet.
#[derive(Default)]
pub struct Batches {
    open: Vec<Batch>,
}

#[derive(Default)]
struct Batch {
    /// The requests that are not answered.
    waiting: Vec<RequestId>,
    answers: Vec<Value>,
    turns: Vec<Turn>,
    is_read: bool,
}

/// All answers of a batch. The turns of its requests end with it.
pub struct Whole {
    pub answers: Value,
    _turns: Vec<Turn>,
}

/// What becomes of an answer.
pub enum Answered {
    /// It is of no batch: it is written by itself.
    Alone(Option<Turn>),
    /// Others of its batch are missing.
    Kept,
    /// It was the last of its batch.
    Whole(Whole),
}

impl Batches {
    /// Begins a batch; the next messages belong to it.
    pub fn begin(&mut self) {
        self.open.push(Batch::default());
    }

    /// Adds a request to the batch that was begun last.
    pub fn wait_for(&mut self, id: RequestId) {
        if let Some(batch) = self.open.last_mut() {
            batch.waiting.push(id);
        }
    }

    /// Adds the answer to a message that is no request.
    pub fn add(&mut self, answer: Value) {
        if let Some(batch) = self.open.last_mut() {
            batch.answers.push(answer);
        }
    }

    /// Ends the batch that was begun last. Returns its answers if none is missing, and it has any.
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

    /// Forgets a request that is answered no more. Returns the answers of its batch if no other is
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
