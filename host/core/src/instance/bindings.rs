//! Generated from `wit/`.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "custom-tool",
    imports: {
        "airlock:tool/pending-actions.push-pending-action": async,
    },
    exports: { default: async },
});

pub(crate) use airlock::tool::{host, pending_actions, types};
