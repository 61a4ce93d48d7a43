//! Steering a model through random turns: sessions with a real guest, and rules that hold for
//! whatever happened.
//!
//! `transitions` is all that can happen, `conversation` lets it happen and takes down each turn,
//! and `rules` says what is promised about such a trace. `PROPTEST_CASES` asks for more than the
//! usual number of cases.

mod conversation;
mod rules;
mod transitions;

use proptest::prelude::*;
use proptest::test_runner::Config;

/// So many cases, or as many as `PROPTEST_CASES` says.
fn config(cases: u32) -> Config {
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

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn turns_are_steered_by_the_rules_and_come_to_an_end(
        conditions in transitions::conditions(),
        transitions in proptest::collection::vec(transitions::transition(), 1..40),
    ) {
        let trace = conversation::play(conditions, &transitions);
        for (name, rule) in rules::RULES {
            if let Err((turn, problem)) = rule(conditions.policy, &trace) {
                let told: Vec<_> = trace[..=turn].iter().map(|it| format!("{it:?}")).collect();
                prop_assert!(false, "{name}: turn {turn} {problem}\n{}", told.join("\n"));
            }
        }
    }
}
