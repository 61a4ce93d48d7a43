//! A JSON value for programs, next to the text for readers.

use serde::Serialize;

use crate::{Context, Error};

/// Details that may be missing, and may have no JSON form.
///
/// The failure is kept until the details are read, so that builders need no `?` at every step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Details(Option<Result<String, Error>>);

impl Details {
    pub(crate) fn of(value: &impl Serialize) -> Self {
        Self(Some(
            serde_json::to_string(value).context("the details can't be written as JSON"),
        ))
    }

    pub(crate) fn into_json(self) -> Result<Option<String>, Error> {
        self.0.transpose()
    }
}
