//! A tool that is part of the host: it previews a file with its lines sorted, and writes that when
//! it is applied. This program applies at once; one of yours would ask.
//!
//! ```text
//! cargo run --release --example native_tool -- WORKSPACE FILE
//! ```

use std::path::Path;

use airlock_host::content::ToolResult;
use airlock_host::digest::Digest;
use airlock_host::json::Json;
use airlock_host::native::folder::ReadFile;
use airlock_host::native::{
    ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
};
use airlock_host::pending::Actor;
use airlock_host::tool::{ToolDefinition, ToolTraits};
use airlock_host::{Error, Resolution, Session};
use airlock_render::{Block, Decided};
use serde_json::{Value, json};

/// A larger file is no list that somebody keeps in order.
const MAX_BYTES: u64 = 1 << 20;

struct SortLines;

impl NativeTool for SortLines {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "sort_lines".to_owned(),
            label: "Sort lines".to_owned(),
            description: "Sorts the lines of a file.".to_owned(),
            parameters: Json::of_own(&json!({
                "type": "object",
                "properties": {
                    "file": {"type": "string", "description": "a path from the workspace down"},
                },
                "required": ["file"],
                "additionalProperties": false,
            })),
            output: None,
            traits: ToolTraits::default(),
        }
    }

    fn state_version(&self) -> u32 {
        1
    }

    fn preview(&self, params: &Value, call: &PreviewCall) -> Result<Preview, Error> {
        let name = params["file"].as_str().unwrap_or_default();
        let folder = call.folder()?;
        let file = folder.read(Path::new(name), MAX_BYTES);
        let (file, text) = read(name, file)?;
        let sorted = sorted(&text);
        if sorted == text {
            return Ok(Preview::of(ToolResult::text(format!("{name} is sorted."))));
        }
        // What applying will do, for the host to see and whoever decides.
        let drafted = call.draft()?.write(Path::new(name), sorted.as_bytes());
        drafted.map_err(|error| told(format!("can't write {name}: {error}")))?;
        // All that an apply needs, perhaps days later and in another process.
        let state = json!({"file": name, "was": Digest::of(&file.bytes).to_string()});
        let action = ProposedAction::new(format!("Sort {name}"), state.to_string());
        let shown = ToolResult::text(format!("{name} would be:\n{sorted}"));
        Ok(Preview::of(shown).proposing(action))
    }

    fn apply(&self, action: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error> {
        let state: Value = serde_json::from_slice(&action.state)
            .map_err(|error| told(format!("can't read the state: {error}")))?;
        let name = state["file"].as_str().unwrap_or_default();
        let path = Path::new(name);
        let folder = call.folder()?;
        let (file, text) = read(name, folder.read(path, MAX_BYTES))?;
        // What was decided is what was previewed, or nothing.
        if state["was"] != Digest::of(&file.bytes).to_string() {
            return Err(told(format!("{name} has changed; preview again")));
        }
        // It is committed once this has returned, in one step, or not at all.
        let written = folder.write(path, sorted(&text).as_bytes());
        written.map_err(|error| told(format!("can't write {name}: {error}")))?;
        Ok(ToolResult::text(format!("Sorted {name}.")))
    }
}

fn read(
    name: &str,
    file: Result<ReadFile, impl std::fmt::Display>,
) -> Result<(ReadFile, String), Error> {
    let file = file.map_err(|why| told(format!("can't read {name}: {why}")))?;
    let text = String::from_utf8(file.bytes.clone())
        .map_err(|_| told(format!("{name} is not text in UTF-8")))?;
    Ok((file, text))
}

fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.into_iter().flat_map(|line| [line, "\n"]).collect()
}

/// What whoever called is told.
fn told(message: String) -> Error {
    Error::Tool { message }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(workspace), Some(file)) = (args.next(), args.next()) else {
        anyhow::bail!("usage: native_tool WORKSPACE FILE");
    };
    let session = Session::builder()
        .model_decides()
        .workspace(workspace)
        .bind(&NativeProducer::new(SortLines)?)
        .open()?;
    let preview = session.call("sort_lines", &json!({"file": file})).await?;
    println!("{}", Block::call(&preview));
    for action in &preview.pushed {
        let resolution = Resolution::apply("it is a list").with_id(action.id.clone());
        let outcome = session
            .resolve(resolution.clone(), Actor::person("Ada"))
            .await;
        let decided = Decided::resolved(&resolution, Some(action), &outcome);
        println!("\n{}", Block::decision(&decided));
        outcome?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_previewed_is_written_and_nothing_where_the_file_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        std::fs::write(&list, "b\na\n").unwrap();
        let session = Session::builder()
            .model_decides()
            .workspace(folder.path())
            .bind(&NativeProducer::new(SortLines).unwrap())
            .open()
            .unwrap();
        let params = json!({"file": "list"});
        let preview = session.call("sort_lines", &params).await.unwrap();
        assert_eq!(preview.pushed[0].label, "Sort list");
        assert_eq!(std::fs::read_to_string(&list).unwrap(), "b\na\n");

        std::fs::write(&list, "c\nb\n").unwrap();
        let stale = session
            .resolve(Resolution::apply(""), Actor::person("Ada"))
            .await
            .unwrap_err();
        assert!(matches!(stale, Error::Stale { .. }), "{stale}");
        session
            .resolve(Resolution::discard(""), Actor::person("Ada"))
            .await
            .unwrap();

        session.call("sort_lines", &params).await.unwrap();
        let applied = session
            .resolve(Resolution::apply(""), Actor::person("Ada"))
            .await
            .unwrap();
        assert_eq!(applied.text(), "Sorted list.");
        assert_eq!(std::fs::read_to_string(&list).unwrap(), "b\nc\n");
    }
}
