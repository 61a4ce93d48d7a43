//! Which tools a session has, and which plugin answers for each.

use std::sync::Arc;

use super::slot::Slot;
use crate::digest::Digest;
use crate::plugin::{LoadedTool, RejectedTool, ToolDefinition};
use crate::policy::Policy;

#[derive(Default)]
pub(super) struct Bindings {
    /// In the order in which they were bound.
    tools: Vec<BoundTool>,
    /// Unbound plugins too: their pending actions may still be resolved.
    slots: Vec<Arc<Slot>>,
    /// For pending actions alone: plugins that the store kept, and those that are bound under wider grants than an action was
    /// pushed with. Each is under the grants of its action.
    aside: Vec<Arc<Slot>>,
}

/// One tool of one plugin.
#[derive(Clone)]
pub(super) struct BoundTool {
    slot: Arc<Slot>,
    index: usize,
}

impl BoundTool {
    pub fn slot(&self) -> &Arc<Slot> {
        &self.slot
    }

    pub fn definition(&self) -> &LoadedTool {
        &self.slot.plugin().loaded_tools()[self.index]
    }
}

impl Bindings {
    pub fn add(&mut self, slot: Arc<Slot>) -> Vec<RejectedTool> {
        let mut rejected = slot.plugin().rejected().to_vec();
        let slot = self.enter_slot(slot);
        for index in 0..slot.plugin().loaded_tools().len() {
            let slot = Arc::clone(&slot);
            let tool = BoundTool { slot, index };
            let name = &tool.definition().definition.name;
            match self.find(name) {
                Some(_) => rejected.push(RejectedTool::conflict(name)),
                None => self.tools.push(tool),
            }
        }
        rejected
    }

    /// A plugin that is bound again keeps its live instance and its volatile actions, but never a policy that it was
    /// unbound from.
    fn enter_slot(&mut self, slot: Arc<Slot>) -> Arc<Slot> {
        let digest = slot.plugin().digest();
        match self
            .slots
            .iter_mut()
            .find(|it| it.plugin().digest() == digest)
        {
            None => self.slots.push(Arc::clone(&slot)),
            Some(old) => {
                let in_use = self.tools.iter().any(|tool| Arc::ptr_eq(&tool.slot, old));
                if in_use || old.policy() == slot.policy() {
                    return Arc::clone(old);
                }
                *old = Arc::clone(&slot);
            }
        }
        slot
    }

    pub fn remove_tools(&mut self, plugin: Digest) {
        self.tools
            .retain(|tool| tool.slot.plugin().digest() != plugin);
    }

    pub fn find(&self, name: &str) -> Option<BoundTool> {
        let mut tools = self.tools.iter();
        tools
            .find(|tool| tool.definition().definition.name == name)
            .cloned()
    }

    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.iter().map(|tool| &tool.definition().definition)
    }

    pub fn slots(&self) -> Vec<Arc<Slot>> {
        self.slots.iter().chain(&self.aside).cloned().collect()
    }

    /// The slot in which the plugin is bound, or was.
    pub fn slot(&self, plugin: Digest) -> Option<Arc<Slot>> {
        let mut slots = self.slots.iter();
        slots.find(|slot| slot.plugin().digest() == plugin).cloned()
    }

    /// The slot for actions of a plugin that were pushed under these grants.
    pub fn aside(&self, plugin: Digest, grants: &Policy) -> Option<Arc<Slot>> {
        let mut slots = self.aside.iter();
        let found = slots.find(|slot| slot.plugin().digest() == plugin && slot.policy() == grants);
        found.cloned()
    }

    /// Adds such a slot, unless somebody else has meanwhile.
    pub fn add_aside(&mut self, slot: Arc<Slot>) -> Arc<Slot> {
        match self.aside(slot.plugin().digest(), slot.policy()) {
            Some(found) => found,
            None => {
                self.aside.push(Arc::clone(&slot));
                slot
            }
        }
    }
}
