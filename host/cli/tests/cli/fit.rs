//! `airlock inspect`, of components that don't fit the world.

use std::cell::Cell;
use std::fs;

use airlock_tests::wat::component_of;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::{airlock, guest};

const PARAMS: &str = "(param i32 i32 i32 i32 i32 i32)";
const RESOLUTION: &str = "(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)";

/// The functions of the world, each of which traps. All changes of the world below leave their core
/// types as they are.
fn exports(names: &[&str]) -> String {
    let all = [
        ("tool@0.1.0#definitions", ""),
        ("tool@0.1.0#execute", PARAMS),
        ("resolver@0.1.0#apply", RESOLUTION),
        ("resolver@0.1.0#reject", RESOLUTION),
    ];
    let exports = all
        .iter()
        .filter(|(name, _)| names.iter().any(|it| name.starts_with(it)));
    exports
        .map(|(name, params)| {
            format!(r#"(func (export "airlock:tool/{name}") {params} (result i32) unreachable)"#)
        })
        .collect()
}

/// A component of the world after these changes of its text, with these imports.
fn component(edits: &[(&str, &str)], imports: &str, exports: &str) -> Vec<u8> {
    let module = format!(
        r#"(module
            {imports}
            (memory (export "memory") 1)
            {exports}
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable)
        )"#
    );
    let done = Cell::new(0);
    let component = component_of(&module, &[], |_, mut text| {
        for (before, after) in edits {
            if text.contains(before) {
                done.set(done.get() + 1);
                text = text.replace(before, after);
            }
        }
        text
    });
    assert!(done.get() >= edits.len(), "{edits:?}");
    component
}

/// The differences of a component that isn't loaded.
#[track_caller]
fn differences(component: &[u8]) -> Value {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("it.wasm");
    fs::write(&path, component).unwrap();
    let ran = airlock(&["inspect", "--json"]).arg(&path).run();
    let object = ran.json();
    assert_eq!(ran.code, 3, "{object:#}");
    assert_eq!(object["fit"]["world"], "airlock:tool/custom-tool@0.1.0");
    object["fit"]["differences"].clone()
}

const ALL: &[&str] = &["tool", "resolver"];

#[test]
fn the_function_that_differs_is_named_down_to_the_field() {
    let check = |before: &str, after: &str, expected: Value| {
        let component = component(&[(before, after)], "", &exports(ALL));
        assert_eq!(differences(&component), expected, "{after}");
    };
    check(
        "params: string)",
        "params: list<u8>)",
        json!([{
            "item": "export `airlock:tool/tool`: function `execute`: parameter `params`",
            "world": "string",
            "component": "list<u8>"
        }]),
    );
    check(
        "params: string)",
        "arguments: string)",
        json!([{
            "item": "export `airlock:tool/tool`: function `execute`",
            "world": "func(call-id: string, name: string, params: string) -> result<tool-result, tool-error>",
            "component": "func(call-id: string, name: string, arguments: string) -> result<tool-result, tool-error>"
        }]),
    );
    check(
        "attempt: u32",
        "attempt: s32",
        json!([
            {
                "item": "export `airlock:tool/resolver`: function `apply`: parameter `resolution`: `resolution`: field `attempt`",
                "world": "u32",
                "component": "s32"
            },
            {
                "item": "export `airlock:tool/resolver`: function `reject`: parameter `resolution`: `resolution`: field `attempt`",
                "world": "u32",
                "component": "s32"
            }
        ]),
    );
    check(
        "definitions: func() -> list<tool-definition>",
        "definitions: func() -> string",
        json!([{
            "item": "export `airlock:tool/tool`: function `definitions`: result",
            "world": "list<tool-definition>",
            "component": "string"
        }]),
    );
}

#[test]
fn cases_and_flags_that_one_side_lacks_are_named() {
    let found = differences(&component(
        &[
            ("cancelled,", "given-up,"),
            ("deferrable,", "deferrable, fast,"),
        ],
        "",
        &exports(ALL),
    ));
    let found = found.as_array().unwrap();
    let has = |expected: Value| assert!(found.contains(&expected), "{found:#?}");
    let error = "export `airlock:tool/tool`: function `execute`: result: error: `tool-error`";
    has(
        json!({"item": format!("{error}: case `cancelled`"), "world": "a case", "component": null}),
    );
    has(json!({"item": format!("{error}: case `given-up`"), "world": null, "component": "a case"}));
    has(json!({
        "item": "export `airlock:tool/tool`: function `definitions`: result: items: `tool-definition`: field `traits`: `tool-traits`: flag `fast`",
        "world": null,
        "component": "a flag"
    }));
}

#[test]
fn missing_exports_and_unknown_imports_are_named() {
    let without_resolver = component(&[("export resolver;", "")], "", &exports(&["tool"]));
    assert_eq!(
        differences(&without_resolver),
        json!([{
            "item": "export `airlock:tool/resolver`",
            "world": "airlock:tool/resolver@0.1.0",
            "component": null
        }])
    );

    let listing = component(
        &[(
            "push-pending-action: func(",
            "count: func() -> u32;\n push-pending-action: func(",
        )],
        r#"(import "airlock:tool/pending-actions@0.1.0" "count" (func (result i32)))"#,
        &exports(ALL),
    );
    assert_eq!(
        differences(&listing),
        json!([{
            "item": "import `airlock:tool/pending-actions`: function `count`",
            "world": null,
            "component": "func() -> u32"
        }])
    );

    let own = component(
        &[(
            "import pending-actions;",
            "import pending-actions;\n import oracle: interface { ask: func() -> u32; }",
        )],
        r#"(import "oracle" "ask" (func (result i32)))"#,
        &exports(ALL),
    );
    assert_eq!(
        differences(&own),
        json!([{"item": "import `oracle`", "world": null, "component": "oracle"}])
    );
}

#[test]
fn another_version_of_the_world_is_told_with_all_that_differs() {
    let ran = airlock(&["inspect", &guest("wrong_version")]).run();
    assert_eq!(ran.code, 3, "{ran:#?}");
    for line in [
        "  world    built for airlock:tool@0.2.0; this host has airlock:tool/custom-tool@0.1.0",
        "Doesn't fit",
        "  export `airlock:tool/tool`",
        "    world      version 0.1.0",
        "    component  version 0.2.0",
        "  export `airlock:tool/tool`: function `execute`",
        "    component  (nothing)",
    ] {
        assert!(
            ran.stdout.lines().any(|it| it == line),
            "{line}\n{}",
            ran.stdout
        );
    }
    assert!(
        ran.stderr
            .contains("error: wrong_version doesn't fit the world")
    );
    let object = airlock(&["inspect", &guest("wrong_version"), "--json"])
        .run()
        .json();
    assert_eq!(object["fit"]["builtFor"], "0.2.0");
    assert_eq!(object["error"]["kind"], "world-mismatch");
}

#[test]
fn what_is_no_component_has_no_differences() {
    let folder = TempDir::new().unwrap();
    let check = |bytes: &[u8], reason: &str| {
        let path = folder.path().join("it.wasm");
        fs::write(&path, bytes).unwrap();
        let ran = airlock(&["inspect", "--json"]).arg(&path).run();
        let (kind, message, _) = ran.error();
        assert_eq!((ran.code, kind.as_str()), (3, "not-a-component"));
        assert!(message.contains(reason), "{message}");
        assert_eq!(ran.json().get("fit"), None);
    };
    check(&wat::parse_str("(module)").unwrap(), "it is a core module");
    check(b"garbage", "the bytes don't begin as WebAssembly does");
    let whole = component(&[], "", &exports(ALL));
    check(&whole[..whole.len() / 2], "");
}

#[test]
fn a_component_that_fits_has_no_differences() {
    let object = airlock(&["inspect", "batch-rename", "--json"]).run().json();
    let expected = json!({
        "world": "airlock:tool/custom-tool@0.1.0",
        "builtFor": "0.1.0",
        "differences": []
    });
    assert_eq!(object["fit"], expected);
}
