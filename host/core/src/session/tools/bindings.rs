//! The tools of a session, and the producer of each.

use std::collections::{HashMap, HashSet};

use airlock_model::digest::Digest;
use airlock_model::policy::Policy;
use airlock_model::tool::{RejectedTool, ToolDefinition};

use crate::plugin::LoadedTool;
use crate::producer::Producer;

#[derive(Default)]
pub(super) struct Bindings {
    /// The bound tools, in binding order.
    tools: Vec<BoundTool>,
    /// Index of each tool in `tools`, by name.
    places: HashMap<String, usize>,
    /// The tools that were left out, each with the digest of its producer.
    rejected: Vec<(Digest, RejectedTool)>,
    /// The producers, including unbound ones, because their pending actions may still be resolved.
    producers: Vec<Producer>,
    /// Index of each producer in `producers`.
    known: HashMap<Digest, usize>,
    /// The producers that only resolve actions: plugins from the store, and producers that are
    /// bound under wider grants than an action was pushed with. Each has the grants of its action.
    narrowed: Vec<Producer>,
}

/// A tool and its producer.
#[derive(Clone)]
pub(in crate::session) struct BoundTool {
    producer: Producer,
    index: usize,
}

impl BoundTool {
    pub fn producer(&self) -> &Producer {
        &self.producer
    }

    pub fn definition(&self) -> &LoadedTool {
        &self.producer.tools()[self.index]
    }

    fn name(&self) -> &str {
        &self.definition().definition.name
    }
}

impl Bindings {
    /// Adds the tools of a producer and returns those that were left out. If the producer is
    /// already bound, its tools stay under their current policy.
    pub fn add(&mut self, producer: Producer) -> Vec<RejectedTool> {
        let mut rejected = producer.rejected().to_vec();
        let policy = producer.policy().clone();
        let digest = producer.digest();
        if self.known.contains_key(&digest) {
            // A name that was taken before may be free now.
            self.rejected.retain(|(other, _)| *other != digest);
        }
        let producer = self.enter(producer);
        // With a different policy, the tools are rejected, so that the caller doesn't assume the
        // new policy applies.
        let is_same = *producer.policy() == policy;
        for index in 0..producer.tools().len() {
            let producer = producer.clone();
            let tool = BoundTool { producer, index };
            match self.bound(tool.name()) {
                None => self.push(tool),
                Some(bound) if is_same && bound.producer.is(&tool.producer) => {}
                Some(_) => {
                    let conflict = RejectedTool::conflict(tool.name());
                    tracing::warn!(producer = tool.producer.name(), "{}", conflict.reason);
                    rejected.push(conflict);
                }
            }
        }
        let left_out = rejected.iter().map(|tool| (digest, tool.clone()));
        self.rejected.extend(left_out);
        rejected
    }

    fn push(&mut self, tool: BoundTool) {
        self.places.insert(tool.name().to_owned(), self.tools.len());
        self.tools.push(tool);
    }

    /// Replaces all tools by those of these producers. Returns the tools that were left out, and
    /// the producers that no longer have tools here.
    pub fn replace(&mut self, producers: Vec<Producer>) -> (Vec<RejectedTool>, Vec<Producer>) {
        let bound: HashSet<_> = producers.iter().map(Producer::digest).collect();
        self.tools.clear();
        self.places.clear();
        self.rejected.clear();
        let rejected = producers.into_iter().flat_map(|it| self.add(it));
        let rejected = rejected.collect();
        let unbound = self.producers.iter();
        let unbound = unbound.filter(|it| !bound.contains(&it.digest()));
        (rejected, unbound.cloned().collect())
    }

    pub fn rejected(&self) -> Vec<RejectedTool> {
        self.rejected.iter().map(|(_, tool)| tool.clone()).collect()
    }

    /// Registers a producer. A plugin that is bound again keeps its live instance and its volatile
    /// actions, but never the policy of an earlier binding.
    fn enter(&mut self, producer: Producer) -> Producer {
        let digest = producer.digest();
        let Some(place) = self.known.get(&digest).copied() else {
            self.known.insert(digest, self.producers.len());
            self.producers.push(producer.clone());
            return producer;
        };
        let old = &mut self.producers[place];
        let mut tools = self.tools.iter();
        if old.policy() == producer.policy() || tools.any(|tool| tool.producer.is(old)) {
            return old.clone();
        }
        *old = producer.clone();
        producer
    }

    pub fn remove_tools(&mut self, producer: Digest) {
        self.rejected.retain(|(digest, _)| *digest != producer);
        self.places.clear();
        for tool in std::mem::take(&mut self.tools) {
            if tool.producer.digest() != producer {
                self.push(tool);
            }
        }
    }

    pub fn find(&self, name: &str) -> Option<BoundTool> {
        self.bound(name).cloned()
    }

    fn bound(&self, name: &str) -> Option<&BoundTool> {
        let place = self.places.get(name)?;
        Some(&self.tools[*place])
    }

    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.iter().map(|tool| &tool.definition().definition)
    }

    pub fn producers(&self) -> Vec<Producer> {
        self.producers
            .iter()
            .chain(&self.narrowed)
            .cloned()
            .collect()
    }

    /// Returns the producer with this digest, bound or unbound.
    pub fn producer(&self, digest: Digest) -> Option<Producer> {
        let place = self.known.get(&digest)?;
        Some(self.producers[*place].clone())
    }

    /// Returns the state format version of the native producer with this name, if there is one.
    pub fn native_version(&self, name: &str) -> Option<u32> {
        let mut natives = self.producers.iter().filter_map(Producer::native);
        natives
            .find(|native| native.name == name)
            .map(|native| native.state_version)
    }

    /// Returns the producer with this digest under exactly these narrowed grants.
    pub fn narrowed(&self, digest: Digest, grants: &Policy) -> Option<Producer> {
        let mut narrowed = self.narrowed.iter();
        let found = narrowed.find(|it| it.digest() == digest && it.policy() == grants);
        found.cloned()
    }

    /// Adds a producer under narrowed grants, unless another call has done so in the meantime.
    pub fn add_narrowed(&mut self, producer: Producer) -> Producer {
        match self.narrowed(producer.digest(), producer.policy()) {
            Some(found) => found,
            None => {
                self.narrowed.push(producer.clone());
                producer
            }
        }
    }
}
