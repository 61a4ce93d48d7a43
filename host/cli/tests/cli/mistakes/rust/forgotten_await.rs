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

async fn read(path: &str) -> Result<String, Error> {
    Ok(std::fs::read_to_string(path)?)
}

fn answer(params: Params, _call: &Call) -> Result<Output, Error> {
    read(&params.path);
    Ok(Output::text("Read."))
}
