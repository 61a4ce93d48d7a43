//! Loads a plugin, previews on a directory, shows what is pending and applies it.
//!
//! ```text
//! cargo run --release --example embed -- host/cli/bundled/batch_rename.wasm photos
//! ```

use airlock_host::pending::Actor;
use airlock_host::{Engine, Plugin, Resolution, Session};
use airlock_render::{Block, Decided};
use serde_json::json;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(component), Some(workspace)) = (args.next(), args.next()) else {
        anyhow::bail!("usage: embed COMPONENT WORKSPACE");
    };

    let engine = Engine::builder().user_cache("airlock-embed").build()?;
    let plugin = Plugin::load(&engine, component).await?;
    let session = Session::builder()
        .model_decides()
        .workspace(workspace)
        .bind(&plugin)
        .open()?;

    let params = json!({"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"});
    let preview = session.call("batch_rename_preview", &params).await?;
    println!("{}", Block::call(&preview));
    for action in &preview.pushed {
        let resolution = Resolution::apply("the names are right").with_id(action.id.clone());
        let outcome = session
            .resolve(resolution.clone(), Actor::person("Ada"))
            .await;
        let decided = Decided::resolved(&resolution, Some(action), &outcome);
        println!("\n{}", Block::decision(&decided));
        outcome?;
    }
    Ok(())
}
