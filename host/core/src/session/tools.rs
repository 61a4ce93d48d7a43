//! The tools of a session, and the producer that resolves an action: the same bytes that pushed it,
//! with no more grants than at that time.

mod bindings;
mod with_policy;

use std::sync::{Arc, PoisonError, RwLock};

use airlock_model::digest::Digest;
use airlock_model::error::{Error, HostError};
use airlock_model::limits::Limits;
use airlock_model::pending::PendingAction;
use airlock_model::policy::Policy;
use airlock_model::store::{BackendErrorKind, PluginBytes, Records, StoreError};
use airlock_model::tool::{RejectedTool, ToolDefinition};

use crate::engine::Engine;
use crate::plugin::Plugin;
use crate::producer::{NativeIdentity, Origin, Producer, ProducerContext, rest};
use bindings::{Bindings, BoundTool};
pub use with_policy::ProducerWithPolicy;

/// The tools of a session.
pub(super) struct Tools {
    /// The session data that a producer needs, under the default policy.
    context: ProducerContext,
    /// Engine for plugins from the store.
    engine: Option<Engine>,
    bindings: RwLock<Bindings>,
}

impl Tools {
    pub fn new(context: ProducerContext, engine: Option<Engine>) -> Self {
        Self {
            context,
            engine,
            bindings: RwLock::default(),
        }
    }

    pub fn limits(&self) -> &Arc<Limits> {
        &self.context.limits
    }

    pub fn bind(&self, producer: ProducerWithPolicy) -> Result<Vec<RejectedTool>, Error> {
        let producer = self.producer(&producer.origin, producer.policy)?;
        Ok(self.write(|bindings| bindings.add(producer)))
    }

    pub fn unbind(&self, producer: Digest) {
        self.write(|bindings| bindings.remove_tools(producer));
    }

    /// Replaces all bound producers. Drops the idle instances of those that are not bound any more.
    pub fn rebind(
        &self,
        producers: impl Iterator<Item = ProducerWithPolicy>,
    ) -> Result<Vec<RejectedTool>, Error> {
        let bound = producers.map(|it| self.producer(&it.origin, it.policy));
        let bound = bound.collect::<Result<Vec<_>, _>>()?;
        let (rejected, unbound) = self.write(|bindings| bindings.replace(bound));
        for producer in unbound {
            producer.make_room();
        }
        Ok(rejected)
    }

    pub fn rejected(&self) -> Vec<RejectedTool> {
        self.read(Bindings::rejected)
    }

    /// Returns the definitions that pass this test, in binding order.
    pub fn definitions(&self, test: impl Fn(&ToolDefinition) -> bool) -> Vec<ToolDefinition> {
        self.read(|bindings| {
            let tools = bindings.definitions();
            tools.filter(|tool| test(tool)).cloned().collect()
        })
    }

    /// # Errors
    /// [`Error::UnknownTool`].
    pub fn find(&self, tool: &str) -> Result<BoundTool, Error> {
        self.read(|bindings| {
            bindings.find(tool).ok_or_else(|| {
                let known = bindings.definitions().map(|tool| tool.name.as_str());
                Error::unknown_tool(tool, known)
            })
        })
    }

    /// Returns all producers of the session's actions, bound or not.
    pub fn producers(&self) -> Vec<Producer> {
        self.read(Bindings::producers)
    }

    /// Returns the producer with this digest, under the policy of the binding.
    pub fn bound(&self, producer: Digest) -> Option<Producer> {
        self.read(|bindings| bindings.producer(producer))
    }

    /// Releases the instance that held a volatile action.
    pub fn release_volatile(&self, action: &PendingAction) {
        if !action.durable
            && let Some(producer) = self.bound(action.plugin)
        {
            producer.release(&action.id);
        }
    }

    /// Returns whether an action is that of a native producer.
    pub async fn is_native(&self, action: &PendingAction) -> Result<bool, Error> {
        if let Some(bound) = self.bound(action.plugin) {
            return Ok(bound.native().is_some());
        }
        let kept = self.records()?.plugin(action.plugin).await?;
        Ok(native_of(action, kept.as_ref()).is_some())
    }

    /// Returns the producer that resolves the action.
    ///
    /// # Errors
    /// [`Error::InstanceGone`], [`Error::PluginGone`] and [`Error::ProducerGone`] if there is none.
    pub async fn producer_of(&self, action: &PendingAction) -> Result<Producer, Error> {
        let bound = self.bound(action.plugin);
        if !action.durable {
            // Only the producer that pushed it can have its instance.
            return bound.ok_or(Error::InstanceGone);
        }
        let Some(bound) = bound else {
            return match self.narrowed(action, &action.grants) {
                Some(narrowed) => Ok(narrowed),
                // Boxed: this rare path would make the future of every resolution kilobytes larger.
                None => Box::pin(self.producer_from_store(action)).await,
            };
        };
        let grants = bound.policy().narrowed_to(&action.grants);
        if grants == *bound.policy() {
            return Ok(bound);
        }
        match self.narrowed(action, &grants) {
            Some(narrowed) => Ok(narrowed),
            None => self.add_narrowed(&bound.origin(), grants),
        }
    }

    /// Returns the producer whose tool was called when the action was pushed, and the tool's index.
    pub async fn caller_of(
        &self,
        action: &PendingAction,
        name: &str,
    ) -> Result<(Producer, usize), Error> {
        let producer = match self.bound(action.plugin) {
            Some(_) if action.durable => self.producer_of(action).await?,
            Some(bound) => bound,
            None => self.producer_from_store(action).await?,
        };
        let mut tools = producer.tools().iter();
        match tools.position(|tool| tool.definition.name == name) {
            Some(index) => Ok((producer, index)),
            None => Err(Error::unknown_tool(name, [])),
        }
    }

    fn narrowed(&self, action: &PendingAction, grants: &Policy) -> Option<Producer> {
        self.read(|bindings| bindings.narrowed(action.plugin, grants))
    }

    fn add_narrowed(&self, origin: &Origin, grants: Policy) -> Result<Producer, Error> {
        let producer = self.producer(origin, grants)?;
        Ok(self.write(|bindings| bindings.add_narrowed(producer)))
    }

    async fn producer_from_store(&self, action: &PendingAction) -> Result<Producer, Error> {
        let kept = self.records()?.plugin(action.plugin).await?;
        if let Some(native) = native_of(action, kept.as_ref()) {
            if native == *rest().identity() {
                return self.rest();
            }
            return Err(self.without(native));
        }
        let gone = || Error::PluginGone(action.plugin);
        let engine = self.engine.as_ref().ok_or_else(gone)?;
        let kept = kept.ok_or_else(gone)?;
        let plugin = Plugin::from_store(engine, kept)
            .await
            .map_err(|error| HostError::KeptPlugin(error.into()))?;
        if plugin.digest() != action.plugin {
            let problem = format!(
                "is damaged: the plugin that it keeps as {} has the digest {}",
                action.plugin,
                plugin.digest()
            );
            let damaged =
                StoreError::backend(BackendErrorKind::Damaged, "of this session", problem);
            return Err(damaged.into());
        }
        self.add_narrowed(&Origin::Plugin(plugin), action.grants.clone())
    }

    /// Returns the producer of the rest of actions that were applied in part. No model can call it.
    ///
    /// # Errors
    /// See [`bind`](Self::bind).
    pub fn rest(&self) -> Result<Producer, Error> {
        self.add_narrowed(&Origin::Native(rest().clone()), Policy::default())
    }

    /// Returns the error for a missing native producer, or for one of another version.
    fn without(&self, native: NativeIdentity) -> Error {
        let here = self.read(|bindings| bindings.native_version(&native.name));
        Error::ProducerGone {
            name: native.name,
            state_version: native.state_version,
            here,
        }
    }

    fn producer(&self, origin: &Origin, policy: Policy) -> Result<Producer, Error> {
        origin.bind(ProducerContext {
            policy,
            ..self.context.clone()
        })
    }

    fn records(&self) -> Result<&dyn Records, Error> {
        Ok(&*self.context.session.store()?.records)
    }

    fn read<R>(&self, body: impl FnOnce(&Bindings) -> R) -> R {
        body(&self.bindings.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<R>(&self, body: impl FnOnce(&mut Bindings) -> R) -> R {
        body(
            &mut self
                .bindings
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// Returns the identity of the native producer that pushed an action, from the data in the store.
fn native_of(action: &PendingAction, kept: Option<&PluginBytes>) -> Option<NativeIdentity> {
    match kept {
        Some(kept) => NativeIdentity::read(&kept.bytes),
        None => NativeIdentity::of(&action.plugin_name, action.plugin),
    }
}
