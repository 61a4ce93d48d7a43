//! The facade's methods about undoing an applied action.

use airlock_model::content::CallOutcome;
use airlock_model::error::Error;
use airlock_model::pending::ActionId;
use serde_json::json;

use super::Session;
use crate::params::Params;
use crate::producer::UNDO;

impl Session {
    /// Previews an undo of an applied action: one more action, which shows what it would change
    /// back and is decided like any other. Without an id, it is about the last action that was
    /// applied in this workspace. Texts that were edited since are merged. An undo can be undone,
    /// too.
    ///
    /// The session needs the tool [`Undo`](crate::native::Undo).
    ///
    /// # Errors
    /// - [`Error::UnknownTool`] without that tool.
    /// - [`Error::Tool`] if the action can't be undone: nothing of it is kept, or something else
    ///   has changed its files since, so that they can't be merged.
    /// - Otherwise, those of [`call`](Self::call).
    pub async fn undo(&self, action: Option<&ActionId>) -> Result<CallOutcome, Error> {
        let params = match action {
            Some(action) => json!({ "action": action.as_str() }),
            None => json!({}),
        };
        self.call(UNDO, Params::from_value(params)).await
    }
}
