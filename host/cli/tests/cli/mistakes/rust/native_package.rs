use airlock_tool::{Call, Error, Output, Tool, Tools};
use schemars::JsonSchema;
use serde::Deserialize;

airlock_tool::export!(tools);

#[derive(Deserialize, JsonSchema)]
struct Params {
    path: String,
}

fn tools() -> Tools {
    Tools::new().with(Tool::new("a", "Has a mistake.").answer(answer))
}

#[link(name = "magic")]
unsafe extern "C" {
    safe fn magic_version() -> i32;
}

fn answer(params: Params, _call: &Call) -> Result<Output, Error> {
    Ok(Output::text(format!("{} {}", params.path, magic_version())))
}
