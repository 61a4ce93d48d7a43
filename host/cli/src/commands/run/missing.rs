//! Prompts at the terminal for required params that are missing.

use airlock_desk::plugin::Loaded;
use airlock_host::tool::Params;
use airlock_render::{Block, Line, Role, escape_line};
use serde_json::Value;

use crate::commands::params::given::{self, Given};
use crate::commands::params::typed::Typed;
use crate::commands::params::{self, Param, ParamPath};
use crate::failure::Failure;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};
use crate::terminal::prompt;

/// Prompts for each missing param and adds it to the params.
///
/// # Errors
/// If Ctrl-C is pressed, or the input ends.
pub async fn ask(
    tool: &str,
    loaded: &Loaded,
    params: &mut Params<'static>,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let tools = loaded.tools();
    let Some(definition) = tools.iter().find(|definition| definition.name == tool) else {
        return Ok(());
    };
    let all = params::of(&definition.parameters.value());
    let missing = missing(&all, params.value());
    if missing.is_empty() {
        return Ok(());
    }
    on_stderr("The tool needs more. Ctrl-C leaves it.");
    let mut given = Vec::new();
    for param in missing {
        let Some(value) = ask_for(param, interrupt).await else {
            return Err(Failure::interrupted());
        };
        given.push(value);
    }
    given::put_into(params, &given).map_err(|wrong| Failure::usage(format!("the param {wrong}")))
}

/// Returns the required params that are missing. For an object that is missing as a whole, its
/// required members.
fn missing<'a>(all: &'a [Param], params: &Value) -> Vec<&'a Param> {
    let mut missing: Vec<&Param> = Vec::new();
    let mut absent: Vec<&ParamPath> = Vec::new();
    for param in all.iter().filter(|param| param.required) {
        let is_absent = match param.place.parts() {
            [params::Part::Name(name)] => params.get(name).is_none(),
            _ => absent.iter().any(|outer| param.place.is_directly_in(outer)),
        };
        if !is_absent {
            continue;
        }
        absent.push(&param.place);
        missing.retain(|outer| !param.place.is_in(&outer.place));
        missing.push(param);
    }
    missing
}

/// Returns `None` if no more input can be read.
async fn ask_for(param: &Param, interrupt: &Interrupt) -> Option<Given> {
    let name = param.place.to_string();
    let about = Line::new()
        .with_role(Role::Title, name.as_str())
        .with(format!(" ({})", param.kind));
    let about = match param.description.as_str() {
        "" => about,
        text => about.with(format!(": {text}")),
    };
    show_on_stderr(&Block::from(about.hanging(2)).quoted());
    let name = escape_line(&name);
    let question = match &param.typed {
        Typed::List(_) => format!("{name}, one on each line, then an empty line: "),
        _ => format!("{name}: "),
    };
    let mut lines: Vec<String> = Vec::new();
    loop {
        let asked = if lines.is_empty() { &*question } else { "… " };
        let line = prompt::read_line(asked, interrupt).await?;
        let is_list = matches!(param.typed, Typed::List(_));
        match line.as_str() {
            "" if is_list && !lines.is_empty() => {}
            // Only text may be empty.
            "" if param.typed != Typed::Text => continue,
            line => {
                if let Err(wrong) = param.typed.read(line) {
                    on_stderr(format!("That {wrong}."));
                    continue;
                }
                lines.push(line.to_owned());
                if is_list {
                    continue;
                }
            }
        }
        if let Ok(given) = Given::read(param, lines.iter().map(String::as_str)) {
            return Some(given);
        }
        lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_required_and_absent_is_missing() {
        let op = json!({
            "type": "object",
            "properties": {"pat": {"type": "string"}, "out": {"type": "string"}},
            "required": ["pat"],
        });
        let schema = json!({
            "type": "object",
            "properties": {
                "files": {"type": "array"},
                "ops": {"type": "array", "items": op},
                "where": op,
                "free": {"type": "object"},
            },
            "required": ["files", "ops", "free"],
        });
        let all = params::of(&schema);
        let check = |params: Value, expected: &[&str]| {
            let missing = missing(&all, &params);
            let names: Vec<String> = missing.iter().map(|it| it.place.to_string()).collect();
            assert_eq!(names, expected, "{params}");
        };
        check(json!({}), &["files", "free", "ops[].pat"]);
        check(json!({"files": [], "free": {}}), &["ops[].pat"]);
        check(json!({"files": [], "free": {}, "ops": []}), &[]);
        check(
            json!({"files": [], "free": {}, "ops": [], "where": {}}),
            &[],
        );
    }
}
