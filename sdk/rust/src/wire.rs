//! The bindings of the world `custom-tool`, and the conversions of this crate's types to theirs.

use crate::{Content, Error, Link, Output, Resolution, Session};

/// The code that `wit-bindgen` generates for the world.
#[expect(missing_docs, reason = "generated, and no part of the API")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "wit/0.1.0",
        world: "custom-tool",
        pub_export_macro: true,
        export_macro_name: "export_component",
        default_bindings_module: "airlock_tool::__private::bindings",
    });
}

pub(crate) use bindings::airlock::tool::host::SessionInfo;
pub(crate) use bindings::airlock::tool::pending_actions::{PendingAction, PushError};
pub(crate) use bindings::airlock::tool::types::{
    ToolDefinition, ToolError, ToolResult, ToolTraits,
};
pub(crate) use bindings::exports::airlock::tool::resolver::Resolution as WireResolution;

use bindings::airlock::tool::types::{self, Blob};

impl TryFrom<Output> for ToolResult {
    type Error = Error;

    fn try_from(output: Output) -> Result<Self, Error> {
        let details = output.details.into_json()?;
        Ok(Self {
            content: output.content.into_iter().map(Into::into).collect(),
            details,
        })
    }
}

impl From<Content> for types::Content {
    fn from(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::Text(text),
            Content::Image { data, mime_type } => Self::Image(Blob { data, mime_type }),
            Content::Link(Link {
                uri,
                name,
                mime_type,
            }) => Self::ResourceLink(types::Link {
                uri,
                name,
                mime_type,
            }),
        }
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        match error {
            Error::Tool(message) => Self::Tool(message),
            Error::Failed(message) => Self::Failed(message),
            Error::Cancelled => Self::Cancelled,
        }
    }
}

impl PushError {
    /// Returns the host's message.
    pub(crate) fn into_message(self) -> String {
        let (Self::StoreUnavailable(message)
        | Self::LimitExceeded(message)
        | Self::Invalid(message)) = self;
        message
    }
}

impl From<SessionInfo> for Session {
    fn from(info: SessionInfo) -> Self {
        Self {
            id: info.id,
            workspace: info.workspace.map(Into::into),
            can_stage: info.has_pending_store,
        }
    }
}

/// Splits a resolution into the state, which only the envelope can read, and the rest.
pub(crate) fn split(resolution: WireResolution) -> (Option<Vec<u8>>, Resolution) {
    let WireResolution {
        action_id,
        label,
        source_tool_name,
        state,
        reason,
        extra,
        attempt,
    } = resolution;
    (
        state,
        Resolution {
            action_id,
            label,
            source_tool: source_tool_name,
            reason,
            attempt,
            extra,
        },
    )
}
