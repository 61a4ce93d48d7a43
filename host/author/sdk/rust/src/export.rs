//! Making a component of a crate's tools.

use crate::wire::bindings::exports::airlock::tool::{resolver, tool};
use crate::wire::{ToolDefinition, ToolError, ToolResult, WireResolution, split};
use crate::{Call, Tools, host, panic};

/// Makes this crate a plugin that has the tools which the function returns: `export!(tools)`, once
/// in a crate.
///
/// The function takes nothing, returns [`Tools`](crate::Tools), and is called once in each
/// instance.
#[macro_export]
macro_rules! export {
    ($tools:path) => {
        const _: () = {
            struct Component;

            impl $crate::__private::Plugin for Component {
                fn with_tools<R>(run: impl ::core::ops::FnOnce(&$crate::Tools) -> R) -> R {
                    ::std::thread_local! {
                        static TOOLS: $crate::Tools = $tools();
                    }
                    TOOLS.with(run)
                }
            }

            // The names of the exports are none that a native linker takes.
            #[cfg(target_family = "wasm")]
            $crate::__private::export_component!(Component with_types_in $crate::__private::bindings);
            #[cfg(not(target_family = "wasm"))]
            const _: () = $crate::__private::is_plugin::<Component>();
        };
    };
}

/// What [`export!`] implements.
pub trait Plugin {
    /// Runs something with the tools, which are made the first time.
    fn with_tools<R>(run: impl FnOnce(&Tools) -> R) -> R;
}

/// Checks what [`export!`] was given where nothing is exported.
pub const fn is_plugin<P: Plugin>() {}

impl<P: Plugin> tool::Guest for P {
    fn definitions() -> Vec<ToolDefinition> {
        panic::report();
        P::with_tools(Tools::definitions)
    }

    fn execute(call_id: String, name: String, params: String) -> Result<ToolResult, ToolError> {
        panic::report();
        let call = Call::new(call_id, name);
        P::with_tools(|tools| Ok(tools.execute(&call, &params, &mut host::push)?))
    }
}

impl<P: Plugin> resolver::Guest for P {
    fn apply(resolution: WireResolution) -> Result<ToolResult, ToolError> {
        panic::report();
        let (state, resolution) = split(resolution);
        P::with_tools(|tools| Ok(tools.apply(state.as_deref(), &resolution)?))
    }

    fn reject(resolution: WireResolution) -> Result<Option<ToolResult>, ToolError> {
        panic::report();
        let (state, resolution) = split(resolution);
        P::with_tools(|tools| Ok(tools.reject(state.as_deref(), &resolution)?))
    }
}
