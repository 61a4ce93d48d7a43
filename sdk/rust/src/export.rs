//! Turns a crate's tools into a component.

use crate::wire::bindings::exports::airlock::tool::{resolver, tool};
use crate::wire::{ToolDefinition, ToolError, ToolResult, WireResolution, split};
use crate::{Call, Tools, host, panic};

/// Makes this crate a plugin with the tools that a function returns: `export!(tools)`, once per
/// crate.
///
/// The function takes no arguments, returns [`Tools`](crate::Tools), and is called once in each
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

            // A native linker doesn't accept the names of the exports.
            #[cfg(target_family = "wasm")]
            $crate::__private::export_component!(Component with_types_in $crate::__private::bindings);
            #[cfg(not(target_family = "wasm"))]
            const _: () = $crate::__private::is_plugin::<Component>();
        };
    };
}

/// The trait that [`export!`] implements.
pub trait Plugin {
    /// Runs a function with the tools, which are made on the first call.
    fn with_tools<R>(run: impl FnOnce(&Tools) -> R) -> R;
}

/// Checks the argument of [`export!`] on targets that export nothing.
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
