//! Traps when it is asked for its definitions.

use bad_definitions::{Definitions, ToolDefinition};

struct Trap;

impl Definitions for Trap {
    fn definitions() -> Vec<ToolDefinition> {
        #[cfg(target_arch = "wasm32")]
        std::arch::wasm32::unreachable();
        // Only for editors and lints, which look at the code as if it were the machine's own.
        #[cfg(not(target_arch = "wasm32"))]
        std::process::abort()
    }
}

bad_definitions::export!(Trap);
