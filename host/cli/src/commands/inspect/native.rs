//! The facts about a native producer.

use airlock_host::Policy;
use airlock_host::native::NativeProducer;
use serde_json::{Value, json};

use super::Facts;

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

pub fn describe(native: &NativeProducer, policy: &Policy) -> Value {
    json!({
        "native": true,
        "digest": native.digest().to_string(),
        "stateVersion": native.state_version(),
        "grants": {"workspace": policy.workspace, "description": GRANTS},
    })
}
