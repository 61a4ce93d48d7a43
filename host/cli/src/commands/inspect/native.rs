//! The facts about a native producer.

use airlock_host::Policy;
use airlock_host::native::NativeProducer;

use super::Facts;
use crate::documents::plugins::{Grants, PluginFacts};

/// The limits of the host's own code, worded like a policy.
const GRANTS: &str = "workspace: read, and change while applying; nothing else";

pub fn facts(native: &NativeProducer) -> Facts {
    let form = format!(
        "part of this program, no plugin; its actions are kept in format {}",
        native.state_version()
    );
    vec![
        ("digest", native.digest().to_string()),
        ("native", form),
        ("granted", GRANTS.to_owned()),
    ]
}

pub fn describe(native: &NativeProducer, policy: &Policy) -> PluginFacts<'static> {
    PluginFacts {
        digest: native.digest().to_string(),
        fit: None,
        grants: Grants {
            denied: Vec::new(),
            description: GRANTS.to_owned(),
            workspace: policy.workspace,
        },
        imports: None,
        metadata: None,
        native: Some(true),
        size: None,
        state_version: Some(native.state_version()),
        wants: None,
        world_version: None,
    }
}
