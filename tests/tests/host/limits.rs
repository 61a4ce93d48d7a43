//! Each limit holds against a guest that means harm, and its session and others go on afterwards.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use airlock_host::event::Event;
use airlock_host::limits::LimitKind;
use airlock_host::load::LoadError;
use airlock_host::policy::Rehearse;
use airlock_host::{Engine, Error, Limits, Plugin, Resolution, Session};
use airlock_tests::{Puppet, Tester, component, durable, engine, wat};
use serde_json::{Value, json};

/// Much more than a call takes, and much less than a test may.
const SHORT: Duration = Duration::from_secs(1);

/// The limit that ends `steps`, both as a call and as an apply. The session must go on.
async fn check(limits: Limits, steps: Value, kind: LimitKind, said: &str) {
    let puppet = Puppet::limited(limits).await;
    let bystander = Puppet::new().await;
    let error = puppet.call(steps.clone()).await.unwrap_err();
    assert_limit(&error, kind, said);
    assert_eq!(
        puppet
            .text(json!([{"do": "text", "text": "still here"}]))
            .await,
        "still here"
    );

    puppet.push(durable("Harm", steps)).await;
    let error = puppet.resolve(Resolution::apply("")).await.unwrap_err();
    assert_limit(error.root(), kind, said);
    assert!(
        error
            .to_string()
            .starts_with("Apply failed: tool `custom_tool` "),
        "{error}"
    );
    assert_eq!(puppet.labels().await, ["Harm"]);
    assert_eq!(
        bystander
            .text(json!([{"do": "text", "text": "unharmed"}]))
            .await,
        "unharmed"
    );
}

fn assert_limit(error: &Error, expected: LimitKind, said: &str) {
    let Error::Limit { kind, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(*kind, expected, "{error}");
    assert!(error.to_string().contains(said), "{error}");
}

#[tokio::test]
async fn wall_clock_ends_pure_computation_and_a_blocked_host_call_alike() {
    for step in ["spin", "block"] {
        let limits = Limits::default().with_call_time(SHORT);
        let began = Instant::now();
        check(
            limits,
            json!([{"do": step}]),
            LimitKind::CallTime,
            "was stopped after 1 s",
        )
        .await;
        assert!(began.elapsed() < Duration::from_secs(20), "{step}");
    }
}

/// On a single thread, where a guest that didn't yield would stop everybody.
#[tokio::test]
async fn a_guest_that_computes_without_end_does_not_stall_another_session() {
    let limits = Limits::default().with_call_time(Duration::from_secs(3));
    let hostile = Puppet::limited(limits).await;
    let other = Puppet::new().await;
    let spinning = hostile.call(json!([{"do": "spin"}]));
    let calls = async {
        let began = Instant::now();
        for _ in 0..5 {
            other.text(json!([{"do": "text", "text": "served"}])).await;
        }
        began.elapsed()
    };
    let (spun, took) = tokio::join!(spinning, calls);
    assert_limit(&spun.unwrap_err(), LimitKind::CallTime, "stopped after 3 s");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// Opening a named pipe without a writer would block the host's own thread.
#[tokio::test]
async fn a_named_pipe_in_the_workspace_is_not_opened() {
    let puppet = Puppet::new().await;
    let pipe = puppet.workspace().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for step in [
        json!({"do": "fs", "op": "read", "path": "pipe"}),
        json!({"do": "fs", "op": "append", "path": "pipe", "text": "x"}),
        json!({"do": "raw", "op": "open", "path": "pipe", "with": ["exclusive", "read"]}),
        json!({"do": "raw", "op": "open", "path": "pipe", "with": ["create", "write"]}),
    ] {
        let said = puppet.apply(json!([step])).await.unwrap().text();
        assert!(
            said.starts_with("error: Not supported") || said == "error: unsupported",
            "{said}"
        );
    }
}

#[tokio::test]
async fn memory() {
    let limits = Limits::default().with_memory(32 << 20);
    let eat = json!([{"do": "allocate", "mib": 64}]);
    check(
        limits.clone(),
        eat,
        LimitKind::Memory,
        "needs more than its 32 MiB of memory",
    )
    .await;
    let puppet = Puppet::limited(limits).await;
    let said = puppet
        .text(json!([{"do": "allocate", "mib": 64, "gently": true}, {"do": "allocate", "mib": 8}]))
        .await;
    assert!(said.starts_with("allocation refused"), "{said}");
    assert!(said.ends_with("allocated 8 MiB"), "{said}");
}

#[tokio::test]
async fn stack_depth() {
    check(
        Limits::default(),
        json!([{"do": "recurse"}]),
        LimitKind::Stack,
        "used up its stack",
    )
    .await;
}

#[tokio::test]
async fn host_memory_that_a_guest_passes_and_the_size_of_a_result() {
    let limits = Limits::default()
        .with_hostcall_bytes(4 << 20)
        .with_result_bytes(1 << 20);
    let steps = |bytes: usize| json!([{"do": "result-bytes", "bytes": bytes}]);
    check(
        limits.clone(),
        steps(2 << 20),
        LimitKind::ResultBytes,
        "returned 2097152 bytes; the limit is 1048576",
    )
    .await;
    check(
        limits.clone(),
        steps(8 << 20),
        LimitKind::HostcallBytes,
        "passed more than 4194304 bytes",
    )
    .await;
    let blocks = json!([{"do": "result-blocks", "count": 300_000}]);
    let puppet = Puppet::limited(limits.clone()).await;
    assert!(matches!(
        puppet.call(blocks).await,
        Err(Error::Limit { .. })
    ));
    // What is passed to an import is bounded in the same way.
    let label = json!([airlock_tests::push("", json!({"labelBytes": 5 << 20}))]);
    let error = Puppet::limited(limits).await.call(label).await.unwrap_err();
    assert_limit(
        &error,
        LimitKind::HostcallBytes,
        "passed more than 4194304 bytes",
    );
}

#[tokio::test]
async fn file_handles_are_refused_above_the_limit_and_the_guest_goes_on() {
    let limits = Limits::default().with_open_files(20);
    let puppet = Puppet::limited(limits).await;
    std::fs::write(puppet.workspace().join("f"), "x").unwrap();
    for step in ["open-many", "open-many-kept"] {
        let said = puppet
            .text(json!([{"do": step, "path": "f", "count": 100}]))
            .await;
        let opened: usize = said.split(' ').nth(1).unwrap().parse().unwrap();
        // The directories themselves count.
        assert!((15..=20).contains(&opened), "{said}");
        assert!(
            said.contains("error: Quota exceeded") || said.contains("uota"),
            "{said}"
        );
    }
    // What is kept counts in later calls too, and goes with its instance.
    let one = json!([{"do": "open-many", "path": "f", "count": 1}]);
    assert!(puppet.text(one.clone()).await.starts_with("opened 0 of 1"));
    puppet.call(json!([{"do": "trap"}])).await.unwrap_err();
    assert_eq!(puppet.text(one).await, "opened 1 of 1");
}

/// Each takes two descriptors, and its directory one.
#[tokio::test]
async fn directory_listings_are_refused_above_the_limit_and_the_guest_goes_on() {
    let limits = Limits::default().with_open_files(100);
    let puppet = Puppet::limited(limits).await;
    let many = json!([{"do": "list-many", "path": "/workspace", "count": 100}]);
    for _ in 0..2 {
        let said = puppet.text(many.clone()).await;
        assert!(said.starts_with("opened 32 of 100; error: "), "{said}");
    }
}

#[tokio::test]
async fn the_scratch_directory_is_full_at_its_limit() {
    let limits = Limits::default().with_scratch_bytes(100_000);
    let puppet = Puppet::limited(limits).await;
    let write = |name: &str, bytes: usize| json!({"do": "fs", "op": "write", "path": format!("/scratch/{name}"), "text": "x".repeat(bytes)});
    assert_eq!(puppet.text(json!([write("a", 50_000)])).await, "ok");
    let said = puppet.text(json!([write("b", 60_000)])).await;
    assert!(said.starts_with("error:"), "{said}");
    // Empty files are not free.
    let many: Vec<Value> = (0..40).map(|n| write(&format!("e{n}"), 0)).collect();
    assert!(puppet.text(json!(many)).await.contains("error:"));
}

#[tokio::test]
async fn an_apply_changes_no_more_files_and_bytes_than_it_may() {
    let made = |count: usize| json!({"do": "make-many", "path": "/workspace", "count": count});
    let write =
        |bytes: usize| json!({"do": "fs", "op": "write", "path": "a", "text": "x".repeat(bytes)});
    for (limits, apply, is_all) in [
        (Limits::default(), made(50), true),
        (Limits::default().with_changed_files(40), made(30), true),
        (Limits::default().with_changed_files(40), made(50), false),
        (
            Limits::default().with_changed_bytes(2_000),
            write(2_000),
            true,
        ),
        (
            Limits::default().with_changed_bytes(2_000),
            write(2_001),
            false,
        ),
    ] {
        let puppet = Puppet::with(|session| session.limits(limits).rehearse(Rehearse::Auto)).await;
        let push = durable("It", json!([apply]));
        puppet.call(json!([push])).await.unwrap();
        let outcome = puppet.resolve(Resolution::apply("so")).await.unwrap();
        let text = outcome.content[0].as_text().unwrap();
        assert_eq!(!text.contains("error: "), is_all, "{text}");
    }
}

#[tokio::test]
async fn log_lines_of_all_kinds_are_counted_together_and_the_rest_is_dropped() {
    let limits = Limits::default().with_log_lines(10).with_log_line_bytes(50);
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let puppet = Puppet::with(|session| {
        session.limits(limits).observer(move |_, event| {
            if airlock_tests::is_of_guest(event) {
                seen.lock().unwrap().push(event.clone());
            }
        })
    })
    .await;
    for (steps, dropped) in [
        (json!([{"do": "log", "lines": 1_000_000}]), 999_990),
        (
            json!([{"do": "stdout", "lines": 8}, {"do": "stderr", "lines": 8}]),
            6,
        ),
        (
            json!(vec![json!({"do": "progress", "message": "on"}); 15]),
            5,
        ),
    ] {
        events.lock().unwrap().clear();
        puppet.call(steps).await.unwrap();
        let mut events = events.lock().unwrap();
        assert_eq!(events.pop(), Some(Event::LogsDropped { lines: dropped }));
        assert_eq!(events.len(), 10);
    }
    events.lock().unwrap().clear();
    puppet
        .call(json!([{"do": "long-line", "bytes": 10_000_000}]))
        .await
        .unwrap();
    let events = events.lock().unwrap();
    let [Event::Log { message, .. }] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(message.chars().count(), 51);
}

#[tokio::test]
async fn a_guest_cannot_ask_for_much_randomness_at_once() {
    let puppet = Puppet::new().await;
    assert!(
        puppet
            .text(json!([{"do": "random", "bytes": 32}]))
            .await
            .starts_with("random 32: ")
    );
    assert!(
        puppet
            .call(json!([{"do": "random", "bytes": 100_000_000}]))
            .await
            .is_err()
    );
    assert_eq!(
        puppet.text(json!([{"do": "text", "text": "on"}])).await,
        "on"
    );
}

/// Loads a component whose `definitions` has this body, and gives the error.
async fn load_error(engine: &Engine, definitions: &str, extra: &str) -> LoadError {
    let bytes = wat::component(&wat::module(definitions, extra));
    Plugin::from_bytes(engine, "hostile", bytes)
        .await
        .unwrap_err()
}

fn definitions_limit(error: &LoadError, expected: LimitKind) {
    let LoadError::Definitions { source, .. } = error else {
        panic!("{error}");
    };
    assert_limit(source, expected, "");
}

#[tokio::test]
async fn tables_cannot_grow_above_their_limit() {
    let grow = "(if (i32.eq (table.grow $t (ref.null func) (i32.const 10000000)) (i32.const -1)) (then unreachable)) i32.const 0";
    let error = load_error(engine(), grow, "(table $t 1 funcref)").await;
    definitions_limit(&error, LimitKind::TableElements);
}

#[tokio::test]
async fn a_memory_or_table_that_begins_too_large_is_refused_when_it_is_loaded() {
    for extra in [
        "(table 5000000 funcref)",
        "(table 200000 funcref) (table 200000 funcref)",
    ] {
        let error = load_error(engine(), "unreachable", extra).await;
        assert!(
            matches!(
                error,
                LoadError::NotAComponent { .. } | LoadError::Definitions { .. }
            ),
            "{error}"
        );
        assert!(error.to_string().contains("table"), "{error}");
    }
}

#[tokio::test]
async fn a_component_with_too_many_instances_is_refused_when_it_is_loaded() {
    let instances = "(core instance (instantiate $m))".repeat(5000);
    let text = format!("(component (core module $m) {instances})");
    let bytes = ::wat::parse_str(text).unwrap();
    let error = Plugin::from_bytes(engine(), "many", bytes)
        .await
        .unwrap_err();
    assert!(matches!(error, LoadError::TooComplex { .. }), "{error}");
    assert!(error.to_string().contains("5000 instances"), "{error}");
}

#[tokio::test]
async fn definitions_that_loop_recurse_or_flood_end_the_load_and_nothing_else() {
    let limits = Limits::default().with_call_time(SHORT);
    let engine = Engine::builder().limits(limits).build().unwrap();
    let error = Plugin::load(&engine, component("bad_definitions_spin"))
        .await
        .unwrap_err();
    definitions_limit(&error, LimitKind::CallTime);
    let error = load_error(&engine, "(call $f) i32.const 0", "(func $f (call $f))").await;
    definitions_limit(&error, LimitKind::Stack);
    let error = Plugin::load(&engine, component("bad_definitions_trap"))
        .await
        .unwrap_err();
    assert!(matches!(error, LoadError::Definitions { .. }), "{error}");
}

#[tokio::test]
async fn a_start_function_that_never_ends_is_stopped() {
    let limits = Limits::default().with_call_time(SHORT);
    let engine = Engine::builder().limits(limits).build().unwrap();
    let error = load_error(
        &engine,
        "unreachable",
        "(func $s (loop $l br $l)) (start $s)",
    )
    .await;
    definitions_limit(&error, LimitKind::CallTime);
}

#[tokio::test]
async fn live_instances_make_room_for_each_other_unless_they_hold_volatile_actions() {
    let limits = Limits::default().with_call_time(SHORT);
    let engine = Engine::builder()
        .limits(limits)
        .live_instances(3)
        .build()
        .unwrap();
    let plugin = Plugin::load(&engine, component("puppet")).await.unwrap();
    let open = || {
        Session::builder()
            .model_decides()
            .bind(&plugin)
            .open()
            .unwrap()
    };
    let sessions: Vec<Session> = (0..10).map(|_| open()).collect();
    for _ in 0..3 {
        for session in &sessions {
            session.call("puppet", &json!({"steps": []})).await.unwrap();
            assert!(engine.live_instances() <= 3);
        }
    }
    let hold = json!({"steps": [airlock_tests::push("Volatile", json!({"volatile": true}))]});
    for session in &sessions[..3] {
        session.call("puppet", &hold).await.unwrap();
    }
    let error = sessions[4]
        .call("puppet", &json!({"steps": []}))
        .await
        .unwrap_err();
    assert_limit(&error, LimitKind::LiveInstances, "could not start");
    // A decision makes room.
    sessions[0]
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    sessions[4]
        .call("puppet", &json!({"steps": []}))
        .await
        .unwrap();
    // None of the previews was lost on the way.
    for session in &sessions[1..3] {
        session
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_that_wait_for_an_instance_get_one() {
    let engine = Engine::builder().live_instances(2).build().unwrap();
    let plugin = Plugin::load(&engine, component("puppet")).await.unwrap();
    let calls: Vec<_> = (0..40)
        .map(|_| {
            let session = Session::builder()
                .model_decides()
                .bind(&plugin)
                .open()
                .unwrap();
            tokio::spawn(async move {
                for _ in 0..5 {
                    session
                        .call("puppet", &json!({"steps": [{"do": "block", "ms": 1}]}))
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
}
