//! A principal's way to its conversations.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use airlock_host::pending::ActionId;
use serde_json::Value;

use super::conversations::{Conversations, NoConversation, has};
use super::tokens::Principal;
use crate::server::Server;

/// One session of the transport's, with a conversation of its own; or, in the newest era of the
/// protocol, one request.
pub struct Visit {
    principal: Arc<Principal>,
    conversations: Arc<Conversations>,
    /// Whether it began with `initialize`: only a session of the transport's does.
    is_session: AtomicBool,
    /// The name of its conversation, once it has one. It ends with the session.
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

    /// The id of a conversation that a client may use or leave.
    pub fn new_id(&self) -> String {
        self.conversations.new_id(&self.principal.name)
    }

    /// The conversation of a request that carries this id, or none.
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

    /// Where an action is resolved that is named: in the principal's conversation that it is of,
    /// which is this one where it is of none.
    pub async fn where_named(&self, here: Server, id: &str) -> Server {
        let id = ActionId::from(id);
        if has(&here, &id).await {
            return here;
        }
        let having = self.conversations.having(&self.principal.name, &id).await;
        having.unwrap_or(here)
    }

    /// Looks through all conversations of the principal, until something is found; the one in which
    /// it is found is used by that.
    pub fn in_conversations<T>(&self, look: impl Fn(&Server) -> Option<T>) -> Option<T> {
        self.conversations.find_in(&self.principal.name, look)
    }

    /// The other conversations of the principal.
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
