//! An action's durable state: the plan, and the tool that it belongs to.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Context, Error};

#[derive(Serialize, Deserialize)]
struct Envelope<'a, Plan> {
    tool: &'a str,
    plan: Plan,
}

/// The part that can be read without knowing the plan's type.
#[derive(Deserialize)]
struct Address {
    tool: String,
}

/// Returns the state of an action of `tool`.
pub(crate) fn seal<Plan: Serialize>(tool: &str, plan: &Plan) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(&Envelope { tool, plan }).context("the plan can't be written as JSON")
}

/// Returns the tool that an action belongs to.
pub(crate) fn address(state: &[u8]) -> Result<String, Error> {
    let Address { tool } = serde_json::from_slice(state).map_err(unreadable)?;
    Ok(tool)
}

/// Returns the plan of an action.
pub(crate) fn open<Plan: DeserializeOwned>(state: &[u8]) -> Result<Plan, Error> {
    #[derive(Deserialize)]
    struct Contents<Plan> {
        plan: Plan,
    }
    let Contents { plan } = serde_json::from_slice(state).map_err(unreadable)?;
    Ok(plan)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::failed(format!(
        "this plugin can't read the action's state ({error}); if another version of it staged the action, discard it and \
         preview again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_comes_back_as_it_was() {
        let plan = (String::from("ünïcode\n"), vec![1, 2, 3], Some(0.5));
        let state = seal("greet", &plan).unwrap();
        assert_eq!(address(&state).unwrap(), "greet");
        assert_eq!(
            open::<(String, Vec<i32>, Option<f64>)>(&state).unwrap(),
            plan
        );
    }

    #[test]
    fn an_unreadable_state_says_what_to_do() {
        let check = |result: Result<String, Error>, cause: &str| {
            let message = result.unwrap_err().to_string();
            assert!(
                message.starts_with(&format!(
                    "this plugin can't read the action's state ({cause}"
                )),
                "{message}"
            );
            assert!(
                message.ends_with("discard it and preview again"),
                "{message}"
            );
        };
        check(address(b"\xff"), "expected value");
        check(address(b"{}"), "missing field `tool`");
        check(
            open(&seal("greet", &7).unwrap()),
            "invalid type: integer `7`, expected a string",
        );
    }
}
