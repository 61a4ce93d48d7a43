//! Rule 6: cancelling before a callback, while it waits for its turn, and while it runs.

use airlock_host::cancel::CancellationToken;
use airlock_host::event::Event;
use airlock_host::pending::{ActionState, Decision};
use airlock_host::{Error, Resolution};
use airlock_tests::{Puppet, Tester, poll_once, push};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy)]
enum What {
    Call,
    Decision(Decision),
}

#[derive(Debug, Clone, Copy)]
enum Moment {
    Before,
    /// While another call of the same plugin runs.
    Waiting,
    /// While the guest does this.
    Doing(&'static str),
}

const WHAT: [What; 3] = [
    What::Call,
    What::Decision(Decision::Apply),
    What::Decision(Decision::Discard),
];

const MOMENTS: [Moment; 5] = [
    Moment::Before,
    Moment::Waiting,
    Moment::Doing("spin"),
    Moment::Doing("block"),
    Moment::Doing("spin-until-cancelled"),
];

/// A puppet that cancels this as soon as it says that it has begun.
async fn puppet(cancel: &CancellationToken) -> Puppet {
    let cancel = cancel.clone();
    Puppet::with(|session| {
        session.observer(move |_, event| {
            if matches!(event, Event::Log { message, .. } if message == "begun") {
                cancel.cancel();
            }
        })
    })
    .await
}

async fn run(puppet: &Puppet, what: What, steps: &Value, cancel: &CancellationToken) -> Error {
    match what {
        What::Call => {
            let params = json!({"steps": steps});
            let called = puppet.session.call("puppet", &params).cancelled_by(cancel);
            called.await.unwrap_err()
        }
        What::Decision(decision) => {
            let resolution = Resolution::new(decision, "");
            let resolved = puppet
                .session
                .resolve(resolution, Tester)
                .cancelled_by(cancel);
            resolved.await.unwrap_err()
        }
    }
}

#[tokio::test]
async fn cancelling_ends_calls_and_decisions_at_any_moment() {
    for what in WHAT {
        for moment in MOMENTS {
            check(what, moment).await;
        }
    }
}

async fn check(what: What, moment: Moment) {
    let cancel = CancellationToken::new();
    let puppet = puppet(&cancel).await;
    let steps = match moment {
        Moment::Doing(step) => json!([{"do": "log", "message": "begun"}, {"do": step}]),
        Moment::Before | Moment::Waiting => json!([{"do": "text", "text": "too late"}]),
    };
    // One that waits for its turn in the instance that pushed it.
    let fields = json!({"apply": steps, "reject": steps, "volatile": true});
    puppet.push(push("Waits", fields)).await;

    let other = CancellationToken::new();
    let block = json!({"steps": [{"do": "block"}]});
    let blocking = puppet.session.call("puppet", &block).cancelled_by(&other);
    let mut blocking = Box::pin(blocking.into_future());
    let mut running = Box::pin(run(&puppet, what, &steps, &cancel));
    match moment {
        Moment::Before => cancel.cancel(),
        Moment::Waiting => {
            assert!(poll_once(blocking.as_mut()).await.is_none());
            assert!(poll_once(running.as_mut()).await.is_none());
            cancel.cancel();
        }
        Moment::Doing(_) => {}
    }
    let error = running.await;
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(error.to_string(), "cancelled");
    if let Moment::Waiting = moment {
        other.cancel();
        blocking.await.unwrap_err();
    } else {
        drop(blocking);
    }

    let pending = puppet.session.pending().await.unwrap();
    let found: Vec<_> = pending
        .iter()
        .map(|stacked| (stacked.attempts, stacked.last_error.as_deref()))
        .collect();
    let expected: &[(u32, Option<&str>)] = match (what, moment) {
        (What::Call, _) | (_, Moment::Before) => &[(0, None)],
        // It counts as failed: rule 4.
        (What::Decision(Decision::Apply), _) => &[(1, Some("cancelled"))],
        // A discard always removes: rule 5.
        (What::Decision(Decision::Discard), _) => &[],
    };
    assert_eq!(found, expected, "{what:?} {moment:?}");
    let on = json!([{"do": "text", "text": "on"}]);
    assert_eq!(puppet.text(on).await, "on", "{what:?} {moment:?}");
}

#[tokio::test]
async fn a_resolution_whose_future_is_dropped_leaves_the_action_on_the_stack() {
    for (decision, state, attempts) in [
        (Decision::Apply, ActionState::Interrupted, 1),
        (Decision::Discard, ActionState::Pending, 0),
    ] {
        let puppet = Puppet::new().await;
        let block = json!([{"do": "block"}]);
        let fields = json!({"apply": block, "reject": block});
        puppet.push(push("Dropped", fields)).await;
        {
            let mut resolving = Box::pin(puppet.resolve(Resolution::new(decision, "")));
            // The first poll claims the action and enters the guest, which blocks.
            assert!(poll_once(resolving.as_mut()).await.is_none());
            assert!(puppet.labels().await.is_empty());
        }
        let found = puppet.session.pending().await.unwrap();
        assert_eq!(found.len(), 1, "{decision:?}");
        assert_eq!((found[0].state, found[0].attempts), (state, attempts));
    }
}
