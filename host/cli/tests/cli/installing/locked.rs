//! What `airlock.lock` pins, and what happens if something else is there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::registry::{Registry, serve};
use super::{Place, SAY};

#[test]
fn a_plugin_that_differs_from_the_lock_is_refused_in_words() {
    let place = Place::new();
    let file = place.tools("say", SAY);
    place.done(&["install", &file, "--yes"]);
    let lock = place.lock();
    let check = |from: &str, to: &str, says: &str| {
        assert!(lock.contains(from), "no {from:?} in {lock}");
        fs::write(place.path("etc/airlock.lock"), lock.replacen(from, to, 1)).unwrap();
        for args in [&["run", "say", "say", "--text", "x"][..], &["serve", "say"]] {
            let ran = place.airlock(args).run();
            assert_eq!(ran.code, 3, "{from}: {ran:#?}");
            assert!(ran.stderr.contains("differs from"), "{ran:#?}");
            assert!(ran.stderr.contains(says), "no {says:?} in {}", ran.stderr);
            assert!(ran.stderr.contains("`airlock update say`"), "{ran:#?}");
        }
    };
    check(
        "Says something.",
        "Says it.",
        "the description of the tool \"say\" changed",
    );
    check(
        "What to say",
        "What",
        "the schema of the params of the tool \"say\" changed",
    );
    check(
        "name = \"keep\"",
        "name = \"hold\"",
        "the tool \"hold\" is now called \"keep\"",
    );
    check(
        "label = \"Say\"",
        "label = \"S\"",
        "the label of the tool \"say\" changed",
    );
    let wants = "[plugin.component.wants]\nread = [\"docs/\"]\n";
    let changed = |path: &str| wants.replace("docs/", path);
    check(
        wants,
        &changed("notes/"),
        "it no longer wants to read notes/",
    );
    check(
        wants,
        "[plugin.component.wants]\n",
        "it lists the same wants in another form",
    );
    check("cli/command", "cli/cmd", "it was built for the world");

    // An update compares with the lock, and corrects it.
    let updated = place.json(&["update", "--yes"]);
    assert_eq!(updated["plugins"][0]["state"], "updated", "{updated:#}");
    assert_eq!(place.lock(), lock);
    place.check_says("say");
}

#[test]
fn a_component_that_is_damaged_or_gone_is_fetched_again_as_it_was() {
    let (registry, place) = (Registry::start(), Place::new());
    let reference = format!("{}/ann/say:1", registry.host);
    place.push(&reference, SAY);
    place.done(&["install", &reference, "--yes"]);
    let name = place.components().remove(0);
    let component = place.path("etc/airlock-plugins/components").join(name);
    let bytes = fs::read(&component).unwrap();
    // The tag leads elsewhere by now, and the pinned artifact is still there.
    place.push(&reference, &SAY.replace("Says", "Shouts"));
    let check = |state: &str| {
        let ran = place.say("say");
        assert_eq!(ran.code, 3, "{ran:#?}");
        assert!(ran.stderr.contains(&format!("say is {state}")), "{ran:#?}");
        assert!(
            ran.stderr.contains("`airlock install` without a reference"),
            "{ran:#?}"
        );
        let fetched = place.json(&["install"]);
        assert_eq!(fetched["plugins"][0]["state"], "fetched");
        assert_eq!(fs::read(&component).unwrap(), bytes);
        place.check_says("say");
    };
    fs::remove_file(&component).unwrap();
    check("missing");
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&component, damaged).unwrap();
    check("damaged");
    let again = place.json(&["install"]);
    assert_eq!(again["plugins"][0]["state"], "unchanged");
}

#[test]
fn what_was_swapped_at_a_pinned_place_is_not_taken() {
    let place = Place::new();
    let file = place.tools("say", SAY);
    let component = place.path("tools/served.wasm");
    let build = || place.done(&["build", &file, "--output", component.to_str().unwrap()]);
    build();
    let served = component.clone();
    let host = serve(move |_| (200, fs::read(&served).unwrap()));
    place.done(&["install", &format!("http://{host}/served.wasm"), "--yes"]);
    place.done(&["install", &file, "--yes"]);
    let lock = place.lock();
    place.tools("say", &SAY.replace("Says", "Shouts"));
    build();
    // The installed component runs, although another one is there now.
    place.check_says("say");
    fs::remove_dir_all(place.path("etc/airlock-plugins/components")).unwrap();
    let ran = place.airlock(&["install"]).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stderr.contains("was swapped or damaged"), "{ran:#?}");
    assert_eq!(place.components(), [""; 0]);
    assert_eq!(place.lock(), lock);
}

#[test]
fn a_lock_with_an_error_stops_everything_with_its_line() {
    let place = Place::new();
    let file = place.tools("say", SAY);
    place.done(&["install", &file, "--yes"]);
    let lock = place.lock();
    let check = |from: &str, to: &str, says: &[&str]| {
        assert!(lock.contains(from), "no {from:?} in {lock}");
        fs::write(place.path("etc/airlock.lock"), lock.replacen(from, to, 1)).unwrap();
        let lines = [
            &["run", "say", "say", "--text", "x"][..],
            &["serve", "say"],
            &["list"],
            &["install", &file, "--yes"],
            &["update"],
            &["uninstall", "say"],
            &["config", "check"],
        ];
        for line in lines {
            let ran = place.airlock(line).run();
            assert!(ran.code == 2 || ran.code == 3, "{line:?}: {ran:#?}");
            for part in says {
                assert!(
                    ran.stderr.contains(part),
                    "{line:?}: no {part:?} in {}",
                    ran.stderr
                );
            }
        }
    };
    check(
        "version = 1",
        "version = 2",
        &["airlock.lock: its format has the version 2"],
    );
    check("version = 1", "version = 'x'", &["airlock.lock:3:"]);
    check(
        "digest = \"sha256:",
        "digest = \"sha256:zz",
        &["airlock.lock:", "digest"],
    );
    check(
        "[plugin.grant]",
        "[plugin.grants]",
        &["airlock.lock:", "unknown field `grants`"],
    );
    check(
        "read = [\"docs/\"]",
        "read = [\"/etc/\"]",
        &["airlock.lock:", "/etc/"],
    );
    check(
        "name = \"say\"",
        "name = \"../say\"",
        &["airlock.lock:", "not a plugin's name"],
    );
    let twice = format!(
        "{lock}\n{}",
        lock.split_once("\n\n")
            .unwrap()
            .1
            .replace("version = 1", "")
    );
    check(&lock, &twice, &["airlock.lock: it has \"say\" twice"]);
}

#[test]
fn a_lock_in_the_workspace_is_refused() {
    let place = Place::new();
    let file = place.tools("say", SAY);
    place.done(&["install", &file, "--yes"]);
    let etc = place.path("etc");
    let check = |workspace: &Path| {
        let workspace = workspace.to_str().unwrap();
        let args = ["run", "say", "say", "--text", "x", "--workspace", workspace];
        let ran = place.airlock(&args).run();
        assert!(ran.code == 2 || ran.code == 3, "{ran:#?}");
        assert!(ran.stderr.contains("lies in the workspace"), "{ran:#?}");
    };
    check(&etc);
    // So is one that a link leads to.
    let (lock, real) = (etc.join("airlock.lock"), place.path("ws/docs/airlock.lock"));
    fs::rename(&lock, &real).unwrap();
    symlink(&real, &lock).unwrap();
    check(&place.workspace());
}

#[test]
fn a_lock_that_is_a_link_stays_one() {
    let place = Place::new();
    let file = place.tools("say", SAY);
    let real = place.path("tools/real.lock");
    fs::write(&real, "version = 1\n").unwrap();
    symlink(&real, place.path("etc/airlock.lock")).unwrap();
    place.done(&["install", &file, "--yes"]);
    place.check_says("say");
    assert!(fs::read_to_string(&real).unwrap().contains("[[plugin]]"));
    assert_eq!(fs::read_link(place.path("etc/airlock.lock")).unwrap(), real);
}

#[test]
fn one_component_that_cannot_be_fetched_leaves_the_others() {
    let place = Place::new();
    let first = place.tools("a", SAY);
    let second = place.tools("b", &SAY.replace("Says", "Shouts"));
    place.done(&["install", &first, "--yes"]);
    place.done(&["install", &second, "--yes"]);
    fs::remove_dir_all(place.path("etc/airlock-plugins/components")).unwrap();
    fs::remove_file(&first).unwrap();
    let ran = place.airlock(&["install", "--json"]).run();
    assert_eq!(ran.code, 3, "{ran:#?}");
    let told = ran.json();
    assert_eq!(told["plugins"][0]["name"], "b", "{told:#}");
    assert!(
        told["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("a.toml")
    );
    place.check_says("b");
}

#[test]
fn two_installations_at_once_are_both_kept() {
    let place = Place::new();
    let files = [1, 2, 3, 4].map(|it| place.tools(&format!("say{it}"), SAY));
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| place.done(&["install", file, "--yes"]));
        }
    });
    let listed = place.json(&["list"]);
    let plugins = listed["plugins"].as_array().unwrap().iter();
    let names: Vec<_> = plugins.map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["say1", "say2", "say3", "say4"]);
}
