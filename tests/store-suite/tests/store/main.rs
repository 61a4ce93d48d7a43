//! One suite for every store: what the parts of an [`airlock_model::store::PendingStore`] promise,
//! whoever keeps it.
//!
//! `model` says what a store is to do, in plain vectors; `transitions` is all that can happen to
//! one; `machine` does it to a store and compares. `PROPTEST_CASES` asks for more than the usual
//! number of cases.

mod actions;
mod bases;
mod budgets;
mod calls;
mod denials;
mod effects;
mod ending;
mod losing;
mod machine;
mod model;
mod racing;
mod room;
mod transitions;
mod watching;

/// Every test of the suite, for one kind of store.
macro_rules! suite {
    ($name:ident, $backend:ty, $cases:expr) => {
        mod $name {
            use proptest_state_machine::prop_state_machine;

            use crate::machine::{Machine, config};

            type Backend = $backend;

            prop_state_machine! {
                #![proptest_config(config($cases))]

                #[test]
                fn it_does_what_the_model_does(sequential 1..60 => Machine<Backend>);
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn one_of_many_who_claim_the_same_action_gets_it() {
                crate::racing::for_one_action::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn many_who_claim_the_topmost_action_share_out_the_stack() {
                crate::racing::for_the_topmost::<Backend>().await;
            }

            #[tokio::test]
            async fn a_lease_of_an_earlier_claim_ends_no_later_one() {
                crate::racing::with_a_lease_of_an_earlier_claim::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn many_who_push_never_get_past_the_capacity() {
                crate::racing::for_room::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn what_takes_the_place_of_others_lies_there_whatever_others_push() {
                crate::racing::for_a_place::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn what_is_claimed_is_not_replaced_and_what_is_replaced_is_not_claimed() {
                crate::racing::with_a_replacement::<Backend>().await;
            }

            #[tokio::test]
            async fn a_session_is_filled_to_the_byte_and_what_ends_gives_its_bytes_back() {
                crate::room::is_filled_to_the_byte_and_given_back::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn a_push_that_nobody_heard_of_leaves_nothing() {
                crate::room::is_given_back_by_a_push_that_was_dropped::<Backend>().await;
            }

            #[tokio::test]
            async fn the_record_of_a_call_is_kept_once_and_read_by_each_of_its_actions() {
                crate::calls::are_kept_once_and_read_by_each_action::<Backend>().await;
            }

            #[tokio::test]
            async fn the_record_of_a_call_counts_as_what_the_session_may_hold() {
                crate::calls::count_as_what_the_session_may_hold::<Backend>().await;
            }

            #[tokio::test]
            async fn an_action_is_found_by_how_its_id_begins_or_ends() {
                crate::calls::are_found_by_a_part_of_an_id::<Backend>().await;
            }

            #[tokio::test]
            async fn what_is_discarded_together_ends_in_one_step_as_far_as_it_is_pending() {
                crate::ending::together_in_one_step::<Backend>().await;
            }

            #[tokio::test]
            async fn a_discard_that_finds_an_apply_of_before_ends_as_that_apply() {
                crate::ending::as_an_apply_of_before::<Backend>().await;
            }

            #[tokio::test]
            async fn what_the_host_saw_an_action_do_is_kept_with_it_and_counted() {
                crate::effects::are_kept_and_replaced_and_counted::<Backend>().await;
            }

            #[tokio::test]
            async fn what_several_actions_were_made_from_is_read_together() {
                crate::bases::are_those_of_each_action_and_no_more_than_is_well_held::<Backend>()
                    .await;
                crate::bases::are_no_more_than_is_well_read::<Backend>().await;
            }

            #[tokio::test]
            async fn the_state_of_an_action_is_read_without_a_claim() {
                crate::effects::need_a_state_that_nobody_has_claimed::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn a_thousand_slivers_reach_a_budget_and_never_pass_it() {
                crate::budgets::are_reached_and_not_passed_by_slivers::<Backend>().await;
            }

            #[tokio::test]
            async fn an_action_counts_once_in_a_budget_and_gives_back_what_it_spent() {
                crate::budgets::count_an_action_once_and_take_back_what_it_spent::<Backend>().await;
            }

            #[tokio::test]
            async fn a_budget_is_of_one_account_and_holds_any_number() {
                crate::budgets::are_of_one_account_and_hold_any_number::<Backend>().await;
            }

            #[tokio::test]
            async fn denials_are_kept_with_their_action_and_the_last_ones_only() {
                crate::denials::are_kept_with_their_action_and_the_last_ones_only::<Backend>()
                    .await;
            }

            #[tokio::test]
            async fn denials_are_listed_the_last_one_first() {
                crate::denials::are_listed_the_last_one_first::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn denials_are_counted_whoever_records_them() {
                crate::denials::are_counted_whoever_records_them::<Backend>().await;
            }

            #[tokio::test]
            async fn what_is_volatile_and_named_is_lost_and_nothing_else() {
                crate::losing::takes_what_is_volatile_and_named::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn a_watch_wakes_for_every_kind_of_change_whoever_makes_it() {
                crate::watching::wakes_for_every_change::<Backend>().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn a_watch_wakes_for_what_changed_before_anybody_waited() {
                crate::watching::wakes_for_an_earlier_change::<Backend>().await;
            }
        }
    };
}

suite!(memory, airlock_store_suite::MemoryBackend, 256);
suite!(sqlite, airlock_store_suite::SqliteBackend, 32);
suite!(postgres, airlock_store_suite::PostgresBackend, 12);
