//! The conversations of a server, each of one principal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use airlock_host::Tenant;
use airlock_host::pending::{ActionId, SessionId};
use rmcp::model::{RequestStateCodec, SealOptions};
use tokio::sync::mpsc::UnboundedSender;

use super::{Conversation, Sessions};
use crate::metrics::{Metrics, Now};
use crate::server::{ServeError, Server};

/// The open conversations. A principal's default one has the principal's name. The others are named
/// after the principal, with a dot and a unique id.
pub struct Conversations {
    sessions: Arc<dyn Sessions>,
    metrics: Metrics,
    /// The codec for the ids that clients carry without a session of the transport, which seals
    /// them.
    seals: RequestStateCodec,
    most: usize,
    listing: Server,
    open: Mutex<HashMap<String, Open>>,
    /// The tenants of the principals that have had a conversation, by name.
    tenants: Mutex<HashMap<String, Tenant>>,
    ending: UnboundedSender<Server>,
}

struct Open {
    server: Server,
    used: Instant,
}

/// The reason why there is no conversation.
#[derive(Debug, thiserror::Error)]
pub enum NoConversation {
    #[error(
        "`airlock/session` in `_meta` is none that this server gave to this principal: `server/discover` gives one, and without one there is the principal's own conversation"
    )]
    Unknown,
    #[error(
        "You have {0} conversations, which is the limit. Conversations expire after an hour of inactivity. Without `airlock/session` in `_meta`, you get your own conversation, which is always available."
    )]
    TooMany(usize),
    #[error(transparent)]
    Session(#[from] ServeError),
}

impl Conversations {
    /// Opens the session that lists tools. There are no conversations yet.
    ///
    /// # Errors
    /// [`ServeError::Randomness`], and those of [`Sessions::open`].
    pub fn new(
        sessions: &Arc<dyn Sessions>,
        metrics: &Metrics,
        most: usize,
        ending: UnboundedSender<Server>,
    ) -> Result<Self, ServeError> {
        let mut key = [0; 32];
        let no_randomness =
            |error: &dyn std::fmt::Display| ServeError::Randomness(error.to_string());
        getrandom::fill(&mut key).map_err(|error| no_randomness(&error))?;
        let seals = RequestStateCodec::try_new(key).map_err(|error| no_randomness(&error))?;
        Ok(Self {
            sessions: Arc::clone(sessions),
            metrics: metrics.clone(),
            seals,
            most,
            listing: sessions.open(None)?,
            open: Mutex::default(),
            tenants: Mutex::default(),
            ending,
        })
    }

    /// Returns the server for everything that all conversations share.
    pub fn listing(&self) -> &Server {
        &self.listing
    }

    /// Returns the name of a new conversation of a principal.
    pub fn new_name(principal: &str) -> String {
        format!("{principal}.{}", SessionId::generate(SystemTime::now()))
    }

    /// Returns the id of a new conversation, in the form that a client carries: it can't be forged,
    /// or used by another principal. The conversation opens on first use.
    pub fn new_id(&self, principal: &str) -> String {
        let name = Self::new_name(principal);
        let options = SealOptions::new().associated_data(principal.as_bytes());
        self.seals.seal_with(name.as_bytes(), &options)
    }

    /// Returns the name of the conversation that a client means by such an id.
    ///
    /// # Errors
    /// [`NoConversation::Unknown`].
    pub fn name(&self, principal: &str, id: &str) -> Result<String, NoConversation> {
        let opened = self.seals.open_with(id, principal.as_bytes());
        let opened = opened.map_err(|_| NoConversation::Unknown)?;
        String::from_utf8(opened).map_err(|_| NoConversation::Unknown)
    }

    /// Returns the conversation of this name, and opens it if necessary.
    ///
    /// # Errors
    /// [`NoConversation::TooMany`] and [`NoConversation::Session`].
    pub fn find_or_open(&self, name: &str) -> Result<Server, NoConversation> {
        self.with_open(|open| {
            if let Some(found) = open.get_mut(name) {
                found.used = Instant::now();
                return Ok(found.server.clone());
            }
            // A principal's default conversation is always allowed, and takes none of the others'
            // room.
            if let Some((principal, _)) = name.split_once('.') {
                let own = open.keys().filter(|it| is_of(it, principal));
                let count = own.filter(|it| it.contains('.')).count();
                if count >= self.most {
                    return Err(NoConversation::TooMany(count));
                }
            }
            let tenant = self.tenant(name);
            let conversation = Conversation {
                name,
                tenant: &tenant,
            };
            let server = self.sessions.open(Some(&conversation))?;
            server.count_in(&self.metrics);
            let opened = Open {
                server: server.clone(),
                used: Instant::now(),
            };
            open.insert(name.to_owned(), opened);
            Ok(server)
        })
    }

    /// Returns the engine's tenant for the principal whose conversation has this name.
    fn tenant(&self, name: &str) -> Tenant {
        let principal = name
            .split_once('.')
            .map_or(name, |(principal, _)| principal);
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.entry(principal.to_owned()).or_default().clone()
    }

    /// Returns all conversations of all principals.
    pub fn all(&self) -> Vec<Server> {
        self.with_open(|open| open.values().map(|open| open.server.clone()).collect())
    }

    /// Returns the numbers of open conversations and live instances.
    pub fn now(&self) -> Now {
        Now {
            conversations: self.with_open(|open| open.len()),
            instances: self.sessions.live_instances(),
        }
    }

    /// Returns all conversations of a principal.
    pub fn of(&self, principal: &str) -> Vec<Server> {
        self.with_open(|open| {
            let own = open.iter().filter(|(name, _)| is_of(name, principal));
            own.map(|(_, open)| open.server.clone()).collect()
        })
    }

    /// Looks through a principal's conversations until `look` finds something, and marks that
    /// conversation as used.
    pub fn find_in<T>(&self, principal: &str, look: impl Fn(&Server) -> Option<T>) -> Option<T> {
        self.with_open(|open| {
            let mut own = open.iter_mut().filter(|(name, _)| is_of(name, principal));
            own.find_map(|(_, open)| {
                let found = look(&open.server)?;
                open.used = Instant::now();
                Some(found)
            })
        })
    }

    /// Returns the principal's conversation that has this action on its stack.
    pub async fn having(&self, principal: &str, id: &ActionId) -> Option<Server> {
        for server in self.of(principal) {
            if has(&server, id).await {
                return Some(server);
            }
        }
        None
    }

    /// Ends a conversation.
    pub fn end(&self, name: &str) {
        if let Some(ended) = self.with_open(|open| open.remove(name)) {
            let _ = self.ending.send(ended.server);
        }
    }

    /// Ends conversations that were idle for this long, except for the principals' default ones,
    /// which are few.
    pub fn end_idle(&self, idle: Duration) {
        let ended = self.with_open(|open| {
            let is_idle =
                |name: &String, open: &mut Open| name.contains('.') && open.used.elapsed() > idle;
            let idle = open.extract_if(is_idle);
            idle.map(|(_, open)| open.server).collect::<Vec<_>>()
        });
        for server in ended {
            let _ = self.ending.send(server);
        }
    }

    /// Ends all conversations.
    pub fn end_all(&self) {
        for (_, open) in self.with_open(std::mem::take) {
            let _ = self.ending.send(open.server);
        }
    }

    fn with_open<T>(&self, act: impl FnOnce(&mut HashMap<String, Open>) -> T) -> T {
        act(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns whether an action is pending on this server's stack.
pub async fn has(server: &Server, id: &ActionId) -> bool {
    let pending = server.session().pending().await.unwrap_or_default();
    pending.iter().any(|it| it.action.id == *id)
}

fn is_of(name: &str, principal: &str) -> bool {
    let rest = name.strip_prefix(principal);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_of_the_principal_whose_name_it_begins_with() {
        for (name, principal, expected) in [
            ("ann", "ann", true),
            ("ann.1f", "ann", true),
            ("anna", "ann", false),
            ("anna.1f", "ann", false),
            ("ann", "anna", false),
            ("ben.ann", "ann", false),
        ] {
            assert_eq!(is_of(name, principal), expected, "{name} {principal}");
        }
    }
}
