//! How many bytes a session and a store may keep.

use airlock_model::pending::Resolution;
use airlock_model::store::{DurableStore, Push, Records, Stacks, StoreError};

use crate::{action, claim, complete, connect, plugin, server, session};

async fn push_bytes(
    store: &dyn Stacks,
    stack: &airlock_model::pending::SessionId,
    id: &str,
    bytes: usize,
    capacity_bytes: u64,
) -> Result<(), StoreError> {
    let push = Push::new(stack, action(id), plugin())
        .with_guest_state(vec![0; bytes])
        .with_capacity(100)
        .with_capacity_bytes(capacity_bytes);
    store.push(push).await
}

#[tokio::test]
async fn a_session_may_stage_so_many_bytes_and_resolving_makes_room() {
    let store = connect(&server().database_url()).await;
    let stack = session("bytes");
    push_bytes(&store, &stack, "one", 600, 1000).await.unwrap();
    let refused = push_bytes(&store, &stack, "two", 600, 1000).await;
    match refused.unwrap_err() {
        StoreError::SessionFull {
            limit,
            held,
            pushed,
        } => {
            let label = action("one").label.len() as u64;
            assert_eq!((limit, held, pushed), (1000, 600 + label, 600 + label));
        }
        other => panic!("{other:?}"),
    }
    let claimed = claim(&store, &stack, Resolution::apply("")).await;
    complete(&store, claimed).await;
    push_bytes(&store, &stack, "three", 600, 1000)
        .await
        .unwrap();
    assert_eq!(store.check().await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn a_store_takes_no_more_than_its_limit_whoever_pushes() {
    let url = server().database_url();
    let (store, other) = (connect(&url).await, connect(&url).await);
    let stack = session("bytes");
    assert_eq!(store.byte_limit().await.unwrap(), Some(4 << 30));
    // With the plugin's 100,000 bytes.
    store.set_byte_limit(Some(150_000)).await.unwrap();
    push_bytes(&store, &stack, "one", 40_000, u64::MAX)
        .await
        .unwrap();
    let refused = push_bytes(&other, &stack, "two", 40_000, u64::MAX).await;
    match refused.unwrap_err() {
        StoreError::StoreFull { limit, held, .. } => {
            assert_eq!(limit, 150_000);
            assert!((140_000..150_000).contains(&held), "{held}");
        }
        other => panic!("{other:?}"),
    }
    let claimed = claim(&store, &stack, Resolution::apply("")).await;
    complete(&store, claimed).await;
    push_bytes(&other, &stack, "three", 40_000, u64::MAX)
        .await
        .unwrap();
    other.set_byte_limit(None).await.unwrap();
    push_bytes(&other, &stack, "four", 400_000, u64::MAX)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_plugin_goes_with_the_last_action_that_needs_it() {
    let url = server().database_url();
    let stack = session("plugins");
    let pushes = connect(&url).await;
    push_bytes(&pushes, &stack, "one", 1, u64::MAX)
        .await
        .unwrap();
    push_bytes(&pushes, &stack, "two", 1, u64::MAX)
        .await
        .unwrap();
    let resolves = connect(&url).await;
    let kept = async || resolves.plugin(plugin().digest).await.unwrap().is_some();
    let claimed = claim(&resolves, &stack, Resolution::apply("")).await;
    complete(&resolves, claimed).await;
    assert!(kept().await);
    let claimed = claim(&resolves, &stack, Resolution::apply("")).await;
    complete(&resolves, claimed).await;
    assert!(!kept().await);
}
