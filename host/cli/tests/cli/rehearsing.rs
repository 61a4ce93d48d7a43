//! What the host saw an action do before anybody decided, as the commands tell of it.

use std::fs;

use serde_json::json;

use crate::airlock::{RENAME, Store, folder, names};

#[test]
fn every_command_tells_what_the_host_saw() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let run = |args: &[&str]| {
        let ran = store.airlock(folder.path(), args).run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.stdout
    };
    let seen = "Verified by the host: 1 renamed";
    let ran = run(&["run", "batch-rename", RENAME]);
    for line in [seen, "│ renamed a.jpeg -> a.jpg"] {
        assert!(ran.contains(line), "{ran}");
    }
    assert!(run(&["pending"]).contains(seen));
    let listed = store.json(folder.path(), &["pending"]);
    let entry = &listed["pending"][0];
    let counted = json!({"verified": true, "counts": {"renamed": 1}});
    assert_eq!(entry["effects"], counted);
    let id = entry["id"].as_str().unwrap();
    assert!(run(&["show", id]).contains("│ renamed a.jpeg -> a.jpg"));
    let shown = store.json(folder.path(), &["show", id]);
    let change = &shown["effects"]["changes"][0];
    assert_eq!(
        (&change["kind"], &change["from"], &change["path"]),
        (&json!("renamed"), &json!("a.jpeg"), &json!("a.jpg"))
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let resolved = store.json(folder.path(), &["resolve", "apply", "--reason", "yes"]);
    assert_eq!(resolved["effects"]["changes"], json!([change]));
    assert_eq!(names(&folder), ["a.jpg"]);
    // As long as what it was decided by is kept.
    assert!(run(&["show", id]).contains(seen));
}

#[test]
fn what_changed_since_is_shown_and_decided_about_again() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    store.json(folder.path(), &["run", "batch-rename", RENAME]);
    fs::write(folder.path().join("a.jpeg"), "another picture").unwrap();
    let apply = ["resolve", "apply", "--reason", "yes"];
    let ran = store.airlock(folder.path(), &apply).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    for told in [
        "not what was reviewed (1 renamed)",
        "decide again",
        "What it does now:",
        "│ renamed a.jpeg -> a.jpg",
    ] {
        assert!(ran.stderr.contains(told), "{ran:#?}");
    }
    assert_eq!(names(&folder), ["a.jpeg"]);
    assert_eq!(store.airlock(folder.path(), &apply).run().code, 0);
    assert_eq!(names(&folder), ["a.jpg"]);
}

#[test]
fn a_rehearsal_can_be_left_out() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let args = ["run", "batch-rename", RENAME, "--rehearse", "never"];
    let report = store.json(folder.path(), &args);
    assert_eq!(report["effects"], json!(null));
    let listed = store.json(folder.path(), &["pending"]);
    let entry = &listed["pending"][0];
    assert_eq!(entry["effects"], json!(null));
    let id = entry["id"].as_str().unwrap();
    let shown = store.airlock(folder.path(), &["show", id]).run();
    assert!(!shown.stdout.contains("Verified"), "{shown:#?}");
    let apply = ["resolve", "apply", "--reason", "yes"];
    assert_eq!(store.airlock(folder.path(), &apply).run().code, 0);
}
