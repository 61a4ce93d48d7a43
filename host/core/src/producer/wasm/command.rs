//! Calls of programs. A program runs on a layer. If it changes anything there, the call pushes an
//! action with its command line, and the run is the action's draft.

use std::sync::Arc;
use std::time::SystemTime;

use airlock_model::effects::Answer;
use airlock_model::error::{Error, HostError};
use airlock_model::event::Event;
use airlock_model::pending::PendingAction;
use airlock_workspace::View;

use super::Binding;
use crate::instance::{Call, Conditions, new_seed};
use crate::params::Params;
use crate::producer::{Draft, DraftRun, Executed, Rehearsed};
use crate::pushing::{Called, Details, PlaceOfOthers, PushContext, PushRequest, StagedActions};
use crate::world::{CommandLine, DecidedAction};

/// The longest label of an action, in characters.
const MAX_LABEL: usize = 80;

impl Binding {
    pub(super) async fn execute_command(
        &self,
        call: &Call<'_>,
        params: &Params<'_>,
        place: Option<&PlaceOfOthers>,
    ) -> Result<Executed, Error> {
        let tool = self.plugin.command_tool(call.tool);
        let (line, title) = CommandLine::of_call(tool, params, call.limits.state_bytes)?;
        let state = line.state();
        let seed = new_seed().map_err(HostError::Randomness)?;
        let time = SystemTime::now();
        let resolution = DecidedAction {
            action_id: "",
            label: "",
            source_tool_name: call.tool,
            state: Some(&state),
            reason: Answer::REASON,
            extra: None,
            attempt: 1,
        };
        let running = self.rehearse(call, &resolution, Conditions::new(seed.clone(), time));
        let Rehearsed {
            result,
            changes,
            looked_at,
        } = running.await?;
        let Some(changes) = changes.filter(has_changes) else {
            return Ok(Executed::of(result, Vec::new()));
        };
        let called = Called {
            tool: call.tool,
            params: params.text(),
            content: &result.content,
        };
        let title = title.map(|title| on_one_line(&title));
        let title = title.filter(|title| !title.is_empty());
        let request = PushRequest {
            label: title.unwrap_or_else(|| label(self.plugin.name(), &line)),
            source_tool_name: Some(call.tool.to_owned()),
            details: Details::None,
            has_reject: false,
            state: Some(state),
        };
        let pushed = match self
            .push_command((request, time), called, call, place)
            .await
        {
            Ok(pushed) => pushed,
            Err(error) => {
                changes.abandon();
                return Err(error);
            }
        };
        let mut executed = Executed::of(result.clone(), pushed);
        executed.drafted = Some(Draft {
            changes,
            run: Some(Box::new(DraftRun {
                seed,
                looked_at,
                result,
            })),
        });
        Ok(executed)
    }

    async fn push_command(
        &self,
        (action, time): (PushRequest, SystemTime),
        called: Called<'_>,
        call: &Call<'_>,
        place: Option<&PlaceOfOthers>,
    ) -> Result<Vec<Arc<PendingAction>>, Error> {
        let session = &self.context.session;
        let pushing = PushContext {
            source: self.plugin.source(),
            has_tool: &|name| name == call.tool,
            policy: &self.context.policy,
            limits: call.limits,
            time,
        };
        let mut staged = StagedActions::default();
        let action = pushing.stage(session, &mut staged, action).await?;
        session.emit(
            self.plugin.name(),
            call.tool,
            call.number,
            &Event::Staged { action },
        );
        self.commit(staged, called, call, place).await
    }
}

/// Drops a layer without changes.
fn has_changes(layer: &View) -> bool {
    // If they can't be read, the rehearsal says so.
    let is_changed = layer.changes().map_or(true, |changes| !changes.is_empty());
    if !is_changed {
        layer.abandon();
    }
    is_changed
}

/// Returns the command line, on one line.
fn label(program: &str, line: &CommandLine) -> String {
    let words = line.args.iter().map(|word| {
        let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("{word:?}")
        }
    });
    let label = [program.to_owned()].into_iter().chain(words);
    cut(label.collect::<Vec<_>>().join(" "))
}

/// Returns a title with a space for each gap, such as the end of a line.
fn on_one_line(title: &str) -> String {
    let words = title.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| !word.is_empty());
    cut(words.collect::<Vec<_>>().join(" "))
}

fn cut(label: String) -> String {
    match label.char_indices().nth(MAX_LABEL) {
        Some((end, _)) => format!("{}…", &label[..end]),
        None => label,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_of_all_its_words() {
        let check = |title: &str, expected: &str| assert_eq!(on_one_line(title), expected);
        check("Move a\n to b", "Move a to b");
        check("a\u{2028}b\rc\u{b}d\u{85}e\u{1b}[1m", "a b c d e [1m");
        check(" \n ", "");
        assert!(on_one_line(&"ä".repeat(100)).ends_with("ä…"));
    }

    #[test]
    fn a_label_is_one_line_that_a_shell_would_understand() {
        let check = |args: &[&str], expected: &str| {
            let line = CommandLine {
                args: args.iter().map(ToString::to_string).collect(),
                stdin: String::new(),
            };
            assert_eq!(label("sd", &line), expected);
        };
        check(&[], "sd");
        check(&["-s", "a", "b.txt"], "sd -s a b.txt");
        check(&["a b", "", "c\nd"], r#"sd "a b" "" "c\nd""#);
        let long = label(
            "sd",
            &CommandLine {
                args: vec!["ä".repeat(100)],
                stdin: String::new(),
            },
        );
        assert_eq!(long.chars().count(), MAX_LABEL + 1);
    }
}
