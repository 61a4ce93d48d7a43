//! `airlock inspect`.

use serde_json::json;

use crate::airlock::{airlock, guest};

#[test]
fn a_plugin_is_described_for_people() {
    let check = |plugin: &str, expected: &[&str]| {
        let ran = airlock(&["inspect", plugin]).run();
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{plugin}");
        for line in expected {
            assert!(
                ran.stdout.lines().any(|printed| printed == *line),
                "{line:?} in:\n{}",
                ran.stdout
            );
        }
    };
    check(
        "batch-rename",
        &[
            "batch-rename",
            "  world    airlock:tool/custom-tool@0.1.0",
            "  granted  workspace: read, and change while applying; scratch directory; no environment, no network, no other path",
            "│ batch_rename_preview  Batch Rename Preview",
        ],
    );
    check(
        &guest("puppet"),
        &[
            "│ puppet  Puppet",
            "  │ Does the given steps, one after the other.",
            "  │ traits: deferrable, destructive",
            "  │ param       type             required  description",
            "  │ steps       array of object  yes",
            "  │ steps[].do  string           yes",
            "  │ where.path  string           yes",
        ],
    );
    check(
        &guest("misfits"),
        &[
            "│ good  Misfit",
            "  │ It lists no params.",
            "Left out",
            "  \"resolve\": the name `resolve` is the host's own",
            "  \"good\": Tool name \"good\" conflicts with existing tool",
        ],
    );
}

#[test]
fn a_plugin_is_described_for_programs() {
    let ran = airlock(&["inspect", &guest("puppet"), "--json"]).run();
    let object = ran.json();
    let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "digest",
            "fit",
            "grants",
            "imports",
            "metadata",
            "name",
            "rejected",
            "size",
            "tools",
            "worldVersion"
        ]
    );
    assert_eq!(object["name"], "puppet");
    assert!(object["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(object["worldVersion"], "0.1.0");
    assert_eq!(object["grants"]["workspace"], "read-write");
    let imports = object["imports"].as_array().unwrap();
    assert!(
        imports.contains(&json!("airlock:tool/pending-actions@0.1.0")),
        "{imports:?}"
    );
    assert_eq!(object["rejected"], json!([]));

    let typed = &object["tools"][1];
    assert_eq!(typed["name"], "typed");
    assert_eq!(typed["traits"]["readOnly"], true);
    assert_eq!(
        typed["parameters"]["properties"]["count"],
        json!({"type": "integer", "minimum": 1, "maximum": 10})
    );

    let misfits = airlock(&["inspect", &guest("misfits"), "--json"])
        .run()
        .json();
    let rejected = misfits["rejected"].as_array().unwrap();
    assert!(
        rejected.contains(
            &json!({"name": "resolve", "reason": "the name `resolve` is the host's own"})
        )
    );
}

#[test]
fn a_plugin_that_never_tells_its_tools_is_stopped_after_the_time_limit() {
    let plugin = guest("bad_definitions_spin");
    for command in ["inspect", "serve"] {
        let ran = airlock(&[command, &plugin, "--timeout", "0.5"]).run();
        assert_ne!(ran.code, 0, "{ran:#?}");
        assert!(ran.stderr.contains("0.5 s"), "{command}: {ran:#?}");
    }
}

#[test]
fn general_options_of_serve_do_not_stand_under_those_of_http() {
    let help = airlock(&["serve", "--help"]).run().stdout;
    let (general, http) = help.split_once("\nOver HTTP:\n").expect("a heading");
    for option in [
        "--timeout",
        "--expires",
        "--grant",
        "--store",
        "--skip-while-pending",
    ] {
        assert!(general.contains(option), "{option} in:\n{help}");
        assert!(
            !http.contains(&format!("{option} ")),
            "{option} in:\n{help}"
        );
    }
    assert!(http.contains("--allow-origin"), "{help}");
}
