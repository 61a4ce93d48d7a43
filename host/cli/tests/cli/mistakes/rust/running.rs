//! Mistakes that show when a tool is called.

use std::io::Read;
use std::net::TcpStream;
use std::process::Command;
use std::thread;

use airlock_tool::{Action, Call, Error, Output, Preview, Resolution, Tool, Tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

airlock_tool::export!(tools);

#[derive(Deserialize, JsonSchema)]
struct Params {}

#[derive(Serialize, Deserialize)]
struct Plan {}

fn tools() -> Tools {
    let tool = |name, preview: fn(Params, &Call) -> Result<Preview<Plan>, Error>| {
        Tool::new(name, "Has a mistake.").preview(preview).apply(apply)
    };
    Tools::new()
        .with(tool("exception", exception))
        .with(tool("processes", processes))
        .with(tool("threads", threads))
        .with(tool("network", network))
        .with(tool("forgotten_push", forgotten_push))
        .with(tool("two_line_label", two_line_label))
}

fn apply(_plan: Plan, _resolution: &Resolution) -> Result<Output, Error> {
    Ok(Output::text("Applied."))
}

fn exception(_params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    let lines: Vec<&str> = "one\ntwo".lines().collect();
    let third = lines[2];
    Ok(Preview::new(third))
}

fn processes(_params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    let said = Command::new("git").arg("status").output()?;
    Ok(Preview::new(format!("{:?}", said.status)))
}

fn threads(_params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    let counting = thread::spawn(|| 1 + 1);
    Ok(Preview::new(format!("{:?}", counting.join())))
}

fn network(_params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    let mut said = String::new();
    TcpStream::connect("example.com:80")?.read_to_string(&mut said)?;
    Ok(Preview::new(said))
}

fn forgotten_push(_params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    let _action = Action::new("Do it", Plan {});
    Ok(Preview::new("Staged 1 change."))
}

fn two_line_label(_params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    Ok(Preview::new("Would do it.").stage(Action::new("Do it:\nhere", Plan {})))
}
