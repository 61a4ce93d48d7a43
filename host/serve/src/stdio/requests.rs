//! The requests under way: how many there are, and whose turn it is.
//!
//! A client that sends requests and never reads would pile up answers. So each request has a turn,
//! from the start of its processing until its answer is written. Requests without a turn wait, and
//! if too many wait, further ones are refused. It would be simpler to stop reading then, but that
//! would block the answers and cancellations that can end a turn.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use rmcp::model::{ClientRequest, ErrorCode, ErrorData, GetExtensions, JsonRpcRequest, RequestId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::message::Refused;

/// The most requests that are processed at once.
const AT_WORK: usize = 64;

/// The most requests that may wait.
const WAITING: usize = 1024;

/// The most bytes of all these requests' lines together. At least the limit of one line.
const BYTES: usize = 32 << 20;

/// An error code from those that are left to implementations.
const TOO_MANY: ErrorCode = ErrorCode(-32010);

pub struct Requests {
    turns: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    waiting: VecDeque<Waiting>,
    by_id: HashMap<RequestId, RequestState>,
}

/// The turn of a request. It ends when its last clone is dropped.
#[derive(Clone)]
pub struct Turn {
    _held: Arc<Held>,
}

struct Held {
    _turn: OwnedSemaphorePermit,
    _bytes: OwnedSemaphorePermit,
}

struct Waiting {
    request: JsonRpcRequest<ClientRequest>,
    bytes: OwnedSemaphorePermit,
}

enum RequestState {
    Waiting,
    AtWork(Turn),
    /// The request will not be answered, but its handler may still be running.
    Cancelled(Weak<Held>),
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(AT_WORK)),
            bytes: Arc::new(Semaphore::new(BYTES)),
            waiting: VecDeque::new(),
            by_id: HashMap::new(),
        }
    }
}

impl Requests {
    /// Queues a request, whose line had `bytes` bytes, for its turn.
    ///
    /// # Errors
    /// If its id is in use, or if there are too many requests.
    pub fn accept(
        &mut self,
        request: JsonRpcRequest<ClientRequest>,
        bytes: usize,
    ) -> Result<(), Refused> {
        let id = request.id.clone();
        if self.by_id.get(&id).is_some_and(RequestState::is_in_use) {
            let shown: String = id.to_string().chars().take(100).collect();
            let text = format!("the id {shown} is that of a request that is not answered yet");
            let error = ErrorData::invalid_request(text, None);
            // With this id, the error would be taken for the answer to the other request.
            return Err(Refused { id: None, error });
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let bytes = Arc::clone(&self.bytes).try_acquire_many_owned(bytes);
        let (Ok(bytes), true) = (bytes, self.waiting.len() < WAITING) else {
            let text = format!(
                "too many requests: {AT_WORK} are worked on, and {WAITING} wait, of {BYTES} bytes together, at most; send this again when others are answered"
            );
            let error = ErrorData::new(TOO_MANY, text, None);
            return Err(Refused {
                id: Some(id),
                error,
            });
        };
        self.by_id.insert(id, RequestState::Waiting);
        self.waiting.push_back(Waiting { request, bytes });
        Ok(())
    }

    pub fn none_waits(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Waits for the next request whose turn it is. Cancel-safe: dropping the future loses nothing.
    pub async fn next(&mut self) -> JsonRpcRequest<ClientRequest> {
        if self.waiting.is_empty() {
            return std::future::pending().await;
        }
        // The semaphore is never closed.
        let Ok(turn) = Arc::clone(&self.turns).acquire_owned().await else {
            return std::future::pending().await;
        };
        let Some(Waiting { mut request, bytes }) = self.waiting.pop_front() else {
            return std::future::pending().await;
        };
        let turn = Turn {
            _held: Arc::new(Held {
                _turn: turn,
                _bytes: bytes,
            }),
        };
        // The handler holds the turn too, and may keep it after the client has stopped waiting.
        request.request.extensions_mut().insert(turn.clone());
        self.by_id
            .insert(request.id.clone(), RequestState::AtWork(turn));
        request
    }

    /// Returns the turn of an answered request; it ends when the answer is written. The id can be
    /// used again.
    pub fn answered(&mut self, id: &RequestId) -> Option<Turn> {
        match self.by_id.remove(id)? {
            RequestState::AtWork(turn) => Some(turn),
            RequestState::Waiting | RequestState::Cancelled(_) => None,
        }
    }

    /// Cancels a request, which will not be answered. Returns whether it had not begun, and now
    /// never will.
    pub fn cancel(&mut self, id: &RequestId) -> bool {
        self.by_id.retain(|_, place| place.is_in_use());
        match self.by_id.remove(id) {
            Some(RequestState::AtWork(turn)) => {
                let held = Arc::downgrade(&turn._held);
                self.by_id.insert(id.clone(), RequestState::Cancelled(held));
                false
            }
            Some(RequestState::Waiting) => {
                self.waiting.retain(|waiting| waiting.request.id != *id);
                true
            }
            Some(cancelled @ RequestState::Cancelled(_)) => {
                self.by_id.insert(id.clone(), cancelled);
                false
            }
            None => false,
        }
    }
}

impl RequestState {
    fn is_in_use(&self) -> bool {
        match self {
            RequestState::Waiting | RequestState::AtWork(_) => true,
            RequestState::Cancelled(held) => held.strong_count() > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tokio::time::timeout;

    use super::*;

    fn ping(id: usize) -> JsonRpcRequest<ClientRequest> {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        serde_json::from_value(ping).unwrap()
    }

    fn id(id: usize) -> RequestId {
        ping(id).id
    }

    /// Returns the request that is ready now.
    async fn next(requests: &mut Requests) -> Option<JsonRpcRequest<ClientRequest>> {
        timeout(Duration::ZERO, requests.next()).await.ok()
    }

    #[tokio::test]
    async fn a_turn_lasts_until_its_answer_is_written_and_its_work_has_ended() {
        let mut requests = Requests::default();
        let mut at_work = Vec::new();
        for at in 0..AT_WORK {
            assert!(requests.accept(ping(at), 10).is_ok());
            at_work.push(next(&mut requests).await.unwrap());
        }
        for at in [100, 101, 102] {
            assert!(requests.accept(ping(at), 10).is_ok());
        }
        assert!(next(&mut requests).await.is_none());

        at_work.remove(0);
        assert!(next(&mut requests).await.is_none());
        let writing = requests.answered(&id(0));
        assert!(next(&mut requests).await.is_none());
        drop(writing);
        assert_eq!(next(&mut requests).await.unwrap().id, id(100));

        // A cancelled request is not answered, and its id stays in use until its handler ends.
        assert!(!requests.cancel(&id(1)));
        assert!(next(&mut requests).await.is_none());
        assert!(requests.accept(ping(1), 10).is_err());
        at_work.remove(0);
        assert!(requests.accept(ping(1), 10).is_ok());
        assert!(requests.cancel(&id(101)));
        assert_eq!(next(&mut requests).await.unwrap().id, id(102));
    }

    #[test]
    fn too_many_bytes_are_too_many_requests() {
        let mut requests = Requests::default();
        assert!(requests.accept(ping(0), BYTES).is_ok());
        let refused = requests.accept(ping(1), 1).unwrap_err();
        assert_eq!((refused.id, refused.error.code), (Some(id(1)), TOO_MANY));
        assert!(requests.cancel(&id(0)));
        assert!(requests.accept(ping(1), 1).is_ok());
    }
}
