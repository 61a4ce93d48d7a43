//! Schemas of params, and params for them.
//!
//! The tool is the host's own: its params are checked as a plugin's are, and nothing is compiled.

use std::time::Duration;

use airlock_host::content::ToolResult;
use airlock_host::json::Json;
use airlock_host::native::{
    ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall,
};
use airlock_host::tool::{ToolDefinition, ToolTraits};
use airlock_host::{Error, Limits, Session};
use serde_json::{Value, json};

use super::{Bytes, block_on};

/// A tool `t` with any schema.
struct Taking(Json);

impl NativeTool for Taking {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "t".to_owned(),
            label: "T".to_owned(),
            description: "what it does".to_owned(),
            parameters: self.0.clone(),
            output: None,
            traits: ToolTraits::default(),
        }
    }

    fn state_version(&self) -> u32 {
        1
    }

    fn preview(&self, params: &Value, _: &PreviewCall) -> Result<Preview, Error> {
        assert!(params.is_object(), "{params}");
        Ok(Preview::of(ToolResult::text("taken")))
    }

    fn apply(&self, _: &DecidedAction, _: &ApplyCall) -> Result<ToolResult, Error> {
        unreachable!("it proposes nothing")
    }
}

/// A schema, and params for it.
pub fn schema(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let schema = String::from_utf8_lossy(bytes.some(16)).into_owned();
    let params = String::from_utf8_lossy(bytes.rest());
    let params = serde_json::from_str(&params).unwrap_or_else(|_| json!({"a": params}));
    let tool = Json::checked(&schema).map(|schema| NativeProducer::new(Taking(schema)));
    // What is no schema is refused; what counts is that it ends.
    let Ok(Ok(tool)) = tool else {
        return;
    };
    let limits = Limits::default().with_call_time(Duration::from_secs(30));
    let session = Session::builder()
        .model_decides()
        .limits(limits)
        .bind(&tool)
        .open();
    let session = session.expect("a session");
    let judge = || match block_on(session.call("t", &params)) {
        Ok(_) => "taken",
        Err(error) => match error.kind() {
            "invalid-params" => "refused",
            "limit" => "not judged",
            kind => panic!("{kind}: {error}"),
        },
    };
    let first = judge();
    // Steps are counted; time is not what decides here.
    assert_eq!(judge(), first);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut schema = br##"{"type":"object","$defs":{"n":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/n"}}}]}},"$ref":"#/$defs/n"}"##.to_vec();
    schema.resize(schema.len().next_multiple_of(16), b' ');
    let mut recursive = vec![(schema.len() / 16) as u8];
    recursive.extend(&schema);
    recursive.extend(br#"{"a":{"a":{"a":{}}}}"#);
    vec![recursive]
}
