//! Two previews of one file: applying the first moves the edits of the second, and does not spoil
//! them if they touch other lines.

use std::fs;

use airlock_host::policy::Rehearse;
use airlock_host::{Error, Resolution};
use airlock_tests::{Puppet, durable};
use serde_json::{Value, json};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn replace(find: &str, text: &str) -> Value {
    json!({"do": "fs", "op": "replace", "path": "/workspace/a.txt", "find": find, "text": text})
}

async fn puppet() -> Puppet {
    let puppet = Puppet::with(|session| session.rehearse(Rehearse::Auto)).await;
    fs::write(puppet.workspace().join("a.txt"), LINES).unwrap();
    puppet
}

fn text(puppet: &Puppet) -> String {
    fs::read_to_string(puppet.workspace().join("a.txt")).unwrap()
}

async fn apply(puppet: &Puppet) -> Result<airlock_host::content::ResolutionOutcome, Error> {
    puppet.resolve(Resolution::apply("")).await
}

#[tokio::test]
async fn two_edits_of_one_file_are_both_applied_if_they_touch_other_lines() {
    let reads = json!({"do": "fs", "op": "read", "path": "/workspace/a.txt"});
    let first = durable("Lower", json!([replace("eight", "EIGHT")]));
    let second = durable("Upper", json!([replace("one\n", "zero\nONE\n")]));
    let of_one_call = [json!([reads, first, second])];
    let of_two_calls = [json!([reads, first]), json!([reads, second])];
    for calls in [&of_one_call[..], &of_two_calls[..]] {
        let puppet = puppet().await;
        for call in calls {
            puppet.call(call.clone()).await.unwrap();
        }
        let upper = apply(&puppet).await.unwrap();
        assert!(!upper.effects.unwrap().effects.moved);
        let pending = puppet.session.pending().await.unwrap();
        let now = puppet.session.moved_effects(&pending[0].action.id).await;
        let now = now.unwrap().expect("its edits are the same elsewhere");
        assert!(
            now.moved
                && now.changes[0]
                    .diff
                    .as_ref()
                    .unwrap()
                    .contains("@@ -6,4 +6,4 @@")
        );
        apply(&puppet).await.unwrap();
        let both = LINES.replace("eight", "EIGHT").replace("one", "zero\nONE");
        assert_eq!(text(&puppet), both);
    }
}

#[tokio::test]
async fn edits_that_touch_each_other_stay_stale() {
    for (first, second) in [
        (replace("four", "4"), replace("four", "IV")),
        (replace("five", "5"), replace("four", "4")),
        (replace("five\n", ""), replace("four", "4")),
    ] {
        let puppet = puppet().await;
        let pushes = [
            durable("One", json!([first])),
            durable("Other", json!([second])),
        ];
        puppet.call(json!(pushes)).await.unwrap();
        apply(&puppet).await.unwrap();
        let before = text(&puppet);
        let error = apply(&puppet).await.unwrap_err();
        assert!(
            matches!(error, Error::Stale { .. }),
            "{first} {second}: {error}"
        );
        assert_eq!(text(&puppet), before);
        let pending = puppet.session.pending().await.unwrap();
        let now = puppet.session.moved_effects(&pending[0].action.id).await;
        assert_eq!(now.unwrap(), None);
    }
}

#[tokio::test]
async fn what_somebody_else_changed_in_other_lines_is_kept() {
    let puppet = puppet().await;
    puppet
        .push(durable("It", json!([replace("two", "TWO")])))
        .await;
    let other = LINES.replace("eight\n", "eight\nnine\n");
    fs::write(puppet.workspace().join("a.txt"), &other).unwrap();
    apply(&puppet).await.unwrap();
    assert_eq!(text(&puppet), other.replace("two", "TWO"));
}
