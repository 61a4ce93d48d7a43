//! The call that a tool is answering.

/// The call that a tool is answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    id: String,
    tool: String,
}

impl Call {
    /// A call as the host makes it; of use in a tool's own tests.
    pub fn new(id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            tool: tool.into(),
        }
    }

    /// Identifies the call in logs.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the tool that was called, for a function that serves several.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}
