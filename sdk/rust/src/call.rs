//! The call that a tool is answering.

/// The call that a tool is answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    id: String,
    tool: String,
}

impl Call {
    /// Returns a call like the host's, for a tool's own tests.
    pub fn new(id: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            tool: tool.into(),
        }
    }

    /// Returns the ID that identifies the call in logs.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the tool that was called, for a function that serves several tools.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}
