//! Lets things happen in a conversation, and takes down what each of its turns was told and did.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use airlock_host::pending::{ActionId, Decision, StackedAction};
use airlock_host::policy::Rehearse;
use airlock_host::steering::{NextTurn, ToolChoice, ToolChoicePolicy, TurnReport, TurnSettings};
use airlock_host::store::MemoryStore;
use airlock_host::{Limits, Resolution, Session, SessionBuilder};
use airlock_tests::{Puppet, durable, plugin, poll_once};
use proptest::sample::Index;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::transitions::{
    Interruption, Kind, Provider, Target, Transition, Turn, TurnAction, TurnConditions,
};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

/// A turn that was sent.
pub struct PastTurn {
    /// What was pending before it, topmost first.
    pub stack: Vec<StackedAction>,
    pub settings: TurnSettings,
    /// What the session gave for it.
    pub given: NextTurn,
    pub end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model called `resolve`.
    Complied,
    Ignored,
    /// It did not take place.
    Refused,
}

impl fmt::Debug for PastTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |it: &StackedAction| (it.action.label.clone(), it.attempts, it.state);
        let reminded = self.given.reminders.iter().flat_map(|it| &it.actions);
        let (choice, end, settings) = (self.given.tool_choice, self.end, self.settings);
        write!(
            f,
            "{choice:?} of {:?}",
            self.stack.iter().map(of).collect::<Vec<_>>()
        )?;
        write!(
            f,
            ", told of {:?}",
            reminded.map(|it| &it.label).collect::<Vec<_>>()
        )?;
        write!(f, ", {end:?}, {settings:?}")
    }
}

struct Conversation {
    puppet: Puppet,
    /// Another session of the same id.
    elsewhere: Session,
    conditions: TurnConditions,
    kinds: HashMap<ActionId, Kind>,
    resolved: Vec<ActionId>,
    trace: Vec<PastTurn>,
}

/// All that happens, and then what brings it to its end.
pub fn play(conditions: TurnConditions, transitions: &[Transition]) -> Vec<PastTurn> {
    RUNTIME.block_on(async {
        let mut conversation = Conversation::new(conditions).await;
        for transition in transitions {
            conversation.take(transition).await;
        }
        conversation.come_to_an_end().await;
        conversation.trace
    })
}

impl Conversation {
    async fn new(conditions: TurnConditions) -> Self {
        let store = Arc::new(MemoryStore::new());
        let id = "steered";
        // What blocks needn't be waited for.
        let limits = Limits::default().with_cancel_grace(Duration::from_millis(1));
        let settings = |session: SessionBuilder| {
            let session = session.id(id).store(store.clone());
            let session = session.limits(limits.clone());
            session.tool_choice(conditions.policy)
        };
        let puppet = Puppet::with(settings).await;
        let elsewhere = Session::builder()
            .model_decides()
            .id(id)
            .store(store.clone())
            .limits(limits.clone())
            .workspace(puppet.workspace())
            // What blocks would be waited for.
            .rehearse(Rehearse::Never)
            .bind(&plugin("puppet").await);
        Self {
            elsewhere: elsewhere.open().expect("a session"),
            puppet,
            conditions,
            kinds: HashMap::new(),
            resolved: Vec::new(),
            trace: Vec::new(),
        }
    }

    async fn take(&mut self, transition: &Transition) {
        match transition {
            Transition::Turn(turn) => self.turn(turn).await,
            Transition::Silence(turns) => {
                for _ in 0..*turns {
                    self.turn(&Turn::SILENT).await;
                }
            }
            Transition::Elsewhere(deed) => {
                let session = self.elsewhere.clone();
                self.act(&session, deed).await;
            }
        }
    }

    async fn turn(&mut self, turn: &Turn) {
        let settings = TurnSettings {
            offers_resolve: turn.offers_resolve,
            can_force: self.conditions.provider != Provider::CanNotForce,
            extended_thinking: turn.extended_thinking,
        };
        let (stack, given) = self.next_turn(settings).await;
        let refused = given.tool_choice == ToolChoice::Resolve
            && match self.conditions.provider {
                Provider::Refuses => true,
                Provider::RefusesWhileThinking => turn.extended_thinking,
                Provider::Forces | Provider::CanNotForce => false,
            };
        let session = self.puppet.session.clone();
        let mut end = if refused { End::Refused } else { End::Ignored };
        for deed in turn.deeds.iter().filter(|_| !refused) {
            if self.act(&session, deed).await {
                end = End::Complied;
            }
        }
        match end {
            End::Refused => session.report_turn(TurnReport::ForcedChoiceRefused),
            End::Complied if turn.reported => session.report_turn(TurnReport::Resolved),
            End::Ignored if turn.reported => session.report_turn(TurnReport::Ignored),
            End::Complied | End::Ignored => {}
        }
        self.trace.push(PastTurn {
            stack,
            settings,
            given,
            end,
        });
    }

    async fn next_turn(&self, settings: TurnSettings) -> (Vec<StackedAction>, NextTurn) {
        let stack = self.puppet.session.pending().await.expect("a stack");
        let turn = self.puppet.session.next_turn_with(settings).await;
        (stack, turn.expect("a store in memory answers"))
    }

    /// Whether that is an answer to what is pending, whatever comes of it.
    async fn act(&mut self, session: &Session, deed: &TurnAction) -> bool {
        match deed {
            TurnAction::CallAnotherTool => {
                let params = json!({"steps": []});
                session.call("puppet", &params).await.expect("it does that");
                false
            }
            TurnAction::Push(kinds) => {
                let steps = kinds.iter().map(|kind| {
                    let label = format!("{kind:?}");
                    match kind {
                        Kind::Fails(times) => durable(
                            &label,
                            json!([{"do": "fail-until-attempt", "n": times + 1}]),
                        ),
                        Kind::Blocks => durable(&label, json!([{"do": "block"}])),
                    }
                });
                let params = json!({"steps": steps.collect::<Vec<_>>()});
                let pushed = session.call("puppet", &params).await.expect("it does that");
                assert_eq!(pushed.pushed.len(), kinds.len());
                for (action, kind) in pushed.pushed.iter().rev().zip(kinds) {
                    self.kinds.insert(action.id.clone(), *kind);
                }
                false
            }
            TurnAction::Resolve {
                target,
                decision,
                interruption,
            } => {
                self.resolve(session, target, *decision, *interruption)
                    .await
            }
            TurnAction::ResolveWrongly => {
                let params = json!({"action": "perhaps", "reason": ""});
                let error = session.call("resolve", &params).await.unwrap_err();
                assert_eq!(error.kind(), "invalid-params");
                false
            }
        }
    }

    async fn resolve(
        &mut self,
        session: &Session,
        target: &Target,
        decision: Decision,
        interruption: Interruption,
    ) -> bool {
        let pending = session.pending().await.expect("a stack");
        let pending: Vec<ActionId> = pending.iter().map(|it| it.action.id.clone()).collect();
        let one_of =
            |ids: &[ActionId], index: &Index| (!ids.is_empty()).then(|| index.get(ids).clone());
        let named = match target {
            Target::Topmost => None,
            Target::Pending(index) => one_of(&pending, index),
            Target::Resolved(index) => one_of(&self.resolved, index),
        };
        let meant = named.as_ref().or(pending.first());
        let meant = meant.filter(|id| pending.contains(id)).cloned();
        let blocks = decision == Decision::Apply
            && meant
                .as_ref()
                .is_some_and(|id| self.kinds[id] == Kind::Blocks);
        let mut params = json!({"action": decision, "reason": ""});
        if let Some(id) = &named {
            params["id"] = Value::from(id.as_str());
        }
        let cancel = CancellationToken::new();
        if interruption == Interruption::Before {
            cancel.cancel();
        }
        let resolving = session.call("resolve", &params).cancelled_by(&cancel);
        let mut resolving = Box::pin(resolving.into_future());
        if blocks && interruption != Interruption::Before {
            assert!(poll_once(resolving.as_mut()).await.is_none());
            if interruption == Interruption::Dropped {
                return true;
            }
            // It would never end.
            cancel.cancel();
        }
        let resolved = resolving.await;
        if let (Ok(_), Some(id)) = (resolved, meant) {
            self.resolved.push(id);
        }
        interruption != Interruption::Before
    }

    /// However the conversation went, a model that decides when it is told to, or made to, brings
    /// it to its end.
    async fn come_to_an_end(&mut self) {
        let told_at_least_every = 9;
        let left = self.puppet.session.pending().await.expect("a stack").len();
        for _ in 0..told_at_least_every * left {
            let settings = TurnSettings {
                can_force: self.conditions.provider == Provider::Forces,
                ..TurnSettings::default()
            };
            let (stack, given) = self.next_turn(settings).await;
            let decides = self.conditions.policy == ToolChoicePolicy::Off
                || !given.reminders.is_empty()
                || given.tool_choice == ToolChoice::Resolve;
            let end = if decides && !stack.is_empty() {
                let resolved = self.puppet.resolve(Resolution::discard("the end")).await;
                resolved.expect("a discard always removes");
                End::Complied
            } else {
                End::Ignored
            };
            self.trace.push(PastTurn {
                stack,
                settings,
                given,
                end,
            });
        }
        assert!(!self.puppet.session.has_pending().await.expect("a stack"));
        self.turn(&Turn::SILENT).await;
    }
}
