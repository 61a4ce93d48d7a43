//! What is loaded, what is left out, and what is refused.

use airlock_host::load::{WORLD_VERSION, World};
use airlock_host::{Engine, Plugin, Session};
use airlock_tests::{component, engine, load_fresh, plugin, wat};

#[tokio::test]
async fn a_plugin_knows_what_it_is() {
    let puppet = load_fresh("puppet").await;
    let bytes = std::fs::read(component("puppet")).unwrap();
    assert_eq!(puppet.name(), "puppet");
    assert_eq!(puppet.digest(), airlock_host::digest::Digest::of(&bytes));
    assert_eq!(puppet.size(), bytes.len());
    let version = WORLD_VERSION.to_owned();
    assert_eq!(*puppet.world(), World::CustomTool { version });
    assert!(
        puppet
            .imports()
            .iter()
            .any(|import| import == "airlock:tool/pending-actions@0.1.0")
    );
    let tools: Vec<_> = puppet
        .tools()
        .map(|tool| (tool.name.as_str(), tool.traits.names()))
        .collect();
    assert_eq!(
        tools,
        [
            ("puppet", vec!["deferrable", "destructive"]),
            ("typed", vec!["read-only"])
        ]
    );
    assert!(puppet.rejected().is_empty());
}

#[tokio::test]
async fn a_bad_tool_is_reported_and_left_out_and_the_others_load() {
    let misfits = load_fresh("misfits").await;
    let loaded: Vec<_> = misfits.tools().map(|tool| tool.name.as_str()).collect();
    assert_eq!(loaded, ["good"]);
    let long = "n".repeat(65);
    let expected = [
        ("", "1 to 64 of the characters"),
        ("two words", "1 to 64 of the characters"),
        (long.as_str(), "1 to 64 of the characters"),
        ("good", "Tool name \"good\" conflicts with existing tool"),
        ("resolve", "the name `resolve` is the host's own"),
        ("parameters-not-json", "its parameters schema is not JSON"),
        (
            "parameters-not-object",
            "the `type` of its parameters schema is not \"object\"",
        ),
        (
            "parameters-not-schema",
            "its parameters schema can't be used: /type: 12",
        ),
        (
            "parameters-endless",
            "refers back to itself without descending into the value",
        ),
        (
            "parameters-remote",
            "the reference \"http://example.com/schema.json\" leads nowhere in it",
        ),
        ("output-not-json", "its output schema is not JSON"),
        ("output-not-schema", "its output schema can't be used"),
        ("label-empty", "its label is not one line of text"),
        ("label-of-two-lines", "its label is not one line of text"),
        ("description-empty", "its description is empty"),
        ("not a name either", "the plugin says: two lines xxx"),
    ];
    let rejected = misfits.rejected();
    assert_eq!(rejected.len(), expected.len(), "{rejected:#?}");
    for (tool, (name, reason)) in rejected.iter().zip(expected) {
        assert_eq!(tool.name, name);
        assert!(tool.reason.contains(reason), "{tool}");
        assert!(tool.reason.len() < 1_100, "{tool}");
    }
}

#[tokio::test]
async fn a_name_that_is_taken_in_the_session_is_reported_and_the_others_are_bound() {
    let puppet = plugin("puppet").await;
    let session = Session::builder()
        .model_decides()
        .bind(&puppet)
        .open()
        .unwrap();
    assert_eq!(session.rejected(), []);
    // Other bytes with the same tools, and then a plugin with a tool of its own beside bad ones.
    let mut bytes = std::fs::read(component("puppet")).unwrap();
    bytes.extend([0, 2, 1, b'v']);
    let twin = Plugin::from_bytes(engine(), "twin", bytes).await.unwrap();
    let rejected = session.bind(&twin).unwrap();
    let reasons: Vec<_> = rejected.iter().map(|tool| tool.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "Tool name \"puppet\" conflicts with existing tool",
            "Tool name \"typed\" conflicts with existing tool"
        ]
    );
    let misfits = plugin("misfits").await;
    let opened = Session::builder()
        .model_decides()
        .bind(&puppet)
        .bind(&twin)
        .bind(&misfits);
    let all = [&rejected, misfits.rejected()].concat();
    assert_eq!(opened.open().unwrap().rejected(), all);
    assert_eq!(session.bind(&misfits).unwrap(), misfits.rejected());
    assert_eq!(session.rejected(), all);
    session.unbind(&misfits);
    assert_eq!(session.rejected(), rejected);
    assert_eq!(session.bind(&misfits).unwrap().len(), 16);
    let names: Vec<_> = session.tools().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["puppet", "typed", "good"]);
    // Once the names are free, nothing of it is left out, nor is it where it is bound again.
    session.unbind(&puppet);
    for _ in 0..2 {
        assert_eq!(session.bind(&twin).unwrap(), []);
        assert_eq!(session.rejected(), misfits.rejected());
    }
}

#[tokio::test]
async fn what_cannot_be_loaded_is_refused_with_its_name_and_the_reason() {
    let core_module = ::wat::parse_str("(module)").unwrap();
    let empty = ::wat::parse_str("(component)").unwrap();
    let unknown_import = ::wat::parse_str(
        r#"(component
            (import "acme:gpu/device@1.0.0" (instance (export "open" (func))))
            (instance $i) (export "airlock:tool/tool@0.1.0" (instance $i))
            (export "airlock:tool/resolver@0.1.0" (instance $i)))"#,
    )
    .unwrap();
    let hollow = ::wat::parse_str(
        r#"(component (instance $i) (export "airlock:tool/tool@0.1.0" (instance $i))
            (export "airlock:tool/resolver@0.1.0" (instance $i)))"#,
    )
    .unwrap();
    let mut damaged = std::fs::read(component("puppet")).unwrap();
    damaged.truncate(damaged.len() / 2);
    for (bytes, parts) in [
        (
            b"#!/bin/sh".to_vec(),
            [
                "is not a WebAssembly component",
                "don't begin as WebAssembly does",
            ],
        ),
        (
            Vec::new(),
            [
                "is not a WebAssembly component",
                "don't begin as WebAssembly does",
            ],
        ),
        (
            core_module,
            [
                "is not a WebAssembly component",
                "core module; `wasm-tools component new`",
            ],
        ),
        (damaged, ["is not a WebAssembly component", "out of bounds"]),
        (
            empty,
            [
                "doesn't fit the world",
                "doesn't export `airlock:tool/tool@0.1.0`",
            ],
        ),
        (
            unknown_import,
            [
                "doesn't fit the world",
                "it imports `acme:gpu/device@1.0.0`, which this host does not offer",
            ],
        ),
        (hollow, ["doesn't fit the world", "definitions"]),
        (
            std::fs::read(component("wrong_version")).unwrap(),
            [
                "doesn't fit the world `airlock:tool/custom-tool@0.1.0`",
                "it was built for `airlock:tool@0.2.0`, and this host takes 0.1; build it again with an SDK for 0.1",
            ],
        ),
        (
            std::fs::read(component("bad_definitions_trap")).unwrap(),
            [
                "could not be asked for its tools",
                "tool `(definitions)` crashed",
            ],
        ),
        (
            wat::component(&wat::module("i32.const 0", "")),
            ["has no tool that can be used", ""],
        ),
    ] {
        let error = Plugin::from_bytes(engine(), "acme", bytes)
            .await
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("acme "), "{error}");
        for part in parts {
            assert!(error.contains(part), "{part} in {error}");
        }
        assert!(!error.contains('\n'), "{error}");
    }
    let missing = Plugin::load(engine(), "no/such.wasm")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("can't read no/such.wasm: No such file"),
        "{missing}"
    );
    let small = Engine::builder().plugin_bytes(1000).build().unwrap();
    let error = Plugin::load(&small, component("puppet"))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("the limit is 1000"), "{error}");
}

/// Each lacks one thing alone: made in the same way without lacking it, it gets as far as to be
/// asked for its tools.
#[tokio::test]
async fn what_lacks_a_single_function_or_field_of_the_world_is_refused() {
    let push = "airlock:tool/pending-actions@0.1.0";
    // A module that imports the push, which takes its record apart into so many numbers, and a
    // place for the result.
    let module = |numbers: usize| {
        let numbers = "i32 ".repeat(numbers);
        let import = format!(
            r#"(module (import "{push}" "push-pending-action" (func $push (param {numbers} i32)))"#
        );
        wat::module("i32.const 0", "").replacen("(module", &import, 1)
    };
    let without = |function: &str| {
        let module = wat::module("i32.const 0", "");
        let begin = module
            .find(&format!(r#"(func (export "{function}")"#))
            .unwrap();
        let end = begin + module[begin..].find("unreachable)").unwrap() + "unreachable)".len();
        format!("{}{}", &module[..begin], &module[end..])
    };
    let field = |line: &'static str| {
        move |file: &str, text: String| match file {
            "pending-actions.wit" => text.replacen(line, "", 1),
            _ => text,
        }
    };
    let lacking = |name: &'static str| {
        move |file: &str, text: String| match file {
            "resolver.wit" => {
                let begin = text.find(&format!("    {name}: func")).unwrap();
                let end = begin + text[begin..].find(';').unwrap() + 1;
                format!("{}{}", &text[..begin], &text[end..])
            }
            _ => text,
        }
    };
    let resolver = "airlock:tool/resolver@0.1.0#";
    for (bytes, parts) in [
        (
            wat::component(&module(12)),
            ["has no tool that can be used", ""],
        ),
        (
            wat::component_of(&without(&format!("{resolver}apply")), &[], lacking("apply")),
            ["doesn't fit the world", "`apply`"],
        ),
        (
            wat::component_of(
                &without(&format!("{resolver}reject")),
                &[],
                lacking("reject"),
            ),
            ["doesn't fit the world", "`reject`"],
        ),
        (
            wat::component_of(&module(10), &[], field("label: string,")),
            ["doesn't fit the world", push],
        ),
        (
            wat::component_of(&module(11), &[], field("has-reject: bool,")),
            ["doesn't fit the world", push],
        ),
    ] {
        let error = Plugin::from_bytes(engine(), "acme", bytes).await;
        let error = error.unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}

/// Made as a compiler's last step makes them. Compiled they are not: an engine for WASI 0.2 could
/// not even read the last two.
#[tokio::test]
async fn what_was_built_for_another_world_or_wasi_is_told_what_this_host_takes() {
    const STDOUT: &str = "package wasi:cli@0.3.0; interface stdout { write-via-stream: func(data: stream<u8>) -> future<result>; }";
    const CLOCK: &str =
        "package wasi:clocks@0.3.0; interface system-clock { get-resolution: func() -> u64; }";
    const PIPE: &str =
        "package acme:pipe@1.0.0; interface pipe { open: async func(data: stream<u8>); }";
    // A module that imports a function, and is as the world has it else.
    let importing = |interface: &str, function: &str, signature: &str| {
        let import = format!(r#"(module (import "{interface}" "{function}" (func {signature}))"#);
        wat::module("i32.const 0", "").replacen("(module", &import, 1)
    };
    let in_world = |import: &'static str| {
        move |file: &str, text: String| match file {
            "world.wit" => text.replacen(
                "import host;",
                &format!("import host;\n    import {import};"),
                1,
            ),
            _ => text,
        }
    };
    let newer =
        |from: &'static str, to: &'static str| move |_: &str, text: String| text.replace(from, to);
    let of_version =
        |version: &str| wat::module("i32.const 0", "").replace("@0.1.0#", &format!("@{version}#"));
    let another_world = |version: &str| {
        format!(
            "acme doesn't fit the world `airlock:tool/custom-tool@0.1.0`: it was built for `airlock:tool@{version}`, and this host takes 0.1; build it again with an SDK for 0.1, or look for a host that takes {version}"
        )
    };
    let another_wasi = |sign: &str| {
        format!(
            "acme doesn't fit the world `airlock:tool/custom-tool@0.1.0`: it was built for WASI 0.3 ({sign}), and this host has WASI 0.2; build it again for WASI 0.2, in Rust for the target wasm32-wasip2"
        )
    };
    for (component, expected) in [
        (
            wat::component_of(&of_version("0.2.0"), &[], newer("@0.1.0;", "@0.2.0;")),
            another_world("0.2.0"),
        ),
        (
            wat::component_of(&of_version("1.0.0"), &[], newer("@0.1.0;", "@1.0.0;")),
            another_world("1.0.0"),
        ),
        (
            wat::component_of(
                &importing(
                    "wasi:clocks/system-clock@0.3.0",
                    "get-resolution",
                    "(result i64)",
                ),
                &[("clocks", CLOCK)],
                in_world("wasi:clocks/system-clock@0.3.0"),
            ),
            another_wasi("it imports `wasi:clocks/system-clock@0.3.0`"),
        ),
        (
            wat::component_of(
                &importing(
                    "wasi:cli/stdout@0.3.0",
                    "write-via-stream",
                    "(param i32) (result i32)",
                ),
                &[("cli", STDOUT)],
                in_world("wasi:cli/stdout@0.3.0"),
            ),
            another_wasi("it imports `wasi:cli/stdout@0.3.0`"),
        ),
        (
            wat::component_of(
                &importing("acme:pipe/pipe@1.0.0", "open", "(param i32)"),
                &[("pipe", PIPE)],
                in_world("acme:pipe/pipe@1.0.0"),
            ),
            another_wasi("it has async functions, streams or futures"),
        ),
    ] {
        let error = Plugin::from_bytes(engine(), "acme", component).await;
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
    // A patch of the world that is taken changes nothing.
    let patched = wat::component_of(&of_version("0.1.7"), &[], newer("@0.1.0;", "@0.1.7;"));
    let error = Plugin::from_bytes(engine(), "acme", patched).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("has no tool that can be used"), "{error}");
}

#[tokio::test]
async fn of_very_many_tools_the_first_thousand_are_looked_at() {
    let flood = load_fresh("bad_definitions_flood").await;
    assert_eq!(flood.tools().len(), 1000);
    assert!(
        flood.rejected()[0]
            .reason
            .contains("this one defines 99000 more")
    );
}
