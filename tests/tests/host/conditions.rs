//! What an apply sees of time and randomness: what its rehearsal saw, unless it is granted more.

use std::fs;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use airlock_host::policy::Rehearse;
use airlock_host::store::MemoryStore;
use airlock_host::{Error, Policy, Resolution, Session};
use airlock_tests::{Puppet, Tester, durable, plugin};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A puppet that is rehearsed, and an action that writes down what the steps say.
async fn that_writes(policy: Policy, steps: Value) -> Puppet {
    let puppet = Puppet::granted(policy.with_rehearse(Rehearse::Auto)).await;
    let mut steps = steps.as_array().unwrap().clone();
    steps.push(json!({"do": "write-said", "path": "said"}));
    puppet.push(durable("It", Value::Array(steps))).await;
    puppet
}

fn said(puppet: &Puppet) -> Vec<String> {
    let said = fs::read_to_string(puppet.workspace().join("said")).unwrap();
    said.lines().map(str::to_owned).collect()
}

/// How often somebody has to decide, and what that has written.
async fn decided(puppet: &Puppet) -> (usize, Vec<String>) {
    let mut apply = Resolution::apply("");
    for decisions in 1..=4 {
        match puppet.resolve(apply.clone()).await {
            Ok(_) => return (decisions, said(puppet)),
            Err(Error::Different { difference, .. }) => {
                apply = apply.with_review(difference.now.digest());
            }
            Err(Error::NotReviewed { now, .. }) => apply = apply.with_review(now.digest()),
            Err(error) => panic!("{error:?}"),
        }
        assert!(!puppet.workspace().join("said").exists());
    }
    panic!("it never does what was decided about");
}

fn nanoseconds(line: &str) -> u64 {
    let told: Value = serde_json::from_str(line).unwrap();
    told["monotonic"].as_u64().unwrap()
}

#[tokio::test]
async fn without_a_grant_an_apply_has_the_time_and_the_randomness_of_its_rehearsal() {
    let steps = json!([
        {"do": "now"}, {"do": "now"}, {"do": "block", "ms": 30}, {"do": "now"},
        {"do": "random", "bytes": 8},
    ]);
    let puppet = that_writes(Policy::default(), steps).await;
    let (decisions, said) = decided(&puppet).await;
    assert_eq!(decisions, 1);
    let [first, second, third] = [0, 1, 2].map(|line| nanoseconds(&said[line]));
    // It goes on by looking, and by waiting.
    assert!(first < second && second < 1_000_000, "{said:?}");
    let waited = third - second;
    assert!((30_000_000..31_000_000).contains(&waited), "{said:?}");
}

#[tokio::test]
async fn with_fresh_randomness_whoever_decides_again_gets_what_they_were_shown() {
    let steps = json!([{"do": "random", "bytes": 8}]);
    let puppet = that_writes(Policy::default().with_fresh_randomness(), steps).await;
    let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
    let Error::Different { difference, .. } = error else {
        panic!("{error:?}");
    };
    // Once without a review, which is refused.
    let (decisions, said) = decided(&puppet).await;
    assert_eq!(decisions, 2);
    let shown = difference.now.changes[0].diff.as_ref().unwrap();
    assert!(shown.contains(&said[0]), "{shown} {said:?}");
    let reviewed = difference.reviewed.changes[0].diff.as_ref().unwrap();
    assert!(!reviewed.contains(&said[0]), "{reviewed} {said:?}");
}

#[tokio::test]
async fn with_real_time_an_apply_sees_when_it_was_decided_about() {
    let steps = json!([{"do": "now"}]);
    let puppet = that_writes(Policy::default().with_real_time(), steps).await;
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (decisions, said) = decided(&puppet).await;
    assert!(decisions > 1);
    let told: Value = serde_json::from_str(&said[0]).unwrap();
    let wall = told["wall"].as_u64().unwrap();
    assert!(wall >= before.as_millis() as u64, "{wall} {before:?}");
}

#[tokio::test]
async fn what_was_pushed_without_a_grant_is_applied_without_it() {
    let store = Arc::new(MemoryStore::new());
    let workspace = TempDir::new().unwrap();
    let puppet = plugin("puppet").await;
    let open = |policy: Policy| {
        let session = Session::builder().model_decides().id("one");
        let session = session.workspace(workspace.path()).store(store.clone());
        session.bind(puppet.under(policy)).open().unwrap()
    };
    let granted = || Policy::default().with_real_time().with_fresh_randomness();
    let steps = json!([
        {"do": "random", "bytes": 8}, {"do": "now"}, {"do": "write-said", "path": "said"},
    ]);
    let steps = json!({"steps": [durable("It", steps)]});
    for (then, now) in [
        (Policy::default(), granted()),
        (granted(), Policy::default()),
    ] {
        open(then).call("puppet", &steps).await.unwrap();
        let resolving = open(now);
        resolving
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap();
        fs::remove_file(workspace.path().join("said")).unwrap();
    }
    // Where both grant it, it is another one.
    open(granted()).call("puppet", &steps).await.unwrap();
    let resolving = open(granted()).resolve(Resolution::apply(""), Tester).await;
    assert!(matches!(resolving, Err(Error::Different { .. })));
}
