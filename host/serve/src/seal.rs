//! The state that a client carries from a question to its answer. It is sealed so that it can't be
//! forged, changed, used for another question, or used twice.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};

/// The time for which a question can be answered.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15 * 60);

/// The most open questions. Beyond that, the oldest is dropped.
const OPEN: usize = 256;

/// The subject of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The id of the action that the model wants applied.
    pub action: String,
    /// The digest of everything that was shown.
    pub effects: String,
    /// The number of earlier attempts to apply it.
    pub attempts: u32,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    #[serde(flatten)]
    asked: Asked,
    /// A random value, unique to this question.
    nonce: String,
}

/// The seals of this process. The key is not shared, and is lost when the process ends.
pub struct Seals {
    codec: RequestStateCodec,
    /// The nonces of the unanswered questions.
    open: Mutex<VecDeque<String>>,
}

impl Seals {
    /// Creates a random key.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn new() -> Result<Self, String> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| error.to_string())?;
        let codec = RequestStateCodec::try_new(key).map_err(|error| error.to_string())?;
        Ok(Self {
            codec,
            open: Mutex::default(),
        })
    }

    /// Seals a question. Its answer must come with exactly the same `bound`.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn seal(&self, asked: &Asked, bound: &[u8]) -> Result<String, String> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).map_err(|error| error.to_string())?;
        let nonce: String = nonce.iter().map(|byte| format!("{byte:02x}")).collect();
        let sealed = Sealed {
            asked: asked.clone(),
            nonce: nonce.clone(),
        };
        let sealed = serde_json::to_vec(&sealed).map_err(|error| error.to_string())?;
        let options = SealOptions::new()
            .associated_data(bound)
            .ttl(ANSWERED_WITHIN);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() == OPEN {
            open.pop_front();
        }
        open.push_back(nonce);
        Ok(self.codec.seal_with(&sealed, &options))
    }

    /// Opens a sealed question, once. This process must have sealed it recently, for the same call,
    /// and it must not have been answered yet.
    ///
    /// # Errors
    /// The reason why it can't be opened, as a clause.
    pub fn open(&self, state: &str, bound: &[u8]) -> Result<Asked, String> {
        let opened = self.codec.open_with(state, bound);
        let opened = opened.map_err(|error| error.to_string())?;
        let sealed: Sealed = serde_json::from_slice(&opened).map_err(|error| error.to_string())?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = open.iter().position(|nonce| *nonce == sealed.nonce) else {
            return Err("it was answered before".to_owned());
        };
        open.remove(at);
        Ok(sealed.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_once_by_its_own_call_alone() {
        let seals = Seals::new().unwrap();
        let asked = Asked {
            action: "1".to_owned(),
            effects: "sha256:00".to_owned(),
            attempts: 0,
        };
        let state = seals.seal(&asked, b"call").unwrap();
        seals.open(&state, b"another call").unwrap_err();
        seals.open(&state.replace('1', "2"), b"call").unwrap_err();
        Seals::new().unwrap().open(&state, b"call").unwrap_err();
        assert_eq!(seals.open(&state, b"call"), Ok(asked.clone()));
        assert_eq!(
            seals.open(&state, b"call"),
            Err("it was answered before".to_owned())
        );
        // Beyond the limit, the oldest question can't be answered any more.
        let oldest = seals.seal(&asked, b"call").unwrap();
        for _ in 0..OPEN {
            seals.seal(&asked, b"call").unwrap();
        }
        seals.open(&oldest, b"call").unwrap_err();
    }
}
