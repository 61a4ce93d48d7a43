//! Sessions with many tools.

use std::hint::black_box;

use airlock_host::content::ToolResult;
use airlock_host::json::Json;
use airlock_host::native::{
    ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall,
};
use airlock_host::tool::{ToolDefinition, ToolTraits};
use airlock_host::{Error, Session};
use anyhow::Context;
use serde_json::{Value, json};

use crate::{median, timed, told};

/// One that does nothing.
struct Idle(String);

impl NativeTool for Idle {
    fn definition(&self) -> ToolDefinition {
        let schema = Json::of(&json!({"type": "object", "additionalProperties": false}));
        ToolDefinition {
            name: self.0.clone(),
            label: "Nothing".to_owned(),
            description: "Does nothing.".to_owned(),
            parameters: schema.expect("a schema is JSON"),
            output: None,
            traits: ToolTraits::default(),
        }
    }

    fn state_version(&self) -> u32 {
        1
    }

    fn preview(&self, _: &Value, _: &PreviewCall) -> Result<Preview, Error> {
        Ok(Preview::of(ToolResult::text("nothing")))
    }

    fn apply(&self, _: &DecidedAction, _: &ApplyCall) -> Result<ToolResult, Error> {
        Ok(ToolResult::text("nothing"))
    }
}

pub async fn measure(rounds: usize) -> anyhow::Result<()> {
    println!(
        "| tools | open | look up the first | look up the last | all named in `tools` | no such tool | its message |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for count in [1, 10, 100, 1_000, 10_000] {
        let producers: Vec<NativeProducer> = (0..count)
            .map(|number| NativeProducer::new(Idle(format!("tool_of_many_with_number_{number}"))))
            .collect::<Result<_, _>>()
            .map_err(|rejected| anyhow::anyhow!("{rejected}"))?;
        let open = || {
            let builder = Session::builder().model_decides();
            let builder = producers
                .iter()
                .fold(builder, |it, producer| it.bind(producer));
            // What is measured is the opening, and not the list that it is given.
            async { builder.open() }
        };
        let opened = median(rounds, async || {
            let (session, time) = timed(open()).await;
            black_box(session?);
            Ok(time)
        });
        let opened = opened.await?;
        let session = open().await?;
        // Params that don't fit end a call behind the look for its tool, before its thread starts.
        let wrong = json!([]);
        let call = async |number: usize| {
            let name = format!("tool_of_many_with_number_{number}");
            let (called, time) = timed(session.call(&name, &wrong)).await;
            anyhow::ensure!(matches!(called, Err(Error::InvalidParams { .. })));
            Ok(time)
        };
        let first = median(rounds, async || call(0).await).await?;
        let last = median(rounds, async || call(count - 1).await).await?;
        let listed = median(rounds, async || {
            let (tools, time) = timed(async { session.tools() }).await;
            anyhow::ensure!(tools.len() == count);
            Ok(time)
        });
        let listed = listed.await?;
        let mut length = 0;
        let unknown = median(rounds, async || {
            let name = "tool_of_many_with_numbr_7";
            let (message, time) = timed(async {
                let called = session.call(name, &wrong).await;
                called.err().map(|error| error.to_string())
            })
            .await;
            length = message.context("there is no such tool")?.len();
            Ok(time)
        });
        let unknown = unknown.await?;
        println!(
            "| {count} | {} | {} | {} | {} | {} | {length} bytes |",
            told(opened),
            told(first),
            told(last),
            told(listed),
            told(unknown)
        );
    }
    Ok(())
}
