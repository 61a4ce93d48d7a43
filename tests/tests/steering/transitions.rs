//! All that can happen in a conversation.

use airlock_host::pending::Decision;
use airlock_host::steering::ToolChoicePolicy;
use proptest::prelude::*;
use proptest::sample::Index;

/// What doesn't change during a conversation.
#[derive(Debug, Clone, Copy)]
pub struct TurnConditions {
    pub policy: ToolChoicePolicy,
    pub provider: Provider,
}

/// What the provider of the model does with a forced tool choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    Forces,
    /// It is known that it can't: the embedder says so.
    CanNotForce,
    /// It refuses such a request, and nobody knew.
    Refuses,
    /// It refuses one together with extended thinking.
    RefusesWhileThinking,
}

#[derive(Debug, Clone)]
pub enum Transition {
    Turn(Turn),
    /// So many turns in which the model does nothing of what it is asked.
    Silence(u8),
    /// Between two turns, through another session of the same id: somebody at a terminal, say.
    Elsewhere(TurnAction),
}

#[derive(Debug, Clone)]
pub struct Turn {
    pub offers_resolve: bool,
    pub extended_thinking: bool,
    /// What the model does, in this order. With none it ignores what is pending.
    pub deeds: Vec<TurnAction>,
    /// Whether the embedder says what the turn did, instead of leaving it to the session.
    pub reported: bool,
}

impl Turn {
    pub const SILENT: Self = Self {
        offers_resolve: true,
        extended_thinking: false,
        deeds: Vec::new(),
        reported: false,
    };
}

#[derive(Debug, Clone)]
pub enum TurnAction {
    CallAnotherTool,
    /// In one call, in this order.
    Push(Vec<Kind>),
    Resolve {
        target: Target,
        decision: Decision,
        interruption: Interruption,
    },
    /// Calls `resolve` with params that decide nothing.
    ResolveWrongly,
}

/// What an action does when it is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Fails so many times, and then succeeds.
    Fails(u32),
    /// Runs until it is stopped.
    Blocks,
}

#[derive(Debug, Clone)]
pub enum Target {
    Topmost,
    /// One of those that are pending.
    Pending(Index),
    /// One that was resolved before.
    Resolved(Index),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    None,
    /// Cancelled before it began: nobody was asked.
    Before,
    /// Cancelled while it runs. What doesn't block comes to its end first.
    Cancelled,
    /// Its future is dropped while it runs.
    Dropped,
}

pub fn conditions() -> impl Strategy<Value = TurnConditions> {
    let policy = prop_oneof![
        2 => Just(ToolChoicePolicy::Force),
        4 => (0..4_u32).prop_map(|max_forced| ToolChoicePolicy::Remind { max_forced }),
        1 => Just(ToolChoicePolicy::Off),
    ];
    let provider = prop_oneof![
        4 => Just(Provider::Forces),
        1 => Just(Provider::CanNotForce),
        1 => Just(Provider::Refuses),
        1 => Just(Provider::RefusesWhileThinking),
    ];
    (policy, provider).prop_map(|(policy, provider)| TurnConditions { policy, provider })
}

pub fn transition() -> impl Strategy<Value = Transition> {
    prop_oneof![
        16 => turn().prop_map(Transition::Turn),
        1 => (1..30_u8).prop_map(Transition::Silence),
        2 => deed().prop_map(Transition::Elsewhere),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    let deeds = prop_oneof![
        3 => Just(Vec::new()),
        6 => proptest::collection::vec(deed(), 1..3),
    ];
    let chances = (
        proptest::bool::weighted(0.85),
        proptest::bool::weighted(0.3),
    );
    (chances, deeds, any::<bool>()).prop_map(
        |((offers_resolve, extended_thinking), deeds, reported)| Turn {
            offers_resolve,
            extended_thinking,
            deeds,
            reported,
        },
    )
}

fn deed() -> impl Strategy<Value = TurnAction> {
    let kind = prop_oneof![
        4 => (0..3_u32).prop_map(Kind::Fails),
        1 => Just(Kind::Blocks),
    ];
    let target = prop_oneof![
        4 => Just(Target::Topmost),
        2 => any::<Index>().prop_map(Target::Pending),
        1 => any::<Index>().prop_map(Target::Resolved),
    ];
    let decision = prop_oneof![2 => Just(Decision::Apply), 1 => Just(Decision::Discard)];
    let interruption = prop_oneof![
        4 => Just(Interruption::None),
        1 => Just(Interruption::Before),
        1 => Just(Interruption::Cancelled),
        1 => Just(Interruption::Dropped),
    ];
    let resolve = (target, decision, interruption).prop_map(|(target, decision, interruption)| {
        TurnAction::Resolve {
            target,
            decision,
            interruption,
        }
    });
    prop_oneof![
        2 => Just(TurnAction::CallAnotherTool),
        3 => proptest::collection::vec(kind, 1..3).prop_map(TurnAction::Push),
        5 => resolve,
        1 => Just(TurnAction::ResolveWrongly),
    ]
}
