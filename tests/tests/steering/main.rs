//! Steering a model through random turns: sessions with a real guest beside a small model of what the contract promises.
//!
//! `transitions` is all that can happen, `model` what is to follow from it, and `machine` lets it happen and compares.
//! `PROPTEST_CASES` asks for more than the usual number of cases.

mod machine;
mod model;
mod transitions;

use proptest_state_machine::prop_state_machine;

use machine::Machine;

prop_state_machine! {
    #![proptest_config(machine::config(256))]

    #[test]
    fn turns_are_steered_as_the_model_says_and_come_to_an_end(sequential 1..40 => Machine);
}
