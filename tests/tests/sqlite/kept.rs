//! What the file keeps of an action, to the byte.

use std::time::Duration;

use airlock_host::Resolution;
use airlock_host::pending::{ActionState, Actor, Decision, Evidence};
use airlock_host::store::DurableStore;
use airlock_tests::{Tester, push};
use serde_json::json;

use crate::{StoreFolder, sqlite};

#[tokio::test]
async fn an_end_leaves_a_trail_and_drops_what_only_the_plugin_needed() {
    // What is large is kept elsewhere in the file.
    for length in [1, 5_000] {
        check_trail("x".repeat(length)).await;
    }
}

async fn check_trail(text: String) {
    let place = StoreFolder::new();
    let store = place.open().await;
    let puppet = place.puppet(&store).await;
    let id = puppet
        .push(push(
            "Rename: 1 file",
            json!({
                "details": format!(r#"{{"old":"a\u0000{text}"}}"#),
                "source": "renamer",
                "apply": [{"do": "text", "text": text}],
            }),
        ))
        .await;
    let extra = json!({"ticket": 7}).as_object().unwrap().clone();
    let resolution = Resolution::apply("looks\0right").with_extra(extra.clone());
    let ada = Actor::person("ada\0@here").with_evidence(Evidence::Terminal);
    let outcome = puppet
        .session
        .resolve(resolution, ada.clone())
        .await
        .unwrap();
    assert_eq!(outcome.text(), text);
    let record = store.find(&id.as_str().into()).await.unwrap().unwrap();
    assert_eq!((record.state, record.attempts), (ActionState::Applied, 1));
    assert_eq!(record.session.as_str(), "one");
    assert_eq!(
        record.action.details.unwrap(),
        json!({"old": format!("a\0{text}")})
    );
    assert_eq!(
        record.action.workspace.as_deref(),
        puppet.session.workspace()
    );
    assert_eq!(record.lease, None);
    let resolved = record.resolved.unwrap();
    assert_eq!(resolved.decision, Decision::Apply);
    assert_eq!(resolved.decided_by, ada);
    assert_eq!(resolved.reason, "looks\0right");
    assert_eq!(resolved.extra, Some(extra));
    let expected = airlock_host::digest::Digest::of(&serde_json::to_vec(&outcome).unwrap());
    assert_eq!(resolved.result, Some(expected));
    let states: u32 = sqlite(&place.file())
        .query_row(
            "SELECT count(guest_state) + (SELECT count(*) FROM large_guest_states) FROM actions",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(states, 0);
}

#[tokio::test]
async fn a_volatile_action_is_lost_with_its_host_and_can_then_only_be_discarded() {
    let place = StoreFolder::new();
    let id = {
        let store = place.open().await;
        let puppet = place.puppet(&store).await;
        let fields = json!({"volatile": true, "apply": [{"do": "text", "text": "alive"}]});
        puppet.push(push("Alive", fields.clone())).await;
        assert_eq!(
            puppet.resolve(Resolution::apply("")).await.unwrap().text(),
            "alive"
        );
        let id = puppet.push(push("Volatile", fields)).await;
        assert_eq!(
            puppet.session.pending().await.unwrap()[0].state,
            ActionState::Pending
        );
        // Another host sees it, and can't apply it while its own lives.
        let other = place.open().await;
        let session = place.bare(&other);
        assert_eq!(
            session.pending().await.unwrap()[0].state,
            ActionState::Pending
        );
        let error = session
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), "instance-gone", "{error}");
        id
    };
    let store = place.open().await;
    let session = place.bare(&store);
    // A host is gone when the last has let go of its store, and that may be the task that forgets
    // old actions.
    let lost = async {
        while session.pending().await.unwrap()[0].state != ActionState::Lost {
            tokio::task::yield_now().await;
        }
    };
    let patience = Duration::from_secs(60);
    tokio::time::timeout(patience, lost).await.unwrap();
    let error = session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("only in memory"), "{error}");
    session
        .resolve(Resolution::discard("it is gone"), Tester)
        .await
        .unwrap();
    let record = store.find(&id.as_str().into()).await.unwrap().unwrap();
    assert_eq!(record.state, ActionState::Discarded);
}
