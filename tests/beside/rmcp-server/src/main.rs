//! The tool as a server of the Model Context Protocol, over standard input and output, without a
//! sandbox: `beside-rmcp-server FOLDER`.

use std::path::PathBuf;

use anyhow::Context;
use beside_logic::Params;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::stdio;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};

struct Server {
    folder: PathBuf,
}

#[tool_router]
impl Server {
    #[tool(description = beside_logic::DESCRIPTION)]
    fn rename_prefix(&self, Parameters(params): Parameters<Params>) -> Result<String, String> {
        let renames = beside_logic::plan(&self.folder, &params);
        Ok(beside_logic::text(
            &renames.map_err(|error| error.to_string())?,
        ))
    }
}

#[tool_handler]
impl ServerHandler for Server {}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).context("no folder is named")?;
    let server = Server {
        folder: folder.into(),
    };
    server.serve(stdio()).await?.waiting().await?;
    Ok(())
}
