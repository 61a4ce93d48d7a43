//! Steps that tell what the guest sees of where it runs: as JSON, mostly.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wasip2::{cli, clocks, filesystem};

use crate::airlock::tool::host;
use crate::exports::airlock::tool::resolver::Resolution;

pub fn session() -> String {
    let session = host::session().map(|info| {
        json!({"id": info.id, "workspace": info.workspace, "hasPendingStore": info.has_pending_store})
    });
    Value::from(session).to_string()
}

pub fn is_cancelled() -> String {
    format!("cancelled: {}", host::is_cancelled())
}

pub fn resolution(resolution: Option<&Resolution>) -> String {
    let Some(resolution) = resolution else {
        return "none".into();
    };
    json!({
        "actionId": resolution.action_id,
        "label": resolution.label,
        "sourceToolName": resolution.source_tool_name,
        "hasState": resolution.state.is_some(),
        "reason": resolution.reason,
        "extra": resolution.extra,
        "attempt": resolution.attempt,
    })
    .to_string()
}

/// `cwd` is the standard library's, which may differ from what the host said: `initialCwd`.
pub fn env() -> String {
    let variables: BTreeMap<String, String> =
        cli::environment::get_environment().into_iter().collect();
    let preopens: Vec<String> = filesystem::preopens::get_directories()
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    json!({
        "vars": variables,
        "args": cli::environment::get_arguments(),
        "cwd": std::env::current_dir().ok(),
        "initialCwd": cli::environment::initial_cwd(),
        "preopens": preopens,
    })
    .to_string()
}

/// `wall` in milliseconds since 1970, `monotonic` in nanoseconds.
pub fn now() -> String {
    let wall = clocks::wall_clock::now();
    let milliseconds = wall.seconds * 1000 + u64::from(wall.nanoseconds / 1_000_000);
    json!({"wall": milliseconds, "monotonic": clocks::monotonic_clock::now()}).to_string()
}

/// Seconds since 1970.
pub fn wall() -> String {
    format!("wall {}", clocks::wall_clock::now().seconds)
}

pub fn hash_order() -> String {
    let keys: std::collections::HashSet<u32> = (0..10).collect();
    format!("{:?}", keys.into_iter().collect::<Vec<_>>())
}

/// How many bytes came, and the first sixteen of them.
pub fn random(bytes: u64) -> String {
    let random = wasip2::random::random::get_random_bytes(bytes);
    let first: String = random
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("random {}: {first}", random.len())
}
