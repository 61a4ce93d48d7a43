//! What is read off a component before it is compiled agrees with what the compiler finds.

use airlock_host::{Engine, Plugin};
use airlock_tests::{component, engine};
use wasmtime::component::Component;

#[tokio::test]
async fn imports_are_what_the_compiled_component_says() {
    for guest in ["puppet", "misfits", "sdk_tools", "bench"] {
        let plugin = Plugin::load(engine(), component(guest)).await.unwrap();
        let bytes = std::fs::read(component(guest)).unwrap();
        let compiled = Component::from_binary(engine().wasmtime(), &bytes).unwrap();
        let compiled = compiled.component_type();
        let mut imports: Vec<&str> = compiled
            .imports(engine().wasmtime())
            .map(|(name, _)| name)
            .collect();
        imports.sort_unstable();
        assert_eq!(plugin.imports(), imports);
    }
}

/// With the two exports of the world, and this before them.
fn importing(imports: &str) -> Vec<u8> {
    let text = format!(
        r#"(component {imports}
            (instance $i) (export "airlock:tool/tool@0.1.0" (instance $i))
            (export "airlock:tool/resolver@0.1.0" (instance $i)))"#
    );
    ::wat::parse_str(text).unwrap()
}

#[tokio::test]
async fn an_import_that_no_host_offers_is_named_before_anything_is_compiled() {
    // Who compiles fails with another error.
    let engine = Engine::builder().compiler("/nowhere/to/be/found");
    let engine = engine.build().unwrap();
    let check = async |imports: &str, expected: &str| {
        let error = Plugin::from_bytes(&engine, "acme", importing(imports)).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let refused = async |imports: &str, name: &str| {
        let expected = format!("it imports `{name}`, which this host does not offer");
        check(imports, &expected).await;
    };
    let goes_on = async |imports: &str| check(imports, "can't start /nowhere").await;
    refused(
        r#"(import "acme:gpu/device@1.0.0" (instance (export "open" (func))))"#,
        "acme:gpu/device@1.0.0",
    )
    .await;
    refused(
        r#"(import "acme:gpu/device" (instance (export "buffer" (type (sub resource)))))"#,
        "acme:gpu/device",
    )
    .await;
    refused(r#"(import "open" (func))"#, "open").await;
    refused(
        r#"(import "wasi:http/types@0.2.0" (instance (export "f" (func))))"#,
        "wasi:http/types@0.2.0",
    )
    .await;
    check(
        r#"(import "wasi:random/random@0.3.0" (instance (export "f" (func))))"#,
        "it was built for WASI 0.3 (it imports `wasi:random/random@0.3.0`)",
    )
    .await;
    // Behind other types.
    refused(
        r#"(type u32) (import "t" (type (eq 0))) (alias outer 0 0 (type))
            (import "acme:gpu/device" (instance (export "open" (func))))"#,
        "acme:gpu/device",
    )
    .await;
    // Types alone need no host.
    goes_on(r#"(import "acme:gpu/types" (instance (type u32) (export "t" (type (eq 0)))))"#).await;
    goes_on(r#"(import "wasi:random/random@0.2.3" (instance (export "f" (func))))"#).await;
    goes_on("").await;
}
