//! What is remembered of a resolution.

use std::time::SystemTime;

use airlock_host::Resolution;
use airlock_host::digest::Digest;
use airlock_host::pending::{ActionState, Actor, Decision, Evidence};
use airlock_host::store::ResolvedQuery;
use airlock_tests::{Backend, Tester, durable, push as volatile_or_durable};
use serde_json::json;

use super::conversation::{Conversation, find, ledger, push};

pub async fn a_resolution_is_recorded_with_its_reasons_and_its_result<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let host = conversation.backend.host().await;
    let session = conversation.session(&host).await;
    let grace = Actor::person("Grace").with_evidence(Evidence::Client);
    let extra = json!({"ticket": 7}).as_object().cloned().unwrap();
    for (resolution, state) in [
        (Resolution::apply("looks right"), ActionState::Applied),
        (Resolution::discard("not now"), ActionState::Discarded),
    ] {
        let steps = json!([ledger("applied"), {"do": "text", "text": "done"}]);
        let id = push(&session, durable("Recorded", steps)).await;
        let resolution = resolution.with_extra(extra.clone()).with_id(id.clone());
        let outcome = session
            .resolve(resolution.clone(), grace.clone())
            .await
            .unwrap();

        // As another host finds it.
        let host = conversation.backend.host().await;
        let found = find(&host, &id).await;
        assert_eq!(found.state, state);
        assert_eq!(found.session, conversation.id());
        let resolved = found.resolved.clone().unwrap();
        assert_eq!(resolved.decision, resolution.decision);
        assert_eq!(resolved.reason, resolution.reason);
        assert_eq!(resolved.decided_by, grace);
        assert_eq!(resolved.extra.as_ref(), Some(&extra));
        let json = serde_json::to_vec(&outcome).unwrap();
        assert_eq!(resolved.result, Some(Digest::of(&json)));
        assert_eq!(resolved.error, None);
        assert!(resolved.at <= SystemTime::now());
        let query = ResolvedQuery {
            session: Some(conversation.id()),
            workspace: None,
            limit: 1,
        };
        let last = host.durable.unwrap().resolved_actions(&query).await;
        assert_eq!(last.unwrap(), [found]);
    }
}

pub async fn a_failed_reject_is_recorded_as_a_discard_with_its_error<B: Backend>() {
    let conversation = Conversation::<B>::new().await;
    let host = conversation.backend.host().await;
    let session = conversation.session(&host).await;
    for (fault, text) in [
        (
            json!({"do": "tool-error", "message": "still in use"}),
            "still in use",
        ),
        (json!({"do": "trap"}), "tool `custom_tool` crashed: "),
    ] {
        let step = volatile_or_durable("Gone", json!({"apply": [], "reject": [fault]}));
        let id = push(&session, step).await;
        let error = session
            .resolve(Resolution::discard(""), Tester)
            .await
            .unwrap_err();
        let found = find(&host, &id).await;
        assert_eq!(found.state, ActionState::Discarded);
        let resolved = found.resolved.unwrap();
        assert_eq!(resolved.decision, Decision::Discard);
        let told = resolved.error.unwrap();
        assert!(told.starts_with(text), "{told}");
        assert_eq!(told, error.to_string());
        assert_eq!(resolved.result, None);
        assert!(!session.has_pending().await.unwrap());
    }
}
