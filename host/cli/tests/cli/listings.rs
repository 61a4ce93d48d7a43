//! What listings say: which actions they mark, whose they are, when that was, and in which rows.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::airlock::{Store, folder, names, short};
use crate::terminal::Terminal;

fn push(said: &str) -> Value {
    json!([
        {"do": "text", "text": said},
        {"do": "push", "label": "One", "quiet": true},
        {"do": "push", "label": "One", "quiet": true},
    ])
}

/// What is told of each listed action below the line that says where it is from.
fn marks(store: &Store, folder: &Path, args: &[&str]) -> Vec<String> {
    let ran = store.airlock(folder, args).run();
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:#?}");
    let lines = ran.stdout.lines().map(str::trim);
    let is_mark =
        |line: &&str| line.starts_with("the same") || line.starts_with("previewed before");
    lines.filter(is_mark).map(str::to_owned).collect()
}

#[test]
fn what_one_call_pushed_is_marked_beside_that_of_others_alone() {
    let (store, folder) = (Store::new(), folder(&[]));
    let top = store.push(folder.path(), push("shown"));
    let none: [String; 0] = [];
    assert_eq!(marks(&store, folder.path(), &["pending"]), none);
    let apply = ["resolve", "apply", "--id", &top, "--reason", "x"];
    assert_eq!(store.airlock(folder.path(), &apply).run().code, 0);
    assert_eq!(marks(&store, folder.path(), &["pending"]), none);

    let below = store.json(folder.path(), &["pending"]);
    let below = short(below["pending"][0]["id"].as_str().unwrap());
    store.push(folder.path(), push("something else"));
    let perhaps = format!(
        "the same plugin, tool, label and details as {below}: perhaps the same preview twice"
    );
    let both = [perhaps.clone(), perhaps];
    assert_eq!(marks(&store, folder.path(), &["pending"]), both);
    assert_eq!(marks(&store, folder.path(), &["pending", "--all"]), both);
    // With the calls, more is known.
    assert_eq!(marks(&store, folder.path(), &["pending", "-v"]), none);
    let other = store.push(folder.path(), push("shown"));
    let same = format!("the same preview as {below}");
    let both = [same.clone(), same];
    assert_eq!(marks(&store, folder.path(), &["pending", "-v"]), both);

    let apply = ["resolve", "apply", "--id", &other, "--reason", "x"];
    assert_eq!(store.airlock(folder.path(), &apply).run().code, 0);
    let since = format!(
        "previewed before {} was applied to the same workspace: preview it again if that touched the same files",
        short(&other)
    );
    let told = marks(&store, folder.path(), &["pending", "-v"]);
    assert_eq!(
        told.iter().filter(|mark| **mark == since).count(),
        3,
        "{told:?}"
    );
}

#[test]
fn the_nearest_workspace_above_is_meant_and_programs_are_told_too() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let near = folder.path().join("near");
    let below = near.join("below");
    fs::create_dir_all(&below).unwrap();
    fs::write(near.join("b.jpeg"), "b").unwrap();
    let far = store.push_rename(folder.path());
    let id = store.push_rename(&near);
    let resolve = ["resolve", "apply", "--reason", "from below", "--json"];
    let note = |above: &Path| {
        let above = above.canonicalize().unwrap();
        let above = above.display();
        format!(
            "note: nothing is pending for this directory; this is about the workspace above it, {above}\n"
        )
    };
    let ran = store.airlock(&below, &resolve).run();
    assert_eq!((ran.code, ran.stderr), (0, note(&near)), "{}", ran.stdout);
    assert!(near.join("b.jpg").exists());
    // Its log is the nearest's as long as something is pending there.
    fs::write(near.join("c.jpeg"), "c").unwrap();
    let other = store.push_rename(&near);
    let ran = store.airlock(&below, &["log", "--json"]).run();
    assert_eq!(ran.stderr, note(&near));
    assert_eq!(ran.json()["log"][0]["id"], *id);
    let discard = ["resolve", "discard", "--id", &other, "--reason", "x"];
    let ran = store.airlock(&below, &discard).run();
    assert_eq!(
        (ran.code, &*ran.stderr),
        (0, ""),
        "an id says which is meant"
    );
    let ran = store.airlock(&below, &["pending", "--json"]).run();
    assert_eq!(ran.stderr, note(folder.path()));
    assert_eq!(ran.json()["pending"][0]["id"], *far);
    // A preview is made where the user is.
    assert_eq!(names(&folder), ["a.jpeg", "near"]);
    let run = ["run", "batch-rename", crate::airlock::RENAME, "--json"];
    let ran = store.airlock(&below, &run).run();
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    assert_eq!(ran.json()["details"], json!({"renames": []}), "{ran:#?}");
}

#[test]
fn an_action_that_can_not_be_read_keeps_the_directory_its_own() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("b.jpeg"), "b").unwrap();
    store.push_rename(folder.path());
    let id = store.push_rename(&below);
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    let broken = r#"UPDATE actions SET grants = '{"newer": true}' WHERE id = ?"#;
    assert_eq!(connection.execute(broken, [&id]).unwrap(), 1);
    drop(connection);
    let ran = store.airlock(&below, &["pending"]).run();
    assert!(ran.stdout.starts_with("Nothing is pending"), "{ran:#?}");
    let warning = format!("action {id} is left out");
    assert!(ran.stderr.contains(&warning), "{ran:#?}");
    assert!(!ran.stderr.contains("above"), "{ran:#?}");
}

#[test]
fn times_are_the_users_own_whatever_their_time_zone_is_said_to_be() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    let id = store.push_rename(folder.path());
    let previewed = |zone: &str, args: &[&str]| {
        let ran = store.airlock(folder.path(), args).env("TZ", zone).run();
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{zone:?}: {ran:#?}");
        ran.stdout
    };
    for (zone, offset) in [("XXX-3", " +03:00 ("), ("XXX3:30", " -03:30 (")] {
        assert!(previewed(zone, &["show", &id]).contains(offset), "{zone}");
    }
    for zone in [
        "",
        ":",
        "Nowhere/At_All",
        "XXX+99",
        "a b",
        "/",
        ":/dev/null",
    ] {
        let shown = previewed(zone, &["show", &id]);
        assert!(shown.contains("  previewed  20"), "{zone:?}: {shown}");
    }
    let discard = ["resolve", "discard", "--id", &id, "--reason", "x"];
    assert_eq!(store.airlock(folder.path(), &discard).run().code, 0);
    assert!(previewed("XXX-3", &["log"]).contains(" +03:00 ("));
    let log = store.json(folder.path(), &["log"]);
    let at = log["log"][0]["resolved"]["at"].as_str().unwrap();
    assert!(at.ends_with('Z'), "programs get UTC: {at}");
}

#[test]
fn who_decided_has_a_name_without_one_in_the_environment() {
    let own = fs::metadata("/proc/self").unwrap().uid().to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let users = users
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let name = users.filter(|user| user.get(2) == Some(&&*own));
    let name = name.map(|user| user[0].to_owned()).next();
    let check = |variables: &[(&str, &str)], expected: &str| {
        let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
        store.push_rename(folder.path());
        let discard = ["resolve", "discard", "--reason", "x"];
        let ran = variables.iter().fold(
            store.airlock(folder.path(), &discard),
            |airlock, (name, value)| airlock.env(name, value),
        );
        assert_eq!(ran.run().code, 0);
        let log = store.json(folder.path(), &["log"]);
        let by = &log["log"][0]["resolved"]["decidedBy"]["name"];
        let by = by.as_str().unwrap_or_else(|| panic!("{log}"));
        assert_eq!(by.split_once('@').unwrap().0, expected, "{variables:?}");
    };
    check(&[], &name.unwrap_or_else(|| format!("uid{own}")));
    check(&[("LOGNAME", "ann")], "ann");
    check(&[("USER", ""), ("LOGNAME", "ann")], "ann");
    check(&[("USER", "bob"), ("LOGNAME", "ann")], "bob");
}

#[test]
fn long_names_go_on_below_where_they_began() {
    const COLUMNS: usize = 40;
    let (store, folder) = (Store::new(), folder(&[]));
    let deep = folder
        .path()
        .join("a-directory-with-a-long-name/and-another-one-below-that");
    fs::create_dir_all(&deep).unwrap();
    let label = "A label that is longer than a narrow terminal is wide";
    let push = || json!([{"do": "push", "label": label, "source": "a-tool-of-a-long-name"}]);
    let id = store.push(&deep, push());
    let path = store.path();
    let check = |args: &[&str], heads: &[&str]| {
        let at = ["--store", path.to_str().unwrap()];
        let printed = Terminal::run_within(COLUMNS, &deep, &[args, &at].concat()).rest();
        for row in printed.lines().filter(|row| !row.is_empty()) {
            let is_head = heads.iter().any(|head| row.starts_with(head));
            // What is quoted hangs behind its margin.
            let hangs = row.starts_with("  ") || row.starts_with("│   ");
            let fits = row.chars().count() <= COLUMNS;
            assert!(fits && (is_head || hangs), "{args:?}: {row:?} in {printed}");
        }
        printed
    };
    check(&["pending"], &["│ A label"]);
    let listed = check(&["pending", "--all"], &["│ A label", "In the session"]);
    assert!(
        listed.contains("\r\n    "),
        "where it is from hangs: {listed}"
    );
    check(&["show", &id], &["│ A label"]);
    store.push(&deep, push());
    store.push(&deep, push());
    check(&["pending"], &["│ A label"]);
    let discard = ["resolve", "discard", "--id", &id, "--reason", "x"];
    assert_eq!(store.airlock(&deep, &discard).run().code, 0);
    check(&["log"], &["Discard: "]);
    check(&["log", "--all"], &["Discard: "]);
    check(&["store", "stats"], &["/"]);
    let session = format!("a-session-{}", "of-a-long-name".repeat(4));
    check(
        &["pending", "--session", &session],
        &["Nothing is", "2 more"],
    );
    check(&["log", "--session", &session], &["Nothing has"]);
}

/// The lines below each action of the list that begin so.
fn told(store: &Store, folder: &Path, name: &str) -> Vec<String> {
    let ran = store.airlock(folder, &["pending"]).run();
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:#?}");
    let lines = ran.stdout.lines().map(str::trim);
    let lines = lines.filter_map(|line| line.strip_prefix(name));
    lines.map(str::to_owned).collect()
}

#[test]
fn actions_that_look_the_same_are_told_apart_by_what_they_change() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg", "b.jpeg"]));
    let rename = |file: &str| {
        let params = json!({"files": [file], "find": "jpeg$", "replace": "jpg"}).to_string();
        store.json(folder.path(), &["run", "batch-rename", &params]);
    };
    rename("a.jpeg");
    let none: [String; 0] = [];
    assert_eq!(told(&store, folder.path(), "changes: "), none);
    rename("b.jpeg");
    let expected = ["renamed b.jpeg -> b.jpg", "renamed a.jpeg -> a.jpg"];
    assert_eq!(told(&store, folder.path(), "changes: "), expected);
    assert_eq!(told(&store, folder.path(), "params: "), none);
}

#[test]
fn what_only_one_of_them_changes_comes_first_and_the_rest_is_counted() {
    let (store, folder) = (Store::new(), folder(&[]));
    let writes = |files: &[&str]| {
        let file = |path: &&str| json!({"do": "fs", "op": "write", "path": path, "text": "x"});
        let apply: Vec<Value> = files.iter().map(file).collect();
        let push = json!([{"do": "push", "label": "Write", "quiet": true, "apply": apply}]);
        store.push(folder.path(), push);
    };
    writes(&["a", "b", "c", "d"]);
    writes(&["a", "b", "c", "d", "e"]);
    let expected = [
        "created e, created a, created b, and 2 more",
        "created a, created b, created c, and 1 more",
    ];
    assert_eq!(told(&store, folder.path(), "changes: "), expected);
}

#[test]
fn actions_that_change_the_same_are_told_apart_by_the_params_of_their_calls() {
    let (store, folder) = (Store::new(), folder(&["a.jpeg"]));
    for find in ["jpeg$", "jpe?g$"] {
        let params = json!({"files": ["*"], "find": find, "replace": "jpg"}).to_string();
        store.json(folder.path(), &["run", "batch-rename", &params]);
    }
    let expected = [r#"find: "jpe?g$""#, r#"find: "jpeg$""#];
    assert_eq!(told(&store, folder.path(), "params: "), expected);
    let none: [String; 0] = [];
    assert_eq!(told(&store, folder.path(), "changes: "), none);
}
