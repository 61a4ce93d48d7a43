//! A decision about an action.

use serde::de::DeserializeOwned;

use crate::{Context, Error};

/// A decision about an action that this plugin staged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolution {
    /// The ID that identifies the action, in logs and to the host.
    pub action_id: String,
    /// The action's label, as staged.
    pub label: String,
    /// The tool that staged the action.
    pub source_tool: String,
    /// The reason for the decision, in the words of the decider. It should not affect what the tool
    /// does.
    pub reason: String,
    /// The number of the attempt: 1 for the first one, higher after a failed or interrupted one. A
    /// later apply can then look for what an earlier one has already done.
    pub attempt: u32,
    pub(crate) extra: Option<String>,
}

impl Resolution {
    /// Returns a first attempt with this `reason`, like the host's, for a tool's own tests.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            action_id: String::from("action"),
            label: String::new(),
            source_tool: String::new(),
            reason: reason.into(),
            attempt: 1,
            extra: None,
        }
    }

    /// Returns the additional data of the decision, if there is any.
    ///
    /// # Errors
    /// Returns [`Error::Tool`] if the data does not fit `T`, because only the decider can fix that.
    pub fn extra<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        let Some(extra) = &self.extra else {
            return Ok(None);
        };
        serde_json::from_str(extra)
            .map(Some)
            .map_err(Error::tool)
            .context("`extra` does not fit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_is_read_as_the_type_that_is_asked_for() {
        let mut resolution = Resolution::new("fine");
        assert_eq!(resolution.extra::<Vec<u8>>(), Ok(None));
        resolution.extra = Some("[1,2]".into());
        assert_eq!(resolution.extra(), Ok(Some(vec![1, 2])));
        let refused = resolution.extra::<bool>().unwrap_err();
        let expected =
            "`extra` does not fit: invalid type: sequence, expected a boolean at line 1 column 0";
        assert_eq!(refused, Error::tool(expected));
    }
}
