//! A principal's way to its conversations.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use airlock_host::pending::ActionId;
use serde_json::Value;

use super::conversations::{Conversations, NoConversation, has};
use super::tokens::Principal;
use crate::server::Server;

/// A session of the transport, with its own conversation. In the newest version of the protocol, a
/// single request.
pub struct Visit {
    principal: Arc<Principal>,
    conversations: Arc<Conversations>,
    /// True if it began with `initialize`, which only sessions of the transport do.
    is_session: AtomicBool,
    /// The name of its conversation, once it has one. The conversation ends with the session.
    own: OnceLock<String>,
}

impl Visit {
    pub fn new(principal: &Arc<Principal>, conversations: &Arc<Conversations>) -> Self {
        Self {
            principal: Arc::clone(principal),
            conversations: Arc::clone(conversations),
            is_session: AtomicBool::new(false),
            own: OnceLock::new(),
        }
    }

    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    pub fn listing(&self) -> &Server {
        self.conversations.listing()
    }

    pub fn initialized(&self) {
        self.is_session.store(true, Ordering::Relaxed);
    }

    /// Returns the id of a new conversation, which a client may use or ignore.
    pub fn new_id(&self) -> String {
        self.conversations.new_id(&self.principal.name)
    }

    /// Returns the conversation of a request, with or without an id.
    ///
    /// # Errors
    /// [`NoConversation`].
    pub fn conversation(&self, id: Option<&Value>) -> Result<Server, NoConversation> {
        if self.is_session.load(Ordering::Relaxed) {
            let own = || Conversations::new_name(&self.principal.name);
            return self.conversations.find_or_open(self.own.get_or_init(own));
        }
        let name = match id {
            None | Some(Value::Null) => self.principal.name.clone(),
            Some(Value::String(id)) => self.conversations.name(&self.principal.name, id)?,
            Some(_) => return Err(NoConversation::Unknown),
        };
        self.conversations.find_or_open(&name)
    }

    /// Returns the principal's conversation that has the named action, or `here` if none has it.
    pub async fn where_named(&self, here: Server, id: &str) -> Server {
        let id = ActionId::from(id);
        if has(&here, &id).await {
            return here;
        }
        let having = self.conversations.having(&self.principal.name, &id).await;
        having.unwrap_or(here)
    }

    /// Looks through all conversations of the principal until `look` finds something, and marks
    /// that conversation as used.
    pub fn in_conversations<T>(&self, look: impl Fn(&Server) -> Option<T>) -> Option<T> {
        self.conversations.find_in(&self.principal.name, look)
    }

    /// Returns the other conversations of the principal.
    pub fn beside(&self, here: &Server) -> Vec<Server> {
        let mut all = self.conversations.of(&self.principal.name);
        all.retain(|it| it.session().id() != here.session().id());
        all
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(own) = self.own.get() {
            self.conversations.end(own);
        }
    }
}
