//! Actions that live in one host's memory, as other hosts see them.

use airlock_model::pending::{ActionState, Resolution};
use airlock_model::store::{DurableStore, Stacks};

use crate::{
    SHORT_LEASE, action, claim, complete, connect, connect_with_lease, eventually, push_action,
    server, session,
};

#[tokio::test]
async fn a_volatile_action_is_lost_when_its_host_is_and_can_be_discarded() {
    let url = server().database_url();
    let other = connect(&url).await;
    let owner = connect_with_lease(&url, SHORT_LEASE).await;
    let stack = session("volatile");
    let mut volatile = action("one");
    volatile.durable = false;
    push_action(&owner, &stack, volatile.clone()).await.unwrap();
    let state = async || other.peek(&stack).await.unwrap().unwrap().state;
    // Longer than a lease, so that the heart must have beaten.
    let until = std::time::Instant::now() + SHORT_LEASE * 3;
    while std::time::Instant::now() < until {
        assert_eq!(state().await, ActionState::Pending);
        tokio::time::sleep(SHORT_LEASE / 5).await;
    }
    drop(owner);
    eventually("the host is missed", async || {
        state().await == ActionState::Lost
    })
    .await;
    let stats = other.stats().await.unwrap();
    assert_eq!((stats.pending, stats.lost), (1, 1));
    assert_eq!(
        other.find(&"one".into()).await.unwrap().unwrap().state,
        ActionState::Lost
    );
    let claimed = claim(&other, &stack, Resolution::discard("its host is gone")).await;
    assert_eq!(*claimed.action, volatile);
    assert_eq!(claimed.guest_state, None);
    complete(&other, claimed).await;
    assert_eq!(other.check().await.unwrap(), Vec::<String>::new());
}
