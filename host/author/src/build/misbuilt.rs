//! Advice for an author whose component a host can't load.

use airlock_host::load::LoadError;

use super::project::Language;
use crate::error::Error;

/// Adds advice on how to export tools in the language, if the component exports none.
pub fn advise(error: Error, language: Language) -> Error {
    match error {
        Error::Load(error) => match advice(&error, language) {
            Some(advice) => Error::Misbuilt { error, advice },
            None => Error::Load(error),
        },
        other => other,
    }
}

fn advice(error: &LoadError, language: Language) -> Option<&'static str> {
    match error {
        LoadError::NoTools { rejected, .. } if rejected.is_empty() => Some(match language {
            Language::Rust => {
                "add one in src/lib.rs, where `airlock_tool::export!` has them from: Tools::new().with(tool)"
            }
            Language::TypeScript => "return one from the function that `export default` names",
            Language::Python => "decorate a function at the top level with @airlock.tool",
            Language::C => "name one: AIRLOCK_TOOLS(&tool);",
            Language::Go => {
                "register one in a function init, for example in src/tool.go: airlock.Register(airlock.Tool{…})"
            }
        }),
        LoadError::World { .. } => match language {
            Language::Rust => Some(
                "export the tools in src/lib.rs: airlock_tool::export!(tools); where that is so, take an SDK of this program's version",
            ),
            _ => None,
        },
        _ => None,
    }
}
