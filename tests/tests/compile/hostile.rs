//! What components that are dear to compile cost the host that is given them, seen from outside;
//! others go on meanwhile.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use airlock_host::compile::CompileLimits;
use airlock_host::load::LoadError;
use airlock_host::{Engine, Plugin, Session};
use airlock_tests::{bombs, component, peak_memory};
use serde_json::json;

use super::compiler;

/// What a load may take that compiles nothing, on a machine with other things to do.
const SOON: Duration = Duration::from_secs(20);

/// Time and memory for a hostile component; the guest of the other session has more than enough of
/// both.
fn limits() -> CompileLimits {
    CompileLimits::default()
        .with_time(Duration::from_secs(20))
        .with_memory(512 << 20)
}

fn engine() -> Engine {
    Engine::builder()
        .compiler(compiler())
        .compile_limits(limits())
        .build()
        .unwrap()
}

async fn load(engine: &Engine, bytes: Vec<u8>) -> LoadError {
    Plugin::from_bytes(engine, "bomb", bytes).await.unwrap_err()
}

#[tokio::test]
async fn what_does_not_fit_the_world_is_refused_without_being_compiled() {
    // There is no such compiler, so who compiles fails with another error.
    let engine = Engine::builder()
        .compiler("/nowhere/to/be/found")
        .build()
        .unwrap();
    for module in [
        bombs::straight(990_000),
        bombs::ifs(990_000, 990),
        bombs::blocks(330_000),
        bombs::jump_table(65_000),
        bombs::functions(190_000),
    ] {
        let error = load(&engine, bombs::misfit(&module)).await;
        assert_eq!(
            error.to_string(),
            "bomb doesn't fit the world `airlock:tool/custom-tool@0.1.0`: it doesn't export `airlock:tool/tool@0.1.0`"
        );
    }
}

#[tokio::test]
async fn what_is_too_complex_is_refused_with_what_has_how_much_without_being_compiled() {
    let engine = Engine::builder()
        .compiler("/nowhere/to/be/found")
        .build()
        .unwrap();
    let check = async |bytes: Vec<u8>, expected: &str| {
        let started = Instant::now();
        let error = load(&engine, bytes).await;
        assert!(started.elapsed() < SOON, "{expected}");
        assert_eq!(error.kind(), "too-complex", "{error}");
        assert_eq!(
            error.to_string(),
            format!("bomb is too complex to be compiled: {expected}")
        );
    };
    let both = async |module: &str, expected: &str| {
        check(bombs::misfit(module), expected).await;
    };
    both(
        &bombs::blocks(333_333),
        "function 0 of module 0 is 1000001 bytes; the limit is 1000000",
    )
    .await;
    both(
        &format!(
            "(import \"a\" \"b\" (func)) (func) {}",
            bombs::ifs(2000, 3000)
        ),
        "function 2 of module 0 has 3000 locals; the limit is 1000",
    )
    .await;
    both(
        &bombs::functions(200_001),
        "it has 200001 functions; the limit is 200000",
    )
    .await;
    both(
        &bombs::types(50_001),
        "it has 50001 types; the limit is 50000",
    )
    .await;
    both(
        &bombs::exports(100_001),
        "it has 100001 exports; the limit is 100000",
    )
    .await;
    both(
        &bombs::segments(250_001),
        "it has 250001 segments; the limit is 250000",
    )
    .await;
    check(
        bombs::nested(17),
        "its components are nested 17 deep; the limit is 16",
    )
    .await;
    let modules = ::wat::parse_str(format!("(component {})", "(core module)".repeat(257)));
    check(
        modules.unwrap(),
        "it has 257 modules and components; the limit is 256",
    )
    .await;
}

#[tokio::test]
async fn the_bounds_hold_over_all_modules_of_a_component_together() {
    let engine = Engine::builder().build().unwrap();
    let module = format!("(core module {})", bombs::functions(70_000));
    let bytes = ::wat::parse_str(format!("(component {module} {module} {module})")).unwrap();
    assert_eq!(
        load(&engine, bytes).await.to_string(),
        "bomb is too complex to be compiled: it has 210000 functions; the limit is 200000"
    );
}

/// Loads what fits the world and all the bounds, while another session of this process calls a
/// tool.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn what_is_dear_to_compile_ends_by_its_limits_while_another_session_goes_on() {
    let engine = engine();
    let puppet = Plugin::load(&engine, component("puppet")).await.unwrap();
    let session = Session::builder()
        .model_decides()
        .bind(&puppet)
        .open()
        .unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let other = tokio::spawn({
        let is_over = Arc::clone(&is_over);
        async move {
            let mut calls = 0;
            let mut longest = Duration::ZERO;
            while !is_over.load(Ordering::SeqCst) {
                let started = Instant::now();
                session.call("puppet", &json!({"steps": []})).await.unwrap();
                longest = longest.max(started.elapsed());
                calls += 1;
                tokio::task::yield_now().await;
            }
            (calls, longest)
        }
    });
    let peak = || peak_memory(std::process::id());
    for (name, module) in [
        ("straight", bombs::straight(990_000)),
        ("ifs", bombs::ifs(990_000, 990)),
        ("blocks", bombs::blocks(330_000)),
        ("jump table", bombs::jump_table(65_000)),
        ("functions", bombs::functions(190_000)),
    ] {
        let bytes = bombs::fitting(&module);
        let size = bytes.len();
        let before = peak();
        let started = Instant::now();
        let error = load(&engine, bytes.clone()).await;
        let took = started.elapsed();
        println!(
            "{name}: {size} bytes, {took:.1?}, {} MiB more, {error}",
            (peak() - before) >> 20
        );
        // Either it is refused, or it was compiled and asked for its tools, whereupon it traps.
        assert!(
            [
                "compile-time",
                "compile-memory",
                "compiler-failed",
                "no-definitions"
            ]
            .contains(&error.kind()),
            "{name}: {error}"
        );
        assert!(took < limits().time + SOON, "{name}: {took:?}");
        assert!(peak() - before < 512 << 20, "{name}: {}", peak() - before);
        if error.kind() == "compile-time" || error.kind() == "compile-memory" {
            // What failed a moment ago isn't compiled again.
            let started = Instant::now();
            assert_eq!(load(&engine, bytes).await.kind(), error.kind());
            assert!(started.elapsed() < Duration::from_secs(5), "{name}");
        }
    }
    is_over.store(true, Ordering::SeqCst);
    let (calls, longest) = other.await.unwrap();
    println!("the other session: {calls} calls, the longest took {longest:?}");
    assert!(calls > 100, "{calls}");
    assert!(longest < Duration::from_secs(5), "{longest:?}");
}

#[tokio::test]
async fn without_a_compiler_a_load_ends_in_time_and_others_are_told_that_the_threads_are_busy() {
    let engine = Engine::builder().compile_limits(
        CompileLimits::default()
            .with_time(Duration::from_millis(500))
            .with_at_once(1),
    );
    let engine = engine.build().unwrap();
    let bomb = bombs::fitting(&bombs::straight(990_000));
    let started = Instant::now();
    let error = load(&engine, bomb.clone()).await;
    assert_eq!(
        error.to_string(),
        "bomb was not compiled within the limit of 0.5 s"
    );
    let error = Plugin::load(&engine, component("puppet"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "puppet could not be compiled: the limit of concurrent compilations (1) is reached, and none of them finished in time"
    );
    // It is known, whatever it is called now.
    let again = Plugin::from_bytes(&engine, "again", bomb).await;
    assert_eq!(
        again.unwrap_err().to_string(),
        "again was not compiled within the limit of 0.5 s"
    );
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

#[tokio::test]
async fn what_cannot_be_asked_for_its_tools_is_not_compiled_again() {
    let folder = tempfile::TempDir::new().unwrap();
    let count = folder.path().join("count");
    let script = super::script(
        folder.path(),
        &format!(
            "echo >> {}; exec {} \"$@\"",
            count.display(),
            compiler().display()
        ),
    );
    let engine = Engine::builder().compiler(script).build().unwrap();
    for _ in 0..3 {
        let error = load(&engine, bombs::fitting("")).await;
        assert_eq!(error.kind(), "no-definitions");
    }
    assert_eq!(lines(&count), 1);
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap().lines().count()
}
