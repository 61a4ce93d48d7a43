//! All that can happen to a store, as proptest generates it.
//!
//! Nothing here is invalid in any state: what a transition names by a number, the model finds by
//! taking it modulo what there is, so that shrinking may leave out whatever it likes.

use airlock_model::actor::Evidence;
use std::time::Duration;

use airlock_model::pending::Decision;
use airlock_model::store::{Budget, Spending};
use proptest::prelude::*;

use crate::actions::{
    ACCOUNTS, ACTORS, DETAILS, EXTRAS, GRANTS, PLUGINS, Reasons, SESSIONS, Spec, TEXTS, WORKSPACES,
};

/// How many hosts use the storage at once.
pub const HOSTS: usize = 2;

#[derive(Debug, Clone)]
pub enum Transition {
    Push {
        host: usize,
        session: usize,
        /// Of one call: what they need the plugin for, and where, is the same for all.
        specs: Vec<Spec>,
        capacity: usize,
    },
    /// Pending actions make room for those of another call.
    Replace {
        host: usize,
        session: usize,
        target: Target,
        /// Of what is on the session's stack or claimed.
        others: Vec<usize>,
        specs: Vec<Spec>,
        capacity: usize,
        reasons: Reasons,
    },
    Claim {
        host: usize,
        session: usize,
        decision: Decision,
        target: Target,
        reasons: Reasons,
    },
    /// A lease is handed back, or used.
    Use { lease: Pick, how: Use },
    /// An action spends of a budget, which may have no room for it.
    Spend(Expense),
    /// A host dies, and another starts in its place.
    Kill { host: usize },
    /// A host starts, looks at everything, and goes.
    Look,
}

/// What is spent, by which action, under which budget.
#[derive(Debug, Clone)]
pub struct Expense {
    pub host: usize,
    pub account: usize,
    pub action: usize,
    pub spending: Spending,
    pub budget: Budget,
}

/// Which action to claim.
#[derive(Debug, Clone)]
pub enum Target {
    Topmost,
    /// One that is on the session's stack or claimed.
    Open(usize),
    Resolved(usize),
    OfAnotherSession(usize),
    Unknown,
}

/// Which lease to use: one that holds, or any that was ever given.
#[derive(Debug, Clone)]
pub enum Pick {
    Live(usize),
    Any(usize),
}

#[derive(Debug, Clone)]
pub enum Use {
    Complete {
        text: usize,
        /// Only for a discard; an apply that failed is no completion.
        reject_failed: bool,
    },
    Requeue {
        failure: usize,
    },
    Release,
    Recovered {
        what: usize,
    },
    Abandon,
    Renew,
}

pub fn transition(durable: bool) -> BoxedStrategy<Transition> {
    let always = prop_oneof![
        5 => push(),
        3 => replace(),
        6 => claim(),
        3 => expense().prop_map(Transition::Spend),
        6 => (pick(), how()).prop_map(|(lease, how)| Transition::Use { lease, how }),
    ];
    if !durable {
        return always.boxed();
    }
    prop_oneof![
        12 => always,
        1 => (0..HOSTS).prop_map(|host| Transition::Kill { host }),
        1 => Just(Transition::Look),
    ]
    .boxed()
}

fn push() -> impl Strategy<Value = Transition> {
    let specs = specs(1);
    (0..HOSTS, 0..SESSIONS.len(), specs, 1..8_usize).prop_map(|(host, session, specs, capacity)| {
        Transition::Push {
            host,
            session,
            specs,
            capacity,
        }
    })
}

fn replace() -> impl Strategy<Value = Transition> {
    let target = prop_oneof![
        6 => any::<usize>().prop_map(Target::Open),
        1 => any::<usize>().prop_map(Target::Resolved),
        1 => any::<usize>().prop_map(Target::OfAnotherSession),
        1 => Just(Target::Unknown),
    ];
    let others = proptest::collection::vec(any::<usize>(), 0..3);
    let places = (0..HOSTS, 0..SESSIONS.len());
    (places, target, others, specs(0), 2..10_usize, reasons()).prop_map(
        |((host, session), target, others, specs, capacity, reasons)| Transition::Replace {
            host,
            session,
            target,
            others,
            specs,
            capacity,
            reasons,
        },
    )
}

/// What one call pushes: so many, or a few more.
fn specs(least: usize) -> impl Strategy<Value = Vec<Spec>> {
    proptest::collection::vec(spec(), least..4).prop_map(|mut specs| {
        if let Some(first) = specs.first().cloned() {
            for spec in &mut specs {
                spec.plugin = first.plugin;
                spec.grants = first.grants;
                spec.workspace = first.workspace;
            }
        }
        specs
    })
}

fn spec() -> impl Strategy<Value = Spec> {
    let guest_state = prop_oneof![
        1 => Just(None),
        3 => proptest::collection::vec(any::<u8>(), 0..20).prop_map(Some),
    ];
    let choices = (
        0..TEXTS.len(),
        0..TEXTS.len(),
        0..DETAILS,
        any::<bool>(),
        guest_state,
        0..PLUGINS,
        0..GRANTS,
        0..WORKSPACES,
    );
    choices.prop_map(
        |(label, source_tool_name, details, has_reject, guest_state, plugin, grants, workspace)| {
            Spec {
                label,
                source_tool_name,
                details,
                has_reject,
                guest_state,
                plugin,
                grants,
                workspace,
            }
        },
    )
}

fn claim() -> impl Strategy<Value = Transition> {
    let decision = prop_oneof![2 => Just(Decision::Apply), 1 => Just(Decision::Discard)];
    let target = prop_oneof![
        4 => Just(Target::Topmost),
        3 => any::<usize>().prop_map(Target::Open),
        1 => any::<usize>().prop_map(Target::Resolved),
        1 => any::<usize>().prop_map(Target::OfAnotherSession),
        1 => Just(Target::Unknown),
    ];
    (0..HOSTS, 0..SESSIONS.len(), decision, target, reasons()).prop_map(
        |(host, session, decision, target, reasons)| Transition::Claim {
            host,
            session,
            decision,
            target,
            reasons,
        },
    )
}

fn reasons() -> impl Strategy<Value = Reasons> {
    let reasons = (
        0..TEXTS.len(),
        (0..ACTORS, 0..TEXTS.len(), 0..Evidence::ALL.len()),
        0..EXTRAS,
    );
    reasons.prop_map(|(reason, decided_by, extra)| Reasons {
        reason,
        decided_by,
        extra,
    })
}

/// Small numbers, which add up to small limits, and the largest.
fn expense() -> impl Strategy<Value = Expense> {
    let bytes = prop_oneof![
        4 => 0..9_u64,
        1 => Just(Spending::MAX - 1),
        1 => Just(u64::MAX),
    ];
    let spending = (0..5_u64, bytes, 0..3_u64);
    let spending = spending.prop_map(|(files, bytes, deletions)| Spending {
        files,
        bytes,
        deletions,
    });
    let limit = || {
        let some = prop_oneof![4 => 0..12_u64, 1 => Just(Spending::MAX - 1), 1 => Just(u64::MAX)];
        proptest::option::of(some)
    };
    // Either counts all that is spent while the test runs, or nothing.
    let within = prop_oneof![
        4 => Just(Duration::from_secs(3600)),
        1 => Just(Duration::MAX),
        1 => Just(Duration::ZERO),
    ];
    let budget = (limit(), limit(), limit(), within);
    let budget = budget.prop_map(|(files, bytes, deletions, within)| Budget {
        files,
        bytes,
        deletions,
        within,
    });
    (0..HOSTS, 0..ACCOUNTS.len(), 0..6_usize, spending, budget).prop_map(
        |(host, account, action, spending, budget)| Expense {
            host,
            account,
            action,
            spending,
            budget,
        },
    )
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        4 => any::<usize>().prop_map(Pick::Live),
        1 => any::<usize>().prop_map(Pick::Any),
    ]
}

fn how() -> impl Strategy<Value = Use> {
    prop_oneof![
        4 => (0..TEXTS.len(), any::<bool>())
            .prop_map(|(text, reject_failed)| Use::Complete { text, reject_failed }),
        3 => (0..TEXTS.len()).prop_map(|failure| Use::Requeue { failure }),
        2 => Just(Use::Release),
        1 => (0..TEXTS.len()).prop_map(|what| Use::Recovered { what }),
        2 => Just(Use::Abandon),
        1 => Just(Use::Renew),
    ]
}
