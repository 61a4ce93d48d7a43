//! The blocks of a result.

use schemars::JsonSchema;

/// A block of a result, in the shape of MCP's content blocks.
#[derive(JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum Content {
    /// Plain text or Markdown.
    Text { text: String },
    /// An image, in base64.
    Image { data: String, mime_type: String },
    /// A link to a resource.
    ResourceLink {
        /// An absolute URI.
        uri: String,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}
