//! Ids as people read and type them: their ends.

use serde_json::json;

use crate::airlock::{RENAME, Store, folder, short};

#[test]
fn lists_and_hints_have_the_end_of_an_id_and_programs_all_of_it() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let ran = store.airlock(folder.path(), &["run", "batch-rename", RENAME]);
    let ran = ran.run();
    let listed = store.json(folder.path(), &["pending"]);
    let id = listed["pending"][0]["id"].as_str().unwrap();
    assert_eq!(id.len(), 36, "{listed}");
    let named = format!("id {}\n", short(id));
    let apply = format!("airlock resolve apply --id {} ", short(id));
    assert!(ran.stdout.contains(&named), "{ran:#?}");
    assert!(ran.stderr.contains(&apply), "{ran:#?}");
    let run = |args: &[&str]| store.airlock(folder.path(), args).run().stdout;
    assert!(run(&["pending"]).contains(&named));
    assert!(run(&["pending", "--all"]).contains(&named));
    assert!(
        run(&["show", short(id)]).contains(id),
        "`show` has all of it"
    );

    let coloured = run(&["pending", "--color", "always"]);
    let bold = format!("\u{1b}[1m{}\u{1b}[0m", short(id));
    assert!(coloured.contains(&bold), "{coloured:?}");

    let applied = run(&["apply", short(id), "--reason", "right"]);
    assert!(applied.starts_with("Accept: "), "{applied}");
    let log = run(&["log"]);
    assert!(log.contains(&named) && !log.contains(id), "{log}");
}

#[test]
fn any_part_that_one_id_alone_begins_or_ends_with_will_do_in_every_command() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let (one, two) = (
        store.push_rename(folder.path()),
        store.push_rename(folder.path()),
    );
    let common = one.bytes().rev().zip(two.bytes().rev());
    let common = common.take_while(|(one, two)| one == two).count();
    // Both ids begin with the same time, so a short end may be a beginning of both.
    let mut ends = ((common + 1).max(4)..one.len()).map(|length| &one[one.len() - length..]);
    let end = ends.find(|end| !two.starts_with(end)).unwrap();
    let beginning = &two[..two.len() - 1];
    for (args, expected) in [
        (&["show", end][..], &one),
        (&["show", beginning], &two),
        (&["policy", "explain", end], &one),
        (&["refresh", end], &one),
        (&["discard", beginning, "--reason", "x"], &two),
    ] {
        let ran = store.airlock(folder.path(), &[args, &["--json"]].concat());
        let ran = ran.run();
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
        let shown = store.json(folder.path(), &["show", expected]);
        assert_eq!(shown["id"], **expected);
    }
    let state = |id: &str| store.json(folder.path(), &["show", id])["state"].clone();
    assert_eq!(state(&two), "discarded");
    let forgotten = store.json(folder.path(), &["store", "forget", beginning]);
    assert_eq!(forgotten, json!({"forgotten": two}));
}

#[test]
fn a_part_of_several_ids_is_refused_with_each_of_them_and_its_label() {
    let (store, folder) = (Store::new(), folder(&[]));
    let push = |label: &str| {
        let steps = json!([{"do": "push", "label": label, "quiet": true}]);
        store.push(folder.path(), steps)
    };
    let (one, two) = (push("One"), push("Two"));
    let ran = store.airlock(folder.path(), &["apply", &one[..4], "--reason", "x"]);
    let ran = ran.run();
    let expected = format!(
        "error: several actions have an id that begins or ends with {}: {two} (Two), {one} (One)\nhint: give more of the id\n",
        &one[..4]
    );
    assert_eq!((ran.code, &*ran.stderr), (2, &*expected), "{ran:#?}");

    for part in ["0", &one[..3], &one[one.len() - 3..]] {
        let ran = store.airlock(folder.path(), &["apply", part, "--reason", "x"]);
        let ran = ran.run();
        assert_eq!(ran.code, 1, "{ran:#?}");
        let hint = "hint: give at least 4 characters of an id: `airlock pending --all`";
        assert!(ran.stderr.contains(hint), "{ran:#?}");
    }

    let unknown = ["apply", "ffffffff", "--reason", "x"];
    let ran = store.airlock(folder.path(), &unknown).run();
    assert!(
        ran.stderr
            .starts_with("error: there is no action ffffffff in the store "),
        "{ran:#?}"
    );
    assert!(
        ran.stderr.contains("hint: `airlock pending --all` lists"),
        "{ran:#?}"
    );
}
