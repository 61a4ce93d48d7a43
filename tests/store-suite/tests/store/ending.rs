//! How a claim ends that was for something else.

use airlock_model::actor::DecidedBy;
use airlock_model::pending::{Decision, Resolution, SessionId};
use airlock_model::store::{Claim, Completion};
use airlock_store_suite::{Backend, Tester};

use crate::actions::{self, Spec};

pub async fn as_an_apply_of_before<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let (store, session) = (&host.store, SessionId::from("ending"));
    Spec::plain().push(store, &session, 0, 1).await.unwrap();
    let discard = Resolution::discard("now");
    let claim = async || store.claims.claim(&session, &discard, &Tester.into()).await;
    let Ok(Claim::Claimed(claimed)) = claim().await else {
        panic!("there is something to claim");
    };
    let outcome = airlock_store_suite::outcome("what was said then");
    let completion = Completion::AppliedBefore {
        outcome: &outcome,
        decided_by: None,
    };
    store
        .claims
        .complete(claimed.lease, completion)
        .await
        .unwrap();
    let again = discard.clone().with_id(actions::id(0));
    let answer = store.claims.claim(&session, &again, &Tester.into()).await;
    match answer.unwrap() {
        Claim::Resolved(id, decision) => {
            assert_eq!((id, decision), (actions::id(0), Decision::Apply));
        }
        other => panic!("{other:?}"),
    }
}

pub async fn together_in_one_step<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let (store, session) = (&host.store, SessionId::from("ending"));
    let other = SessionId::from("another");
    let by = DecidedBy::from(Tester);
    for number in 0..6 {
        let of = if number == 5 { &other } else { &session };
        Spec::plain().push(store, of, number, 6).await.unwrap();
    }
    let claim = async |number| {
        let discard = Resolution::discard("by id").with_id(actions::id(number));
        let claimed = store.claims.claim(&session, &discard, &by).await;
        claimed.unwrap()
    };
    let Claim::Claimed(claimed) = claim(2).await else {
        panic!("there is something to claim");
    };
    let mut watch = store.stacks.watch(&session);
    // One that is claimed, of another session or unknown is not among them, wherever it is named.
    let named = [2, 5, 4, 9, 0, 3, 2].map(actions::id);
    let discarded = store.stacks.discard(&session, &named, "enough", &by);
    assert_eq!(discarded.await.unwrap(), [0, 3, 4].map(actions::id));
    watch.changed().await;
    let left = store.stacks.list(&session).await.unwrap();
    let left: Vec<_> = left.iter().map(|it| it.action.id.clone()).collect();
    assert_eq!(left, [actions::id(1)]);
    assert!(matches!(
        claim(4).await,
        Claim::Resolved(_, Decision::Discard)
    ));
    assert_eq!(store.stacks.list(&other).await.unwrap().len(), 1);
    let outcome = airlock_store_suite::outcome("what was said then");
    let completion = Completion::Succeeded(&outcome);
    store
        .claims
        .complete(claimed.lease, completion)
        .await
        .unwrap();
    for none in [&named[..], &[]] {
        let discarded = store.stacks.discard(&session, none, "again", &by);
        assert_eq!(discarded.await.unwrap(), []);
    }
    let more = [1, 0].map(actions::id);
    let discarded = store.stacks.discard(&session, &more, "the last", &by);
    assert_eq!(discarded.await.unwrap(), [actions::id(1)]);
    if let Some(durable) = &host.durable {
        let found = durable.find(&actions::id(3)).await.unwrap().unwrap();
        let resolved = found.resolved.unwrap();
        assert_eq!(
            (resolved.decision, &*resolved.reason),
            (Decision::Discard, "enough")
        );
        assert_eq!(resolved.decided_by, by);
    }
}
