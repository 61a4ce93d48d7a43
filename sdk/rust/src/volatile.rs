//! Actions that live in the memory of one instance.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;

use crate::details::Details;
use crate::wire::{PendingAction, PushError};
use crate::{Error, Output, Resolution, host, running};

type Apply = dyn Fn(&Resolution) -> Result<Output, Error>;
type Reject = dyn Fn(&Resolution) -> Result<Option<Output>, Error>;

/// An action that is kept as closures, for something that can't be serialized: an open connection,
/// or a plan that is too large.
///
/// It is lost with the instance that pushed it, and can then only be discarded. Prefer an
/// [`Action`](crate::Action) with a plan if possible.
///
/// ```no_run
/// # use airlock_tool::{Call, Error, Output, VolatileAction};
/// # struct Params {}
/// fn preview(_: Params, _call: &Call) -> Result<Output, Error> {
///     let draft = String::from("Dear …");
///     VolatileAction::new("Mail: 1 draft", move |_| Ok(Output::text(format!("Sent: {draft}"))))
///         .reject(|_| Ok(Some(Output::text("Thrown away."))))
///         .push()?;
///     Ok(Output::text("Would send 1 mail."))
/// }
/// ```
#[must_use = "an action is pending only once it was pushed"]
pub struct VolatileAction {
    label: String,
    source_tool: Option<String>,
    details: Details,
    closures: Closures,
}

struct Closures {
    apply: Box<Apply>,
    reject: Option<Box<Reject>>,
}

thread_local! {
    /// The pending actions, by ID. There are few at a time, so this is a list: a hash map would add
    /// code.
    static HELD: RefCell<Vec<(String, Rc<Closures>)>> = const { RefCell::new(Vec::new()) };
}

impl VolatileAction {
    /// Returns an action with a `label` for the person who decides, and the function that applies
    /// it.
    ///
    /// After an error the action is pending again, and `apply` may be called again.
    pub fn new(
        label: impl Into<String>,
        apply: impl Fn(&Resolution) -> Result<Output, Error> + 'static,
    ) -> Self {
        Self {
            label: label.into(),
            source_tool: None,
            details: Details::default(),
            closures: Closures {
                apply: Box::new(apply),
                reject: None,
            },
        }
    }

    /// Sets the function that runs when the action is discarded. Without it, or if it returns
    /// `None`, the caller reads `Discarded: <label>. Reason: <reason>`.
    pub fn reject(
        mut self,
        reject: impl Fn(&Resolution) -> Result<Option<Output>, Error> + 'static,
    ) -> Self {
        self.closures.reject = Some(Box::new(reject));
        self
    }

    /// Sets the name of the tool that made the preview. The default is the running tool.
    pub fn source_tool(mut self, name: impl Into<String>) -> Self {
        self.source_tool = Some(name.into());
        self
    }

    /// Sets details for reviewers: a value for programs, which is not part of the output of
    /// `apply`.
    ///
    /// [`push`](Self::push) rejects a value that has no JSON form.
    pub fn details(mut self, details: impl Serialize) -> Self {
        self.details = Details::of(&details);
        self
    }

    /// Pushes the action on top of the pending ones, and returns its ID.
    ///
    /// # Errors
    /// Returns [`Error::Tool`] with the host's message if the host rejects the action, so that `?`
    /// passes the message to the caller. Returns [`Error::Failed`] if the details have no JSON
    /// form. In both cases nothing was pushed, and the tool may go on.
    pub fn push(self) -> Result<String, Error> {
        self.push_to(host::push)
    }

    fn push_to(
        self,
        push: impl FnOnce(PendingAction) -> Result<String, PushError>,
    ) -> Result<String, Error> {
        let action = PendingAction {
            label: self.label,
            source_tool_name: self.source_tool.or_else(running::tool),
            details: self.details.into_json()?,
            has_reject: self.closures.reject.is_some(),
            state: None,
        };
        let id = push(action).map_err(|refused| Error::tool(refused.into_message()))?;
        HELD.with_borrow_mut(|held| held.push((id.clone(), Rc::new(self.closures))));
        Ok(id)
    }
}

/// Applies an action, and forgets it once `hand_over` has accepted the output. Until then it can be
/// applied again.
pub(crate) fn apply<R>(
    resolution: &Resolution,
    hand_over: impl FnOnce(Output) -> Result<R, Error>,
) -> Result<R, Error> {
    let output = (closures_of(resolution)?.apply)(resolution)?;
    let result = hand_over(output)?;
    forget(resolution);
    Ok(result)
}

pub(crate) fn reject(resolution: &Resolution) -> Result<Option<Output>, Error> {
    let held = closures_of(resolution)?;
    // The action is gone whatever the function returns.
    forget(resolution);
    held.reject
        .as_ref()
        .map_or(Ok(None), |reject| reject(resolution))
}

/// Returns an action's closures. Nothing borrows `HELD` while they run, because they may push
/// actions themselves.
fn closures_of(resolution: &Resolution) -> Result<Rc<Closures>, Error> {
    let held = HELD.with_borrow(|held| {
        let mut newest_first = held.iter().rev();
        let found = newest_first.find(|(id, _)| *id == resolution.action_id);
        found.map(|(_, closures)| closures.clone())
    });
    held.ok_or_else(|| Error::failed("the action has no state, and this instance did not stage it"))
}

fn forget(resolution: &Resolution) {
    HELD.with_borrow_mut(|held| held.retain(|(id, _)| *id != resolution.action_id));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(id: &str) -> Resolution {
        Resolution {
            action_id: id.to_owned(),
            ..Resolution::new("so be it")
        }
    }

    fn pushed_as(id: &str, action: VolatileAction) {
        let pushed = action.push_to(|_| Ok(id.to_owned()));
        assert_eq!(pushed.as_deref(), Ok(id));
    }

    #[test]
    fn what_was_held_is_applied_until_that_succeeds_and_then_forgotten() {
        let action = VolatileAction::new("Try", |resolution| match resolution.attempt {
            1 => Err(Error::failed("not yet")),
            _ => Ok(Output::text(&resolution.reason)),
        });
        pushed_as("a", action);
        let not_yet = Error::failed("not yet");
        assert_eq!(apply(&about("a"), Ok), Err(not_yet));
        let second = Resolution {
            attempt: 2,
            ..about("a")
        };
        let unwritable = Error::failed("no JSON form");
        let refused = apply(&second, |_| Err::<Output, _>(unwritable.clone()));
        assert_eq!(refused, Err(unwritable));
        assert_eq!(apply(&second, Ok), Ok(Output::text("so be it")));
        let gone = "the action has no state, and this instance did not stage it";
        assert_eq!(apply(&second, Ok), Err(Error::failed(gone)));
    }

    #[test]
    fn a_reject_forgets_the_action_though_it_fails() {
        let action = VolatileAction::new("Try", |_| Ok(Output::default()))
            .reject(|_| Err(Error::tool("still open")));
        pushed_as("a", action);
        assert_eq!(reject(&about("a")), Err(Error::tool("still open")));
        assert!(reject(&about("a")).is_err());
    }

    #[test]
    fn what_is_left_out_is_not_made_up() {
        let action = VolatileAction::new("Bare", |_| Ok(Output::default()));
        let pushed = action.push_to(|action| {
            assert_eq!(
                (action.source_tool_name, action.details, action.state),
                (None, None, None)
            );
            assert!(!action.has_reject);
            Ok("a".to_owned())
        });
        assert!(pushed.is_ok());
        assert_eq!(reject(&about("a")), Ok(None));
    }

    #[test]
    fn the_tool_that_is_running_is_the_source_unless_another_is_named() {
        let check = |action: VolatileAction, expected: &str| {
            running::begin("mailer");
            let pushed = action.push_to(|action| {
                assert_eq!(action.source_tool_name.as_deref(), Some(expected));
                Ok("a".to_owned())
            });
            assert!(pushed.is_ok());
        };
        let action = || VolatileAction::new("Mail", |_| Ok(Output::default()));
        check(action(), "mailer");
        check(action().source_tool("another"), "another");
    }

    #[test]
    fn a_refusal_is_the_hosts_text() {
        let action = || VolatileAction::new("No", |_| Ok(Output::default()));
        let store = "Pending action store unavailable for custom tools in this runtime.";
        assert_eq!(action().push(), Err(Error::tool(store)));
        let details = std::collections::BTreeMap::from([(vec![1], 2)]);
        let unwritable = action().details(details).push();
        let said = "the details can't be written as JSON: key must be a string";
        assert_eq!(unwritable, Err(Error::failed(said)));
    }
}
