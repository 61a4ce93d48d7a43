//! Sessions on a store that outlives them: what was previewed in one process is resolved in
//! another, and by one of them alone.

mod audit;
mod conversation;
pub mod faulty;
mod interrupted;
mod later;
mod leases;
mod refreshing;
mod workspaces;

/// Every test of this module, for one kind of store.
macro_rules! suite {
    ($name:ident, $backend:ty) => {
        mod $name {
            use super::{audit, interrupted, later, leases, refreshing, workspaces};

            suite!(@tests $backend =>
                later::the_bytes_that_pushed_apply_whatever_has_become_of_their_file,
                later::an_apply_has_what_was_granted_both_when_it_was_pushed_and_now,
                later::another_workspace_is_refused,
                later::of_many_who_resolve_in_two_hosts_one_does,
                later::a_change_in_another_host_wakes_who_waits,
                interrupted::the_guest_sees_the_second_attempt_after_an_interruption,
                interrupted::an_apply_whose_future_is_dropped_is_listed_as_interrupted,
                interrupted::volatile_actions_are_lost_with_their_host_and_can_only_be_discarded,
                interrupted::volatile_actions_are_lost_with_their_instance_as_all_hosts_see,
                interrupted::what_could_not_be_recorded_is_told_and_listed_as_interrupted_later,
                interrupted::a_discard_that_finds_an_apply_is_recorded_as_that_apply,
                leases::a_lease_is_renewed_while_the_guest_runs,
                leases::a_lost_lease_stops_the_guest,
                leases::who_lost_a_lease_can_end_nothing,
                refreshing::the_lowest_of_three_stays_the_lowest,
                refreshing::one_that_the_store_refuses_leaves_what_was_pending,
                refreshing::what_is_decided_about_meanwhile_is_not_refreshed,
                refreshing::a_tool_that_takes_note_of_discards_hears_of_it,
                refreshing::what_was_cut_off_is_found_out_about_first,
                audit::a_resolution_is_recorded_with_its_reasons_and_its_result,
                audit::a_failed_reject_is_recorded_as_a_discard_with_its_error,
                workspaces::another_directory_at_the_same_path_is_refused_unless_it_is_said_to_be_the_same,
                workspaces::a_rename_and_back_is_the_same_workspace_and_a_new_path_is_said_to_be,
                workspaces::another_machine_may_show_and_discard_what_nobody_tried_and_not_apply,
                workspaces::a_discard_elsewhere_doesnt_call_the_guest,
                workspaces::a_refusal_leaves_an_interrupted_action_interrupted,
            );
        }
    };
    (@tests $backend:ty => $($module:ident::$test:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $test() {
                $module::$test::<$backend>().await;
            }
        )*
    };
}

suite!(sqlite, airlock_tests::SqliteBackend);
suite!(postgres, airlock_tests::PostgresBackend);
