//! `airlock doctor`.

use std::fs;

use serde_json::Value;

use super::registry::Registry;
use super::{Place, SAY};

/// The state and text of each checked part, as in `store well: …`.
fn checks(told: &Value) -> Vec<String> {
    let checks = told["checks"].as_array().unwrap().iter();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    let line = |it: &Value| {
        let [part, state, told] = ["part", "state", "text"].map(|name| text(it, name));
        format!("{part} {state}: {told}")
    };
    checks.map(line).collect()
}

#[test]
fn a_doctor_checks_each_part_and_names_what_is_wrong() {
    let (registry, place) = (Registry::start(), Place::new());
    let reference = format!("{}/ann/say:1", registry.host);
    place.push(&reference, SAY);
    place.done(&["install", &reference, "--yes"]);
    let told = place.json(&["doctor"]);
    let found = checks(&told);
    let check = |found: &[String], begin: &str, part: &str| {
        let is_it = |it: &&String| it.starts_with(begin) && it.contains(part);
        assert!(
            found.iter().any(|it| is_it(&it)),
            "{begin}{part}: {found:#?}"
        );
    };
    check(&found, "configuration well: ", "airlock-host.toml");
    check(&found, "store well: ", "0 actions are pending");
    check(&found, "cache well: ", "airlock");
    check(&found, "plugin well: ", "say: its component is there");
    check(&found, "registry well: ", &reference);
    check(&found, "workspace well: ", "an apply is one step");

    place.push(&reference, &SAY.replace("Says", "Shouts"));
    let found = checks(&place.json(&["doctor"]));
    check(&found, "registry note: ", "is another artifact");
    let found = checks(&place.json(&["doctor", "--offline"]));
    assert!(
        !found.iter().any(|it| it.starts_with("registry")),
        "{found:#?}"
    );

    drop(registry);
    fs::remove_dir_all(place.path("etc/airlock-plugins/components")).unwrap();
    fs::write(place.path("pending.db"), "no store").unwrap();
    let ran = place
        .airlock(&["doctor", "--json", "--workspace", "missing"])
        .run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    let found = checks(&ran.json());
    check(&found, "store wrong: ", "pending.db");
    check(&found, "plugin wrong: ", "is missing");
    check(&found, "registry wrong: ", "127.0.0.1");
    check(&found, "workspace wrong: ", "missing");
    fs::write(place.config(), "plugin = []\n").unwrap();
    let ran = place.airlock(&["doctor", "--json", "--offline"]).run();
    check(
        &checks(&ran.json()),
        "configuration wrong: ",
        "unknown field `plugin`",
    );
    let ran = place.airlock(&["doctor", "--offline"]).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stdout.contains("wrong  configuration"), "{ran:#?}");
}
