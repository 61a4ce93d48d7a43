//! The params of one call: as a value, which is checked, and as the text that a guest gets and its
//! record keeps.

use std::borrow::Cow;
use std::sync::OnceLock;

use airlock_model::json::Json;
use serde_json::Value;

/// The params of a call, for [`Session::call`](crate::Session::call): a value, or a text of JSON
/// that the caller has, such as the arguments of a call in a provider's answer.
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
    /// Written once, and only where somebody reads it.
    text: OnceLock<Json>,
}

impl<'a> Params<'a> {
    /// Takes a text of JSON as it is: a plugin gets it, and the record of the call keeps it, as the
    /// caller wrote it, but for blanks between its parts. It is read once, for the check against
    /// the tool's schema, in which a number is a 64-bit integer or float; that value is also what a
    /// native tool gets.
    ///
    /// # Errors
    /// Where it is not JSON, has a number that no 64-bit float can hold, is nested more than
    /// [`MAX_JSON_DEPTH`](crate::json::MAX_JSON_DEPTH) deep, or has an object with two members of
    /// one name: the check might see one of them, and the tool the other.
    pub fn from_text(text: &str) -> Result<Self, serde_json::Error> {
        let (text, value) = Json::read(text)?;
        Ok(Self {
            value: Cow::Owned(value),
            text: text.into(),
        })
    }

    /// Takes a value that nobody else needs.
    pub fn from_value(value: Value) -> Self {
        Self {
            value: Cow::Owned(value),
            text: OnceLock::new(),
        }
    }

    /// With the text that its record keeps.
    pub(crate) fn written(value: Value, text: &Json) -> Self {
        Self {
            value: Cow::Owned(value),
            text: text.clone().into(),
        }
    }

    /// What has to fit the tool's schema.
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
