//! How a claim ends that was for something else.

use airlock_model::pending::{Decision, Resolution, SessionId};
use airlock_model::store::{Claim, Completion};
use airlock_store_suite::{Backend, Tester};

use crate::actions::{self, Spec};

pub async fn as_an_apply_of_before<B: Backend>() {
    let backend = B::new().await;
    let host = backend.host().await;
    let (store, session) = (&*host.store, SessionId::from("ending"));
    Spec::plain().push(store, &session, 0, 1).await.unwrap();
    let discard = Resolution::discard("now");
    let claim = async || store.claim(&session, &discard, &Tester.into()).await;
    let Ok(Claim::Claimed(claimed)) = claim().await else {
        panic!("there is something to claim");
    };
    let outcome = airlock_store_suite::outcome("what was said then");
    let completion = Completion::AppliedBefore {
        outcome: &outcome,
        decided_by: None,
    };
    store.complete(claimed.lease, completion).await.unwrap();
    let again = discard.clone().with_id(actions::id(0));
    let answer = store.claim(&session, &again, &Tester.into()).await;
    match answer.unwrap() {
        Claim::Resolved(id, decision) => {
            assert_eq!((id, decision), (actions::id(0), Decision::Apply));
        }
        other => panic!("{other:?}"),
    }
}
