//! What becomes of actions whose preview is in the memory of an instance, when a call of that
//! plugin ends in one way or another.

use std::sync::Arc;
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use airlock_host::event::Event;
use airlock_host::pending::{ActionState, Decision, SessionId};
use airlock_host::store::MemoryStore;
use airlock_host::{Error, Limits, Resolution, Session};
use airlock_tests::{Puppet, Tester, durable, poll_once, push};
use serde_json::{Value, json};

/// How a call of the plugin is brought to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It ends by itself.
    ByItself,
    /// Its caller cancels as soon as it has begun.
    Cancelled,
    /// Its future is dropped.
    Dropped,
}

/// Such a call that does `steps`: of a tool, or a decision about the topmost action, which does
/// them too.
#[derive(Debug, Clone, Copy)]
enum What {
    Call,
    Decision(Decision),
}

const WHAT: [What; 3] = [
    What::Call,
    What::Decision(Decision::Apply),
    What::Decision(Decision::Discard),
];

async fn puppet(cancel: &CancellationToken) -> Puppet {
    let cancel = cancel.clone();
    let limits = Limits::default().with_call_time(Duration::from_secs(2));
    Puppet::with(|session| {
        let session = session.limits(limits);
        session.observer(move |_, event| {
            if matches!(event, Event::Log { message, .. } if message == "begun") {
                cancel.cancel();
            }
        })
    })
    .await
}

/// The states of a volatile action and of a durable one, after such an end of something else.
async fn states_after(what: What, end: End, steps: Value) -> Vec<ActionState> {
    let cancel = CancellationToken::new();
    let puppet = puppet(&cancel).await;
    let kept = json!({"volatile": true, "apply": [{"do": "text", "text": "kept"}]});
    puppet.push(push("Volatile", kept)).await;
    puppet.push(durable("Durable", json!([]))).await;
    let mut steps = steps.as_array().expect("steps").clone();
    if end == End::Cancelled {
        steps.insert(0, json!({"do": "log", "message": "begun"}));
    }
    let fields = json!({"volatile": true, "apply": steps, "reject": steps});
    let topmost = puppet.push(push("Topmost", fields)).await;
    {
        let params = json!({"steps": steps});
        let running = async {
            match what {
                What::Call => {
                    let called = puppet.session.call("puppet", &params).cancelled_by(&cancel);
                    called.await.map(drop)
                }
                What::Decision(decision) => {
                    let resolution = Resolution::new(decision, "").with_id(topmost.as_str());
                    let resolved = puppet
                        .session
                        .resolve(resolution, Tester)
                        .cancelled_by(&cancel);
                    resolved.await.map(drop)
                }
            }
        };
        let mut running = Box::pin(running);
        match end {
            End::Dropped => assert!(poll_once(running.as_mut()).await.is_none()),
            End::ByItself | End::Cancelled => {
                running.await.unwrap_err();
            }
        }
    }
    let stack = puppet.session.pending().await.unwrap();
    let state_of = |label: &str| {
        let found = stack.iter().find(|it| it.action.label == label);
        found.map(|it| it.state)
    };
    let volatile = state_of("Volatile").expect("it is listed");
    // What the listing says is what comes of an apply.
    let id = &stack
        .iter()
        .find(|it| it.action.label == "Volatile")
        .unwrap()
        .action
        .id;
    let applied = puppet
        .resolve(Resolution::apply("").with_id(id.clone()))
        .await;
    match volatile {
        ActionState::Pending => assert_eq!(applied.unwrap().text(), "kept"),
        ActionState::Lost => {
            let error = applied.unwrap_err();
            assert!(matches!(error.root(), Error::InstanceGone), "{error}");
            assert!(error.to_string().contains("only in memory, and it is lost"));
        }
        other => panic!("{other}"),
    }
    let topmost = match what {
        // It failed, and is there to be tried again, in the same state as the other; but for a
        // discard, which removes it.
        What::Decision(Decision::Discard) if end != End::Dropped => None,
        _ => Some(volatile),
    };
    assert_eq!(state_of("Topmost"), topmost, "{what:?} {end:?}");
    vec![volatile, state_of("Durable").expect("it is listed")]
}

#[tokio::test]
async fn a_guest_that_ends_a_call_by_itself_keeps_its_volatile_actions() {
    use ActionState::Pending;
    for what in WHAT {
        for (end, steps) in [
            (End::Cancelled, json!([{"do": "spin-until-cancelled"}])),
            (End::ByItself, json!([{"do": "cancelled"}])),
            (
                End::ByItself,
                json!([{"do": "tool-error", "message": "no"}]),
            ),
            (End::ByItself, json!([{"do": "failed", "message": "no"}])),
        ] {
            let found = states_after(what, end, steps.clone()).await;
            assert_eq!(found, [Pending, Pending], "{what:?} {end:?} {steps}");
        }
    }
}

#[tokio::test]
async fn a_guest_that_is_stopped_in_the_middle_of_a_call_loses_its_volatile_actions_at_once() {
    use ActionState::{Lost, Pending};
    for what in WHAT {
        for (end, steps) in [
            (End::Cancelled, json!([{"do": "spin"}])),
            (End::Cancelled, json!([{"do": "block"}])),
            (End::Dropped, json!([{"do": "block"}])),
            (End::ByItself, json!([{"do": "trap"}])),
            (End::ByItself, json!([{"do": "exit", "code": 0}])),
            (End::ByItself, json!([{"do": "allocate", "mib": 512}])),
            // Its time is up.
            (End::ByItself, json!([{"do": "spin"}])),
        ] {
            let found = states_after(what, end, steps.clone()).await;
            assert_eq!(found, [Lost, Pending], "{what:?} {end:?} {steps}");
        }
    }
}

/// Another session of the same id, and whoever looks into the store.
#[tokio::test]
async fn others_who_share_the_stack_see_what_was_lost() {
    let store = Arc::new(MemoryStore::new());
    let id = SessionId::from("shared");
    let puppet = Puppet::with(|session| session.id(id.clone()).store(store.clone())).await;
    let other = Session::builder()
        .model_decides()
        .id(id)
        .store(store)
        .open()
        .unwrap();
    puppet
        .push(push("Volatile", json!({"volatile": true})))
        .await;
    let state = async || other.pending().await.unwrap()[0].state;
    assert_eq!(state().await, ActionState::Pending);
    let changed = other.pending_changed();
    puppet.call(json!([{"do": "trap"}])).await.unwrap_err();
    changed.await;
    assert_eq!(state().await, ActionState::Lost);
    other
        .resolve(Resolution::discard("lost"), Tester)
        .await
        .unwrap();
    assert!(!puppet.session.has_pending().await.unwrap());
}

#[tokio::test]
async fn volatile_actions_are_lost_with_their_session() {
    let store = Arc::new(MemoryStore::new());
    let id = SessionId::from("shared");
    let puppet = Puppet::with(|session| session.id(id.clone()).store(store.clone())).await;
    puppet
        .push(push("Volatile", json!({"volatile": true})))
        .await;
    puppet.push(durable("Durable", json!([]))).await;
    drop(puppet);
    let other = Session::builder()
        .model_decides()
        .id(id)
        .store(store)
        .open()
        .unwrap();
    let states: Vec<_> = other
        .pending()
        .await
        .unwrap()
        .iter()
        .map(|it| it.state)
        .collect();
    assert_eq!(states, [ActionState::Pending, ActionState::Lost]);
}
