//! The params of a call: a value to check, and the text for the guest and the call record.

use std::borrow::Cow;
use std::sync::OnceLock;

use airlock_model::json::Json;
use serde_json::Value;

/// The params of a call, for [`Session::call`](crate::Session::call): a value, or a JSON text, such
/// as the arguments of a tool call in a provider's answer.
///
/// ```no_run
/// use airlock_host::tool::Params;
/// # async fn example(session: airlock_host::Session) -> Result<(), Box<dyn std::error::Error>> {
/// # let arguments = String::new();
/// let value = serde_json::json!({"find": "a", "replace": "b"});
/// session.call("batch_rename", &value).await?;
///
/// session.call("batch_rename", Params::from_text(&arguments)?).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Params<'a> {
    value: Cow<'a, Value>,
    /// Serialized once, on first use.
    text: OnceLock<Json>,
}

impl<'a> Params<'a> {
    /// Reads params from a JSON text. The plugin and the call record get the caller's text, except
    /// for whitespace between its parts. The text is parsed once, for the check against the tool's
    /// schema, in which a number is a 64-bit integer or float. A native tool gets that parsed
    /// value.
    ///
    /// # Errors
    /// If the text is not JSON, has a number that no 64-bit float can hold, is nested deeper than
    /// [`MAX_JSON_DEPTH`](crate::json::MAX_JSON_DEPTH), or has an object with a duplicate key. With
    /// a duplicate key, the check could see one member and the tool the other.
    pub fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        let (text, value) = Json::read(text)?;
        Ok(Self {
            value: Cow::Owned(value),
            text: text.into(),
        })
    }

    /// Wraps an owned value.
    pub fn from_value(value: Value) -> Self {
        Self {
            value: Cow::Owned(value),
            text: OnceLock::new(),
        }
    }

    /// Wraps a value together with the text that its record keeps.
    pub(crate) fn written(value: Value, text: &Json) -> Self {
        Self {
            value: Cow::Owned(value),
            text: text.clone().into(),
        }
    }

    /// Returns the value that must match the tool's schema.
    pub fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) fn text(&self) -> &Json {
        self.text.get_or_init(|| Json::of_own(&*self.value))
    }
}

impl<'a> From<&'a Value> for Params<'a> {
    fn from(value: &'a Value) -> Self {
        Self {
            value: Cow::Borrowed(value),
            text: OnceLock::new(),
        }
    }
}

impl<'a> From<&'a Params<'_>> for Params<'a> {
    fn from(params: &'a Params<'_>) -> Self {
        Self {
            value: Cow::Borrowed(&params.value),
            text: params.text.clone(),
        }
    }
}
