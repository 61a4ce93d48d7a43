//! Generated from `wit/`.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "custom-tool",
    imports: {
        "airlock:tool/pending-actions.push-pending-action": async,
    },
    exports: { default: async },
    // What a guest is told is lent to it: it gets a copy in its own memory anyhow.
    ownership: Borrowing { duplicate_if_necessary: true },
});

pub(crate) use airlock::tool::{host, pending_actions, types};
