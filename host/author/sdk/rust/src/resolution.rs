//! A decision about an action.

use serde::de::DeserializeOwned;

use crate::{Context, Error};

/// A decision about one action that this plugin staged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolution {
    /// Identifies the action, in logs and to the host.
    pub action_id: String,
    /// The action's label, as staged.
    pub label: String,
    /// The tool that staged it.
    pub source_tool: String,
    /// Why it was decided so, in the words of whoever decided. It should not change what happens.
    pub reason: String,
    /// 1 for the first try; higher after a failed or interrupted one, so that an apply can look for
    /// what an earlier one has already done.
    pub attempt: u32,
    pub(crate) extra: Option<String>,
}

impl Resolution {
    /// A first attempt with this `reason`, as the host makes it; of use in a tool's own tests.
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

    /// Whatever else came with the decision, if anything did.
    ///
    /// # Errors
    /// [`Error::Tool`] if it does not fit `T`: whoever decided can mend that.
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
