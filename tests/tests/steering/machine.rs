//! Lets things happen to a session, and compares.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use airlock_host::{
    ActionId, ActionState, CancellationToken, Limits, MemoryStore, NextTurn, REMINDER, Resolution,
    Session, SessionBuilder, ToolChoice, ToolChoicePolicy, TurnReport, TurnSettings,
};
use airlock_tests::{Puppet, durable, plugin, poll_once};
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::model::{Act, Model, Reminder, Resolve, Step};
use crate::transitions::{self, Interruption, Kind, Provider, Transition};

/// So many cases, or as many as `PROPTEST_CASES` says.
pub fn config(cases: u32) -> Config {
    Config {
        cases: match std::env::var_os("PROPTEST_CASES") {
            Some(_) => Config::default().cases,
            None => cases,
        },
        // A failure is told with the steps that lead to it, which is what belongs into a test.
        failure_persistence: None,
        ..Config::default()
    }
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

pub struct Machine {
    puppet: Puppet,
    /// Another one of the same id.
    elsewhere: Session,
    policy: ToolChoicePolicy,
    /// By the numbers of the actions.
    ids: Vec<ActionId>,
    /// Turns that took place and were forced, since the last that was not.
    forced_in_a_row: u32,
}

impl ReferenceStateMachine for Machine {
    type State = Model;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Model> {
        transitions::surroundings().prop_map(Model::new).boxed()
    }

    fn transitions(_: &Model) -> BoxedStrategy<Transition> {
        transitions::transition().boxed()
    }

    fn apply(model: Model, transition: &Transition) -> Model {
        model.apply(transition)
    }
}

impl StateMachineTest for Machine {
    type SystemUnderTest = Self;
    type Reference = Self;

    fn init_test(model: &Model) -> Self {
        RUNTIME.block_on(Self::new(model.surroundings.policy))
    }

    fn apply(mut machine: Self, model: &Model, _: Transition) -> Self {
        RUNTIME.block_on(machine.take(&model.step));
        machine
    }

    fn check_invariants(machine: &Self, model: &Model) {
        RUNTIME.block_on(machine.compare(model));
    }

    fn teardown(machine: Self, model: Model) {
        RUNTIME.block_on(machine.come_to_an_end(&model));
    }
}

impl Machine {
    async fn new(policy: ToolChoicePolicy) -> Self {
        let store = Arc::new(MemoryStore::new());
        let id = "steered";
        // What blocks needn't be waited for.
        let limits = Limits {
            cancel_grace: Duration::from_millis(1),
            ..Limits::default()
        };
        let settings = |session: SessionBuilder| {
            let session = session.id(id).store(store.clone());
            session.limits(limits.clone()).tool_choice(policy)
        };
        let puppet = Puppet::with(settings).await;
        let elsewhere = Session::builder()
            .id(id)
            .store(store.clone())
            .limits(limits.clone())
            .workspace(puppet.workspace())
            .plugin(&plugin("puppet").await);
        Self {
            elsewhere: elsewhere.open().expect("a session"),
            puppet,
            policy,
            ids: Vec::new(),
            forced_in_a_row: 0,
        }
    }

    async fn take(&mut self, step: &Step) {
        match step {
            Step::Nothing => {}
            Step::Turn {
                settings,
                expected,
                refused,
                acts,
                reported,
            } => {
                let turn = self.next_turn(*settings).await;
                self.check_promises(&turn, *refused);
                assert_eq!(turn.tool_choice, expected.choice);
                assert_eq!(turn.pending, expected.pending);
                let reminders = expected.reminders.iter();
                let reminders: Vec<String> = reminders.map(|it| self.reminder(it)).collect();
                assert_eq!(turn.reminders, reminders);
                for act in acts {
                    let session = self.puppet.session.clone();
                    self.act(&session, act).await;
                }
                let report = match (refused, reported) {
                    (true, _) => Some(TurnReport::ForcedChoiceRefused),
                    (false, Some(true)) => Some(TurnReport::Resolved),
                    (false, Some(false)) => Some(TurnReport::Ignored),
                    (false, None) => None,
                };
                if let Some(report) = report {
                    self.puppet.session.report_turn(report);
                }
            }
            Step::Elsewhere(act) => {
                let session = self.elsewhere.clone();
                self.act(&session, act).await;
            }
        }
    }

    /// What holds whatever the model says.
    fn check_promises(&mut self, turn: &NextTurn, refused: bool) {
        let forced = turn.tool_choice == ToolChoice::Resolve;
        assert!(!forced || turn.pending > 0, "forced with nothing pending");
        match (forced, refused) {
            (true, true) => {}
            (true, false) => self.forced_in_a_row += 1,
            (false, _) => self.forced_in_a_row = 0,
        }
        let most = match self.policy {
            ToolChoicePolicy::Force => u32::MAX,
            ToolChoicePolicy::Remind { max_forced } => max_forced,
            ToolChoicePolicy::Off => 0,
        };
        let forced = self.forced_in_a_row;
        assert!(forced <= most, "forced {forced} times in a row");
    }

    async fn next_turn(&self, settings: TurnSettings) -> NextTurn {
        let turn = self.puppet.session.next_turn_with(settings).await;
        turn.expect("a store in memory answers")
    }

    fn reminder(&self, reminder: &Reminder) -> String {
        match reminder {
            Reminder::Preview => REMINDER.to_owned(),
            Reminder::Interrupted { number, attempt } => format!(
                "<system-reminder>\nAn apply of \"Action {number}\" (id {}) was interrupted in attempt {attempt}: it may have taken effect, wholly or in part. \
                 Find out before you call the `resolve` tool to apply it again or to discard it.\n</system-reminder>",
                self.ids[*number]
            ),
        }
    }

    async fn act(&mut self, session: &Session, act: &Act) {
        match act {
            Act::CallAnotherTool => {
                let params = json!({"steps": []});
                session.call("puppet", &params).await.expect("it does that");
            }
            Act::Push { number, kind } => {
                let steps = match kind {
                    Kind::Fails(times) => json!([{"do": "fail-until-attempt", "n": times + 1}]),
                    Kind::Blocks => json!([{"do": "block"}]),
                };
                let push = durable(&format!("Action {number}"), steps);
                let params = json!({"steps": [push]});
                let pushed = session.call("puppet", &params).await.expect("it does that");
                assert_eq!(self.ids.len(), *number);
                self.ids.push(pushed.pushed[0].id.clone());
            }
            Act::Resolve(resolve) => self.resolve(session, resolve).await,
            Act::ResolveWrongly => {
                let params = json!({"action": "perhaps", "reason": ""});
                let error = session.call("resolve", &params).await.unwrap_err();
                assert_eq!(error.kind(), "invalid-params");
            }
        }
    }

    async fn resolve(&self, session: &Session, resolve: &Resolve) {
        let mut params = json!({"action": resolve.decision, "reason": ""});
        if let Some(number) = resolve.number {
            params["id"] = Value::from(self.ids[number].as_str());
        }
        let cancel = CancellationToken::new();
        if resolve.interruption == Interruption::Before {
            cancel.cancel();
        }
        let mut resolving = Box::pin(session.call_with("resolve", &params, Some(&cancel)));
        match resolve.interruption {
            Interruption::None | Interruption::Before => {}
            Interruption::Cancelled => {
                assert!(poll_once(resolving.as_mut()).await.is_none());
                cancel.cancel();
            }
            Interruption::Dropped => {
                assert!(poll_once(resolving.as_mut()).await.is_none());
                return;
            }
        }
        let resolved = resolving.await;
        assert_eq!(Some(resolved.is_ok()), resolve.succeeds, "{resolved:?}");
    }

    async fn compare(&self, model: &Model) {
        let pending = self.puppet.session.pending().await.expect("a stack");
        let found = pending.iter().rev().map(|stacked| {
            let interrupted = stacked.state == ActionState::Interrupted;
            (stacked.action.id.clone(), stacked.attempts, interrupted)
        });
        let expected = model.stack.iter().map(|entry| {
            let id = self.ids[entry.number].clone();
            (id, entry.attempts, entry.interrupted)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    /// However the conversation went, it can be brought to its end.
    async fn come_to_an_end(self, model: &Model) {
        let forces = model.surroundings.provider == Provider::Forces;
        let left = model.stack.len();
        match model.surroundings.policy {
            ToolChoicePolicy::Force if forces => self.decide_when_forced(left).await,
            // It may have been let go on, which it is until it decides by itself; and it is reminded before it is forced.
            ToolChoicePolicy::Remind { max_forced }
                if forces && model.forced_in_a_row() < max_forced =>
            {
                self.decide_when_forced(2 * left).await;
            }
            _ => self.decide_when_pending(left).await,
        }
        for _ in 0..3 {
            let turn = self.next_turn(TurnSettings::default()).await;
            assert_eq!(turn.tool_choice, ToolChoice::Auto);
            assert_eq!((turn.pending, turn.reminders), (0, Vec::new()));
        }
    }

    /// A model that decides only where it has to.
    async fn decide_when_forced(&self, turns: usize) {
        for _ in 0..turns {
            let turn = self.next_turn(TurnSettings::default()).await;
            if turn.tool_choice == ToolChoice::Resolve {
                self.discard().await;
            }
        }
    }

    /// A model that decides whenever something is pending.
    async fn decide_when_pending(&self, turns: usize) {
        for _ in 0..turns {
            assert!(self.next_turn(TurnSettings::default()).await.pending > 0);
            self.discard().await;
        }
    }

    async fn discard(&self) {
        let resolved = self.puppet.resolve(Resolution::discard("the end")).await;
        resolved.expect("a discard always removes");
    }
}
