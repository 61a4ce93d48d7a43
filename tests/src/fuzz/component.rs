//! Component bytes.

use std::sync::LazyLock;
use std::time::Duration;

use airlock_host::{CompileLimits, Complexity, Engine, Limits, Plugin};

use super::block_on;
use crate::wat;

/// Reads a component's outline.
pub fn component(bytes: &[u8]) {
    let first = Complexity::of("fuzz", bytes);
    match (first, Complexity::of("fuzz", bytes)) {
        (Ok(first), Ok(second)) => {
            assert_eq!(first, second);
            // Nothing is counted that has no bytes.
            assert!(first.code_bytes <= bytes.len() as u64);
            assert!(first.function_bytes <= first.code_bytes);
            assert!(first.modules <= bytes.len() as u64);
        }
        (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string()),
        (first, second) => panic!("{first:?} and then {second:?}"),
    }
}

/// Loads a component with little time.
pub fn load(bytes: &[u8]) {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        let compile_limits = CompileLimits::default()
            .with_time(Duration::from_secs(10))
            .with_function_bytes(20_000);
        let limits = Limits::default()
            .with_call_time(Duration::from_millis(200))
            .with_memory(16 << 20);
        Engine::builder()
            .limits(limits)
            .compile_limits(compile_limits)
            .live_instances(8)
            .build()
            .expect("an engine")
    });
    let loaded = block_on(Plugin::from_bytes(&ENGINE, "fuzz", bytes.to_vec()));
    if let Err(error) = loaded {
        let text = error.to_string();
        assert!(text.starts_with("fuzz "), "{text}");
        assert_ne!(error.kind(), "compiler-failed", "{text}");
    }
}

/// One that fits the world, and one with what a component may have beside that.
pub fn seeds() -> Vec<Vec<u8>> {
    let more = r#"(component
        (import "wasi:random/random@0.2.0" (instance $r (export "get-random-u64" (func (result u64)))))
        (type (record (field "a" u32) (field "b" (list string))))
        (import "airlock:tool/types@0.1.0" (instance (type u32) (export "t" (type (eq 0)))))
        (component $c (core module $m (table 2 funcref) (memory 1) (global (mut i32) (i32.const 1))
            (func $f (param i32) (local i64 i64) block local.get 0 br_if 0 end) (elem (i32.const 0) $f)
            (data (i32.const 0) "abc") (export "f" (func $f))) (core instance $i (instantiate $m))
            (alias core export $i "f" (core func $f)) (func (export "f") (param "a" u32) (canon lift (core func $f))))
        (instance $i (instantiate $c)) (export "airlock:tool/tool@0.1.0" (instance $i))
        (export "airlock:tool/resolver@0.1.0" (instance $i)))"#;
    vec![
        wat::component(&wat::module("i32.const 0", "")),
        ::wat::parse_str(more).expect("the component parses"),
    ]
}
