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

fn answer(params: Params, _call: &Call) -> Result<Output, Error> {
    Output::text(params.path);
}
