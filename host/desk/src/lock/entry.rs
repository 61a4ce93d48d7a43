//! An installed plugin, as it is pinned.

use airlock_host::digest::Digest;
use airlock_host::wants::Want;
use airlock_host::{Plugin, Policy};
use airlock_registry::Reference;
use airlock_signature::Signer;
use serde::{Deserialize, Serialize};

use super::difference::{self, Difference, differences};
use super::facts::Facts;
use super::name::InstalledName;
use crate::configuration::Grant;

/// An installed plugin, pinned to its bytes and its facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Entry {
    /// The name that commands and files know it by.
    pub name: InstalledName,
    /// The place that it came from, and that `airlock update` looks at.
    pub reference: Reference,
    /// The digest of the artifact's manifest, if it came from a registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Digest>,
    /// The SHA-256 of the component's bytes.
    pub digest: Digest,
    /// The signers whose signatures were verified when it was installed or updated, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signed_by: Vec<Signer>,
    /// Its grant. A `[[grant]]` of the configuration that names the plugin replaces it.
    pub grant: Grant,
    /// The component's own facts.
    #[serde(rename = "component")]
    pub facts: Facts,
}

impl Entry {
    /// Creates an entry for a plugin that is to be installed.
    pub fn new(
        name: InstalledName,
        reference: Reference,
        manifest: Option<Digest>,
        plugin: &Plugin,
        grant: Grant,
    ) -> Self {
        Self {
            name,
            reference,
            manifest,
            digest: plugin.digest(),
            signed_by: Vec::new(),
            grant,
            facts: Facts::of(plugin),
        }
    }

    /// Returns the differences between these facts and those of a loaded plugin.
    pub fn differences_to(&self, plugin: &Plugin) -> Vec<Difference> {
        differences(&self.facts, &Facts::of(plugin))
    }

    /// Returns the differences between this version and another one.
    pub fn differences_from(&self, before: &Self) -> Vec<Difference> {
        let signers = difference::of_signers(&before.signed_by, &self.signed_by);
        let facts = differences(&before.facts, &self.facts);
        signers.into_iter().chain(facts).collect()
    }

    /// Returns the plugin's policy with this grant. The configuration may have another one.
    pub fn policy(&self) -> Policy {
        self.limited(self.grant.to_policy())
    }

    /// Returns the part of a policy that the plugin wants.
    pub(crate) fn limited(&self, granted: Policy) -> Policy {
        match &self.facts.wants {
            Some(wants) => granted.limited_to(wants),
            None => granted,
        }
    }

    /// Sets the grant, without anything that the plugin doesn't want.
    pub fn set_grant(&mut self, grant: Grant) {
        self.grant = match &self.facts.wants {
            Some(wants) => grant.limited_to(&wants.items()),
            // Only the grant limits it.
            None => grant,
        };
    }

    /// Returns whether a reference leads to another version of the same plugin: it differs only in
    /// the tag and the digest.
    pub fn is_from(&self, reference: &Reference) -> bool {
        match (&self.reference, reference) {
            (Reference::Oci(one), Reference::Oci(other)) => {
                one.host() == other.host() && one.repository() == other.repository()
            }
            (one, other) => one == other,
        }
    }

    /// Returns whether another entry pins the same component from the same place, by the same
    /// signers.
    pub fn is_as(&self, other: &Self) -> bool {
        self.reference == other.reference
            && self.digest == other.digest
            && self.signed_by == other.signed_by
            && self.facts == other.facts
    }

    /// Returns each thing that the plugin wants. One that lists none is treated as if it
    /// wanted to read and change everything.
    pub fn wants(&self) -> Vec<Want> {
        self.facts.wants()
    }
}
