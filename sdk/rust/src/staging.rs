//! Passes the actions of a preview to the host.

use crate::Error;
use crate::details::Details;
use crate::panic::without_machine;
use crate::preview::Made;
use crate::wire::{PendingAction, PushError};

/// An action whose plan has become its durable state.
pub(crate) struct Sealed {
    pub(crate) label: String,
    pub(crate) details: Details,
    pub(crate) state: Vec<u8>,
    pub(crate) made: Made,
}

/// The function that pushes an action: to the host, except in tests.
pub(crate) type Push<'a> = &'a mut dyn FnMut(PendingAction) -> Result<String, PushError>;

/// Pushes the actions that `tool` staged, in order.
pub(crate) fn push_all(
    tool: &str,
    has_reject: bool,
    actions: Vec<Sealed>,
    push: Push<'_>,
) -> Result<(), Error> {
    // All actions are converted before the first push, because one without a JSON form fails the
    // call.
    let actions = actions
        .into_iter()
        .map(
            |Sealed {
                 label,
                 details,
                 state,
                 made,
             }| {
                let source_tool_name = Some(tool.to_owned());
                let action = PendingAction {
                    label,
                    source_tool_name,
                    details: details.into_json()?,
                    has_reject,
                    state: Some(state),
                };
                Ok((action, made))
            },
        )
        .collect::<Result<Vec<_>, Error>>()?;
    let total = actions.len();
    for (pushed, (action, made)) in actions.into_iter().enumerate() {
        push(action).map_err(|error| refusal(error, made, pushed, total))?;
    }
    Ok(())
}

/// Returns the host's message, with the source location of an invalid action and its number if
/// there are several. The call fails with this error, so none of its actions stays pending.
fn refusal(error: PushError, Made(at): Made, pushed: usize, total: usize) -> Error {
    let message = match error {
        PushError::Invalid(message) => {
            format!("{message} ({}:{})", without_machine(at.file()), at.line())
        }
        other => other.into_message(),
    };
    if total == 1 {
        return Error::tool(message);
    }
    let number = pushed + 1;
    Error::tool(format!(
        "{message} (action {number} of {total}; none of them is pending)"
    ))
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;

    fn actions(labels: &[&str]) -> Vec<Sealed> {
        let seal = |label: &&str| Sealed {
            label: (*label).into(),
            details: Details::default(),
            state: Vec::new(),
            made: Made(Location::caller()),
        };
        labels.iter().map(seal).collect()
    }

    #[test]
    fn every_action_is_pushed_with_its_tool_and_state() {
        let mut pushed = Vec::new();
        let mut push = |action: PendingAction| {
            pushed.push((
                action.label,
                action.source_tool_name,
                action.has_reject,
                action.state,
            ));
            Ok(String::new())
        };
        push_all("greet", true, actions(&["a", "b"]), &mut push).unwrap();
        let expected = |label: &str| {
            (
                label.to_owned(),
                Some("greet".to_owned()),
                true,
                Some(vec![]),
            )
        };
        assert_eq!(pushed, [expected("a"), expected("b")]);
    }

    #[test]
    fn a_refusal_names_the_action_and_says_that_none_is_pending() {
        let check = |labels: &[&str], allowed, expected| {
            let mut left = allowed;
            let mut push = |_| {
                if left == 0 {
                    return Err(PushError::LimitExceeded("No more.".into()));
                }
                left -= 1;
                Ok(String::new())
            };
            let refused = push_all("greet", false, actions(labels), &mut push).unwrap_err();
            assert_eq!(refused, Error::tool(expected));
        };
        check(&["a"], 0, "No more.");
        check(
            &["a", "b", "c"],
            2,
            "No more. (action 3 of 3; none of them is pending)",
        );
    }

    #[test]
    fn an_invalid_action_is_told_with_the_place_where_it_was_made() {
        let line = line!() + 1;
        let made = crate::Action::new("", ()).made;
        let sealed = Sealed {
            made,
            ..actions(&[""]).remove(0)
        };
        let mut push = |_| Err(PushError::Invalid("the label is empty".into()));
        let refused = push_all("greet", false, vec![sealed], &mut push).unwrap_err();
        let file = without_machine(file!());
        assert_eq!(
            refused,
            Error::tool(format!("the label is empty ({file}:{line})"))
        );
    }

    #[test]
    fn without_a_store_the_error_is_exactly_the_contracts_text() {
        let refused =
            push_all("greet", false, actions(&["a"]), &mut crate::host::push).unwrap_err();
        assert_eq!(
            refused,
            Error::tool("Pending action store unavailable for custom tools in this runtime.")
        );
    }

    #[test]
    fn details_without_a_json_form_leave_nothing_pending() {
        let mut all = actions(&["a", "b"]);
        all[1].details = Details::of(&std::collections::BTreeMap::from([(vec![1], 2)]));
        let mut push = |_| panic!("nothing should be pushed");
        let refused = push_all("greet", false, all, &mut push).unwrap_err();
        assert_eq!(
            refused,
            Error::failed("the details can't be written as JSON: key must be a string")
        );
    }
}
