//! `airlock show --patch`: the changes of an action, for `git apply`.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::airlock::{Store, folder, names};

#[test]
fn git_applies_the_patch_of_an_action_to_another_copy_of_the_folder() {
    let (store, here, there) = (
        Store::new(),
        folder(&["a", "b", "c"]),
        folder(&["a", "b", "c"]),
    );
    let apply = json!([
        {"do": "fs", "op": "write", "path": "a", "text": "other\n"},
        {"do": "fs", "op": "rename", "path": "b", "to": "new b"},
        {"do": "fs", "op": "unlink", "path": "c"},
        {"do": "fs", "op": "mkdir", "path": "d"},
        {"do": "fs", "op": "write", "path": "d/binary", "text": "a\u{0}b"},
    ]);
    let steps = json!([{"do": "push", "label": "do it", "apply": apply}]);
    let id = store.push(here.path(), steps);
    let shown = store.airlock(here.path(), &["show", &id, "--patch"]).run();
    assert_eq!((shown.code, &*shown.stderr), (0, ""), "{shown:#?}");
    assert!(shown.stdout.starts_with("diff --git "), "{shown:#?}");
    let patch = store.path().with_file_name("patch");
    fs::write(&patch, &shown.stdout).unwrap();
    let mut git = Command::new("git");
    git.arg("apply").arg(&patch).current_dir(&there);
    let applied = git.env("GIT_CEILING_DIRECTORIES", "/").output().unwrap();
    assert!(applied.status.success(), "{applied:#?} of {}", shown.stdout);

    store.json(here.path(), &["apply", &id, "--reason", "r"]);
    assert_eq!(names(&there), names(&here));
    for file in ["a", "new b", "d/binary"] {
        let read = |folder: &tempfile::TempDir| fs::read(folder.path().join(file)).unwrap();
        assert_eq!(read(&there), read(&here), "{file}");
    }
    // It is still known once the action is resolved.
    let later = store.airlock(here.path(), &["show", &id, "--patch"]).run();
    assert_eq!(later.stdout, shown.stdout);
}

#[test]
fn a_patch_that_would_lack_contents_is_an_error_that_names_the_file() {
    let (store, folder) = (Store::new(), folder(&[]));
    let apply = json!([{"do": "fs", "op": "write", "path": ".env", "text": "PASSWORD=x\n"}]);
    let steps = json!([{"do": "push", "label": "do it", "apply": apply}]);
    let id = store.push(folder.path(), steps);
    let refused = store
        .airlock(folder.path(), &["show", &id, "--patch"])
        .run();
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert_eq!(refused.stdout, "");
    assert!(refused.stderr.contains(".env"), "{refused:#?}");
}
