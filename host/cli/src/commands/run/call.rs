//! The tool to call, and its params.

use std::ffi::OsStr;

use airlock_desk::plugin::Loaded;
use airlock_host::Error;
use airlock_host::tool::{Params, ToolDefinition};
use airlock_render::{Line, Role, shell};
use serde_json::{Map, Value};

use super::Request;
use crate::commands::params::given;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::terminal::output::on_stderr;

pub struct Call {
    plugin: String,
    tool: Option<String>,
    pub params: Params<'static>,
}

impl Call {
    /// Reads the tool and the params of a request.
    pub fn read(request: &Request) -> Result<Self, Failure> {
        let (tool, params) = match (&request.tool, &request.params) {
            (Some(word), None) if is_params(word) => (None, Some(word)),
            (tool, params) => (tool.clone(), params.as_ref()),
        };
        if params.is_some_and(|word| word == "-") && request.extra.as_deref() == Some("-") {
            let message = "the params and `--extra` can't both be read from standard input";
            return Err(Failure::usage(message).with_hint("put one of them into a file: `@FILE`"));
        }
        let mut params = match params {
            Some(word) => input::params(word)?,
            None => Params::from_value(Value::Object(Map::new())),
        };
        given::put_into(&mut params, &request.given)
            .map_err(|wrong| Failure::usage(format!("the option {wrong}")).quoting())?;
        Ok(Self {
            plugin: request.plugin.to_string_lossy().into_owned(),
            tool,
            params,
        })
    }

    /// Notes that some of the plugin's tools can't be used, and where to find the reason.
    pub fn tell_what_was_left_out(&self, loaded: &Loaded) {
        let (tools, were) = match loaded.rejected().len() {
            0 => return,
            1 => ("a tool".to_owned(), "was"),
            count => (format!("{count} tools"), "were"),
        };
        let inspect = inspect(&self.plugin);
        on_stderr(Line::new().with_role(Role::Note, "note:").with(format!(
            " {tools} of this plugin can't be used and {were} left out; {inspect} shows why"
        )));
    }

    /// Returns the named tool, or the only one that is not hidden.
    pub fn tool_of<'a>(&'a self, loaded: &'a Loaded) -> Result<&'a str, Failure> {
        tool_of(loaded, &self.plugin, self.tool.as_deref())
    }

    /// Explains why the call failed.
    pub fn explain(&self, error: &Error) -> Failure {
        let failure = Failure::from(error);
        match error {
            Error::InvalidParams { .. } => {
                let words = ["airlock", "run", &self.plugin];
                let words = words
                    .into_iter()
                    .chain(self.tool.as_deref())
                    .chain(["--help"]);
                failure.with_hint(format!("`{}` shows its params", shell::join(words)))
            }
            Error::UnknownTool { .. } => {
                failure.with_hint(format!("{} shows its tools", inspect(&self.plugin)))
            }
            _ => failure,
        }
    }
}

/// Returns the name of the named tool, or of the only one that is not hidden. Does not check that
/// it exists.
fn tool_of<'a>(
    loaded: &'a Loaded,
    plugin: &str,
    named: Option<&'a str>,
) -> Result<&'a str, Failure> {
    if let Some(tool) = named {
        let mut rejected = loaded.rejected().iter();
        let rejected = rejected.find(|rejected| rejected.name == *tool);
        let is_there = loaded.tools().iter().any(|loaded| loaded.name == *tool);
        return match rejected.filter(|_| !is_there) {
            Some(rejected) => Err(Failure::new(
                Exit::Usage,
                "unknown-tool",
                rejected.to_string(),
            )),
            None => Ok(tool),
        };
    }
    let visible: Vec<&str> = loaded
        .tools()
        .into_iter()
        .filter(|tool| !tool.traits.hidden)
        .map(|tool| tool.name.as_str())
        .collect();
    match visible[..] {
        [only] => Ok(only),
        [] => Err(
            Failure::usage(format!("all tools of {} are hidden", loaded.name()))
                .with_hint(format!("name one of those that {} shows", inspect(plugin))),
        ),
        _ => {
            let message = format!(
                "{} has several tools: {}",
                loaded.name(),
                visible.join(", ")
            );
            let first = shell::quote(visible[0]);
            let hint = format!("name one: `airlock run {} {first} …`", shell::quote(plugin));
            Err(Failure::usage(message).with_hint(hint))
        }
    }
}

/// Returns the definition of the named tool, or of the only one that is not hidden.
///
/// # Errors
/// If there is none.
pub fn definition<'a>(
    loaded: &'a Loaded,
    plugin: &OsStr,
    named: Option<&'a str>,
) -> Result<&'a ToolDefinition, Failure> {
    let plugin = plugin.to_string_lossy();
    let name = tool_of(loaded, &plugin, named)?;
    let tools = loaded.tools();
    let tool = tools.iter().find(|tool| tool.name == name);
    tool.copied().ok_or_else(|| {
        let error = Error::unknown_tool(name, tools.iter().map(|tool| tool.name.as_str()));
        Failure::from(error).with_hint(format!("{} shows its tools", inspect(&plugin)))
    })
}

fn inspect(plugin: &str) -> String {
    format!("`airlock inspect {}`", shell::quote(plugin))
}

/// Returns whether a word is params. No tool's name starts like that.
pub fn is_params(word: &str) -> bool {
    word == "-" || word.trim_start().starts_with(['{', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_are_told_from_a_tool() {
        let check = |word, expected| assert_eq!(is_params(word), expected, "{word:?}");
        check("{}", true);
        check("  {\"a\": 1}", true);
        check("@params.json", true);
        check("-", true);
        check("batch_rename_preview", false);
        check("-tool", false);
        check("[]", false);
    }
}
