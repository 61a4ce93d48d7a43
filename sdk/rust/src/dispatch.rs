//! Finds the tool that a call or a decision is for.

use crate::entry::{Entry, Resolve};
use crate::staging::{Push, Sealed, push_all};
use crate::wire::{ToolDefinition, ToolResult};
use crate::{Call, Error, Output, Resolution, Tools, envelope, running, volatile};

impl Tools {
    pub(crate) fn definitions(&self) -> Vec<ToolDefinition> {
        self.entries.iter().map(Entry::definition).collect()
    }

    pub(crate) fn execute(
        &self,
        call: &Call,
        params: &str,
        push: Push<'_>,
    ) -> Result<ToolResult, Error> {
        running::begin(call.tool());
        let entry = self.entry(call.tool())?;
        let (output, actions): (Output, Vec<Sealed>) = entry.execute(params, call)?;
        // This comes before the push, so that an output without a JSON form leaves no action
        // pending.
        let result = output.try_into()?;
        let has_reject = entry
            .resolve()
            .is_some_and(|resolve| resolve.reject.is_some());
        push_all(call.tool(), has_reject, actions, push)?;
        Ok(result)
    }

    pub(crate) fn apply(
        &self,
        state: Option<&[u8]>,
        resolution: &Resolution,
    ) -> Result<ToolResult, Error> {
        let Some(state) = state else {
            running::begin(&resolution.source_tool);
            return volatile::apply(resolution, ToolResult::try_from);
        };
        let resolve = self.addressee(state)?;
        (resolve.apply)(state, resolution)?.try_into()
    }

    pub(crate) fn reject(
        &self,
        state: Option<&[u8]>,
        resolution: &Resolution,
    ) -> Result<Option<ToolResult>, Error> {
        let output = match state {
            None => {
                running::begin(&resolution.source_tool);
                volatile::reject(resolution)?
            }
            Some(state) => match &self.addressee(state)?.reject {
                Some(reject) => reject(state, resolution)?,
                None => None,
            },
        };
        output.map(ToolResult::try_from).transpose()
    }

    /// Returns the functions of the tool that staged an action with this state.
    fn addressee(&self, state: &[u8]) -> Result<&Resolve, Error> {
        let tool = envelope::address(state)?;
        running::begin(&tool);
        let resolve = self.entry(&tool)?.resolve();
        resolve.ok_or_else(|| Error::failed(format!("tool `{tool}` stages no actions")))
    }

    fn entry(&self, name: &str) -> Result<&Entry, Error> {
        self.entries
            .iter()
            .find(|entry| entry.name() == name)
            .ok_or_else(|| {
                let names = self
                    .entries
                    .iter()
                    .map(|entry| format!("`{}`", entry.name()))
                    .collect::<Vec<_>>();
                Error::failed(format!(
                    "this plugin has no tool `{name}`; it has {}",
                    names.join(", ")
                ))
            })
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::wire::bindings::airlock::tool::types::Content;
    use crate::wire::{PendingAction, ToolTraits};
    use crate::{Action, Preview, Tool};

    #[derive(Deserialize, JsonSchema)]
    struct Params {
        who: String,
    }

    #[derive(Serialize, Deserialize)]
    struct Plan {
        greeting: String,
    }

    fn tools() -> Tools {
        let preview = |params: Params, _: &Call| {
            let plan = Plan {
                greeting: format!("Hello, {}!", params.who),
            };
            Ok(Preview::new("Would greet.")
                .stage(Action::new(format!("Greet: {}", params.who), plan)))
        };
        let apply = |plan: Plan, resolution: &Resolution| {
            Ok(Output::text(plan.greeting + &resolution.reason))
        };
        let reject = |_: Plan, _: &Resolution| Ok(Some("Kept quiet.".into()));
        let answer =
            |params: Params, _: &Call| Ok(Output::text(format!("{} is fine.", params.who)));
        Tools::new()
            .with(
                Tool::new("greet_all", "Greets.")
                    .preview(preview)
                    .apply(apply)
                    .reject(reject)
                    .destructive(),
            )
            .with(
                Tool::new("silent", "Greets.")
                    .label("Silence")
                    .preview(preview)
                    .apply(apply),
            )
            .with(Tool::new("ask", "Asks.").answer(answer).hidden())
    }

    /// What a call gives, and what it pushed.
    fn execute(tool: &str, params: &str) -> (Result<String, Error>, Vec<PendingAction>) {
        let mut pushed = Vec::new();
        let mut push = |action| {
            pushed.push(action);
            Ok(String::new())
        };
        let result = tools().execute(&Call::new("1", tool), params, &mut push);
        (result.map(text), pushed)
    }

    fn text(result: ToolResult) -> String {
        match result.content.as_slice() {
            [Content::Text(text)] => text.clone(),
            other => panic!("one text expected, not {other:?}"),
        }
    }

    #[test]
    fn definitions_follow_from_what_a_tool_was_given() {
        let definitions = tools().definitions();
        let summary: Vec<_> = definitions
            .iter()
            .map(|it| (it.name.as_str(), it.label.as_str(), it.traits))
            .collect();
        let expected = [
            (
                "greet_all",
                "Greet all",
                ToolTraits::DEFERRABLE | ToolTraits::DESTRUCTIVE,
            ),
            ("silent", "Silence", ToolTraits::DEFERRABLE),
            ("ask", "Ask", ToolTraits::READ_ONLY | ToolTraits::HIDDEN),
        ];
        assert_eq!(summary, expected);
        assert!(
            definitions
                .iter()
                .all(|it| it.parameters.contains(r#""required":["who"]"#))
        );
    }

    #[test]
    fn a_preview_is_pushed_and_comes_back_to_the_tool_that_staged_it() {
        let (result, pushed) = execute("greet_all", r#"{"who":"Ada"}"#);
        assert_eq!(result, Ok("Would greet.".into()));
        let [action] = pushed.as_slice() else {
            panic!("one action expected, not {pushed:?}")
        };
        assert_eq!(
            (action.label.as_str(), action.has_reject),
            ("Greet: Ada", true)
        );

        let state = action.state.as_deref();
        let resolution = Resolution::new(" Now.");
        assert_eq!(
            tools().apply(state, &resolution).map(text),
            Ok("Hello, Ada! Now.".into())
        );
        assert_eq!(
            tools().reject(state, &resolution).map(|it| it.map(text)),
            Ok(Some("Kept quiet.".into()))
        );
    }

    #[test]
    fn has_reject_follows_from_whether_there_is_one() {
        let (_, pushed) = execute("silent", r#"{"who":"Ada"}"#);
        assert!(!pushed[0].has_reject);
        let rejected = tools().reject(pushed[0].state.as_deref(), &Resolution::new("no"));
        assert!(rejected.unwrap().is_none());
    }

    #[test]
    fn an_answer_pushes_nothing() {
        let (result, pushed) = execute("ask", r#"{"who":"Ada"}"#);
        assert_eq!(result, Ok("Ada is fine.".into()));
        assert!(pushed.is_empty());
    }

    #[test]
    fn what_has_no_addressee_says_so() {
        let (result, _) = execute("resolve", "{}");
        let expected = "this plugin has no tool `resolve`; it has `greet_all`, `silent`, `ask`";
        assert_eq!(result, Err(Error::failed(expected)));

        let check = |state: Option<&[u8]>, expected: &str| {
            let refused = tools().apply(state, &Resolution::new("yes")).map(text);
            assert_eq!(refused, Err(Error::failed(expected)));
        };
        check(
            None,
            "the action has no state, and this instance did not stage it",
        );
        check(
            Some(br#"{"tool":"ask","plan":1}"#),
            "tool `ask` stages no actions",
        );
    }
}
