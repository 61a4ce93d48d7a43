//! Rule 7: one action is consumed by one resolution, however many race for it.

use std::sync::Arc;

use airlock_host::pending::{ActionId, Decision};
use airlock_host::policy::Rehearse;
use airlock_host::store::MemoryStore;
use airlock_host::{Error, Resolution, Session};
use airlock_tests::{Puppet, Tester, durable, plugin, push};
use serde_json::json;
use tempfile::TempDir;

use Decision::{Apply, Discard};

struct Race {
    actions: usize,
    racers: usize,
    /// The first action, or else the topmost.
    by_id: bool,
    /// Racers take turns with these.
    decisions: &'static [Decision],
    /// Sessions of one id and store.
    sessions: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_action_is_consumed_once_however_many_race_for_it() {
    for by_id in [true, false] {
        for decisions in [&[Apply] as &[Decision], &[Discard], &[Apply, Discard]] {
            for (actions, racers) in [(1, 50), (100, 150)] {
                for sessions in [1, 3] {
                    let race = Race {
                        actions,
                        racers,
                        by_id,
                        decisions,
                        sessions,
                    };
                    run(race).await;
                }
            }
        }
    }
}

async fn run(race: Race) {
    let puppet = plugin("puppet").await;
    let store = Arc::new(MemoryStore::new());
    let workspace = TempDir::new().unwrap();
    let ledger = workspace.path().join("ledger");
    std::fs::write(&ledger, "").unwrap();
    let open = |_| {
        let session = Session::builder()
            .model_decides()
            .id("raced")
            .store(store.clone());
        let session = session
            .workspace(workspace.path())
            .rehearse(Rehearse::Never)
            .bind(&puppet);
        session.open().unwrap()
    };
    let sessions: Vec<Session> = (0..race.sessions).map(open).collect();
    let write =
        json!({"do": "fs", "op": "append", "path": "/workspace/ledger", "text": "applied\n"});
    let times = json!({"apply": [write], "times": race.actions, "quiet": true});
    let params = json!({"steps": [push("Prize", times)]});
    sessions[0].call("puppet", &params).await.unwrap();
    let pending = sessions[0].pending().await.unwrap();
    assert_eq!(pending.len(), race.actions);
    let first: ActionId = pending.last().unwrap().action.id.clone();

    let racers: Vec<_> = (0..race.racers)
        .map(|index| {
            let session = sessions[index % sessions.len()].clone();
            let decision = race.decisions[index % race.decisions.len()];
            let mut resolution = Resolution::new(decision, "mine");
            resolution.id = race.by_id.then(|| first.clone());
            tokio::spawn(async move {
                loop {
                    match session.resolve(resolution.clone(), Tester).await {
                        // Another one has written to the ledger meanwhile: that is pending again.
                        Err(error) if error.root().kind() == "not-committed" => {}
                        resolved => break (decision, resolved),
                    }
                }
            })
        })
        .collect();
    let (mut won, mut refused) = (Vec::new(), Vec::new());
    for racer in racers {
        match racer.await.unwrap() {
            (decision, Ok(_)) => won.push(decision),
            (_, Err(error)) => refused.push(error),
        }
    }

    let expected = if race.by_id { 1 } else { race.actions };
    assert_eq!(won.len(), expected);
    for error in refused {
        match error {
            Error::AlreadyResolved { id, decision } => {
                assert_eq!((id, decision), (first.clone(), won[0]));
            }
            Error::ResolutionInProgress(id) => assert_eq!(id, first),
            Error::NothingPending if !race.by_id => {}
            error => panic!("{error}"),
        }
    }
    let left = sessions[0].pending().await.unwrap().len();
    assert_eq!(left, race.actions - won.len());
    let applied = won.iter().filter(|&&decision| decision == Apply).count();
    let written = std::fs::read_to_string(ledger).unwrap();
    assert_eq!(written.lines().count(), applied, "the guest was asked once");
}

#[tokio::test]
async fn an_id_that_was_resolved_before_is_answered_with_how() {
    let puppet = Puppet::new().await;
    for (resolution, past) in [
        (Resolution::apply(""), "applied"),
        (Resolution::discard(""), "discarded"),
    ] {
        let id = puppet.push(durable("Once", json!([]))).await;
        puppet.push(durable("Other", json!([]))).await;
        let resolution = resolution.with_id(id.as_str());
        puppet.resolve(resolution).await.unwrap();
        for again in [Resolution::apply(""), Resolution::discard("")] {
            let again = puppet.resolve(again.with_id(id.as_str())).await;
            let text = format!("Pending action {id} was already {past}.");
            assert_eq!(again.unwrap_err().to_string(), text);
        }
    }
    assert_eq!(puppet.labels().await, ["Other", "Other"]);
    let nobody = puppet
        .resolve(Resolution::apply("").with_id("nobody"))
        .await;
    let text = "There is no pending action nobody in this session.";
    assert_eq!(nobody.unwrap_err().to_string(), text);
}
