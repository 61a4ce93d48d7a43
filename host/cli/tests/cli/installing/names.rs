//! Names of installed plugins, their sources and their grants.

use std::fs;

use serde_json::json;

use super::{Place, SAY};
use crate::airlock::guest;

#[test]
fn plugins_with_the_same_component_have_their_own_grants() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    place.done(&["install", &file, "--as", "wide", "--yes"]);
    place.done(&["install", &file, "--as", "narrow", "--grant", "read=docs/"]);
    let granted = |name: &str| {
        let told = place.json(&["inspect", name]);
        let granted = told["grants"]["description"].as_str().unwrap().to_owned();
        granted.split(';').next().unwrap().to_owned()
    };
    assert_eq!(granted("narrow"), "workspace: read docs/");
    let both = "workspace: read docs/, and change docs/ while applying";
    assert_eq!(granted("wide"), both);
    // By its path, it is none of them.
    assert_eq!(granted(&file), both);
    place.done(&["uninstall", "wide", "wide"]);
    assert_eq!(granted("narrow"), "workspace: read docs/");
    place.check_says("narrow");
}

#[test]
fn a_name_stays_with_its_source() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    place.done(&["install", &file, "--yes"]);
    fs::create_dir(place.path("other")).unwrap();
    let other = place.path("other/search.toml");
    fs::copy(&file, &other).unwrap();
    let other = other.to_str().unwrap();
    let lock = place.lock();
    for consent in [&["--yes"][..], &["--grant", "read=docs/"], &[]] {
        let ran = place
            .airlock(&[&["install", other], consent].concat())
            .run();
        assert_eq!(ran.code, 2, "{ran:#?}");
        let message = format!("search is installed already, from {file}");
        assert!(ran.stderr.contains(&message), "{ran:#?}");
        assert!(ran.stderr.contains("`--as NAME`"), "{ran:#?}");
    }
    assert_eq!(place.lock(), lock);
}

#[test]
fn the_grants_that_are_listed_are_the_effective_ones() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    fs::write(place.config(), "[[grant]]\nread = ['**']\n").unwrap();
    let installed = place.done(&["install", &file, "--yes"]).stdout;
    assert!(
        installed.contains("and change docs/ while applying"),
        "{installed}"
    );
    let grant = "[[grant]]\nplugins = ['search']\nread = ['docs/a']\n";
    fs::write(place.config(), grant).unwrap();
    for args in [
        &["list"][..],
        &["update", "--grant", "change=docs/", "search"],
    ] {
        let told = place.json(args);
        let granted = told["plugins"][0]["grants"]["description"]
            .as_str()
            .unwrap();
        assert!(granted.starts_with("workspace: read docs/a"), "{granted}");
    }
    // The configuration would name a plugin that isn't there.
    let ran = place.done(&["uninstall", "search"]);
    assert!(
        ran.stderr.contains("the configuration has errors now"),
        "{ran:#?}"
    );
}

#[test]
fn a_reference_is_no_plugin_until_it_is_installed() {
    let place = Place::new();
    for command in ["run", "inspect"] {
        let ran = place.airlock(&[command, "ghcr.io/ann/dedupe:1"]).run();
        assert_eq!(ran.code, 3, "{ran:#?}");
        let hint = "hint: `airlock install ghcr.io/ann/dedupe:1` gives it a name";
        assert!(ran.stderr.contains(hint), "{ran:#?}");
    }
}

#[test]
fn a_folder_with_a_tools_file_is_its_program_with_these_tools() {
    let place = Place::new();
    let program = place.path("tools/program.wasm");
    fs::copy(guest("program"), &program).unwrap();
    let text = format!("program = \"program.wasm\"\n{SAY}");
    fs::write(place.path("tools/search.toml"), text).unwrap();
    let installed = place.json(&["install", "../tools", "--yes"]);
    assert_eq!(installed["plugins"][0]["name"], "tools");
    assert_eq!(installed["plugins"][0]["tools"], json!(["say", "keep"]));
}
