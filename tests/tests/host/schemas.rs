//! Schemas of a guest that would keep its host busy, or fill its memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_host::cancel::CancellationToken;
use airlock_host::limits::LimitKind;
use airlock_host::load::LoadError;
use airlock_host::{Error, Limits, Plugin, Session};
use airlock_tests::{Puppet, engine, wat};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

/// What takes much less than a test may, and would take for ever if nothing ended it.
const SOON: Duration = Duration::from_secs(20);

async fn defining(schemas: &[&Value]) -> Result<Plugin, LoadError> {
    let texts: Vec<(String, String)> = schemas
        .iter()
        .enumerate()
        .map(|(n, schema)| (format!("tool{n}"), schema.to_string()))
        .collect();
    let tools: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    Plugin::from_bytes(engine(), "schemas", wat::defining(&tools)).await
}

async fn session(schema: &Value, limits: Limits) -> Session {
    let plugin = defining(&[schema]).await.unwrap();
    Session::builder()
        .model_decides()
        .bind(&plugin)
        .limits(limits)
        .open()
        .unwrap()
}

/// Twice the same reference at each level: listing what doesn't fit took twice as long for each.
fn doubling() -> Value {
    let branch = json!({"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["z"]});
    json!({"type": "object", "$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [branch, branch]}}})
}

/// A schema that looks at each of many numbers many times.
fn laborious() -> Value {
    let looks = (0..200).map(|n| {
        let looked_for = json!({"contains": {"const": -1 - n}});
        json!({"properties": {"a": {"contains": looked_for}}})
    });
    json!({"type": "object", "anyOf": looks.collect::<Vec<_>>()})
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({"a": inner}))
}

/// Many numbers in many arrays, of which none is looked for.
fn numbers() -> Value {
    let row: Vec<u32> = (0..1000).collect();
    json!({"a": vec![row; 3000]})
}

async fn bystander_goes_on(puppet: &Puppet) {
    let said = puppet
        .text(json!([{"do": "text", "text": "unharmed"}]))
        .await;
    assert_eq!(said, "unharmed");
}

#[tokio::test]
async fn a_recursive_schema_can_not_keep_the_host_busy() {
    let bystander = Puppet::new().await;
    let limits = Limits::default().with_call_time(Duration::from_secs(2));
    let session = session(&doubling(), limits).await;
    for depth in [18, 26, 100, 120] {
        let begun = Instant::now();
        let error = session.call("tool0", &nested(depth)).await.unwrap_err();
        assert!(begun.elapsed() < SOON, "{depth}");
        let Error::InvalidParams { violations, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(violations.len(), 1, "{error}");
        bystander_goes_on(&bystander).await;
    }
}

#[tokio::test]
async fn checking_params_ends_with_its_steps_with_the_calls_time_and_when_cancelled() {
    let bystander = Puppet::new().await;
    let params = numbers();
    let begun = Instant::now();

    let few = Limits::default().with_params_steps(100_000);
    let session_of = async |limits| session(&laborious(), limits).await;
    let error = session_of(few)
        .await
        .call("tool0", &params)
        .await
        .unwrap_err();
    let Error::Limit { kind, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*kind, LimitKind::ParamsSteps);
    assert_eq!(
        error.to_string(),
        "tool `tool0` was not called: checking the params takes more than 100000 steps"
    );

    let short = Limits::default()
        .with_call_time(Duration::from_millis(1))
        .with_params_steps(u64::MAX);
    let error = session_of(short)
        .await
        .call("tool0", &params)
        .await
        .unwrap_err();
    let Error::Limit { kind, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*kind, LimitKind::CallTime);

    let session = session_of(Limits::default()).await;
    let cancel = CancellationToken::new();
    let calling = session.call("tool0", &params).cancelled_by(&cancel);
    let (called, ()) = tokio::join!(calling, async { cancel.cancel() });
    assert!(matches!(called, Err(Error::Cancelled)), "{called:?}");
    bystander_goes_on(&bystander).await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// How many threads of this process check params.
fn checking() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| name.trim() == "airlock-params").count()
}

#[tokio::test]
async fn two_hundred_checks_at_one_time_keep_no_more_than_the_cores_busy_and_nobody_else_waiting() {
    let bystander = Puppet::new().await;
    let unending = Limits::default().with_params_steps(u64::MAX);
    let (params, cancel) = (Arc::new(numbers()), CancellationToken::new());
    let laborious = defining(&[&laborious(), &laborious()]).await.unwrap();
    let mut calls = JoinSet::new();
    for number in 0..200 {
        let session = Session::builder()
            .model_decides()
            .bind(&laborious)
            .limits(unending.clone());
        let session = session.open().unwrap();
        let (params, cancel) = (Arc::clone(&params), cancel.clone());
        let tool = ["tool0", "tool1"][number % 2];
        calls.spawn(async move { session.call(tool, &*params).cancelled_by(&cancel).await });
    }
    let begun = Instant::now();
    while checking() == 0 {
        assert!(begun.elapsed() < SOON);
        tokio::task::yield_now().await;
    }
    // Too large for a schema to be compiled, and a value to be checked, in a moment: others have
    // room for that.
    let members = (0..500).map(|n| (format!("member{n}"), json!({"type": "integer"})));
    let large =
        json!({"type": "object", "properties": members.collect::<Map<_, _>>(), "required": ["z"]});
    let others = session(&large, Limits::default()).await;
    for _ in 0..20 {
        bystander_goes_on(&bystander).await;
        let error = others.call("tool0", &json!({"a": vec![0; 20_000]})).await;
        assert!(
            matches!(error, Err(Error::InvalidParams { .. })),
            "{error:?}"
        );
        let cores = std::thread::available_parallelism().unwrap().get();
        // A thread is still listed for a moment after its check has ended.
        while checking() > cores.max(2) {
            assert!(begun.elapsed() < SOON, "{} threads", checking());
            tokio::task::yield_now().await;
        }
    }
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    cancel.cancel();
    for called in calls.join_all().await {
        assert!(matches!(called, Err(Error::Cancelled)), "{called:?}");
    }
}

/// To wait for one's turn is part of the call's time.
#[tokio::test]
async fn a_check_that_waits_for_others_of_its_plugin_ends_with_the_calls_time() {
    let plugin = defining(&[&laborious()]).await.unwrap();
    let open = |call_time| {
        let limits = Limits::default()
            .with_call_time(call_time)
            .with_params_steps(u64::MAX);
        Session::builder()
            .model_decides()
            .bind(&plugin)
            .limits(limits)
            .open()
    };
    let long = open(Duration::from_secs(60)).unwrap();
    let short = open(Duration::from_millis(300)).unwrap();
    let (params, cancel) = (Arc::new(numbers()), CancellationToken::new());
    let mut in_the_way = JoinSet::new();
    for _ in 0..16 {
        let (session, params, cancel) = (long.clone(), Arc::clone(&params), cancel.clone());
        let call = async move { session.call("tool0", &*params).cancelled_by(&cancel).await };
        in_the_way.spawn(call);
    }
    let begun = Instant::now();
    let error = short.call("tool0", &*params).await.unwrap_err();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let Error::Limit { kind, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*kind, LimitKind::CallTime);
    cancel.cancel();
    for called in in_the_way.join_all().await {
        assert!(matches!(called, Err(Error::Cancelled)), "{called:?}");
    }
}

/// A check that takes long is no concern of the thread that asks for it.
#[tokio::test]
async fn another_session_on_the_same_thread_goes_on_while_params_are_checked() {
    let bystander = Puppet::new().await;
    let unending = Limits::default().with_params_steps(u64::MAX);
    let session = session(&laborious(), unending).await;
    let (params, cancel) = (numbers(), CancellationToken::new());
    let calling = session.call("tool0", &params).cancelled_by(&cancel);
    let meanwhile = async {
        bystander_goes_on(&bystander).await;
        cancel.cancel();
    };
    let (called, ()) = tokio::join!(calling, meanwhile);
    assert!(matches!(called, Err(Error::Cancelled)), "{called:?}");
}

#[tokio::test]
async fn params_of_any_depth_are_refused() {
    let mut deep = json!([]);
    for _ in 0..100_000 {
        deep = Value::Array(vec![deep]);
    }
    let mut params = json!({});
    params["a"] = deep;
    let puppet = Puppet::new().await;
    let error = puppet.session.call("puppet", &params).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the params of `puppet` don't fit its schema: arrays and objects are nested more than 127 deep"
    );
    // Dropping it would overflow the stack.
    std::mem::forget(params);
}

#[tokio::test]
async fn definitions_are_bounded_together_and_the_first_of_them_load() {
    let schema = json!({"type": "object", "description": "d".repeat(200_000)});
    let plugin = defining(&[&schema; 8]).await.unwrap();
    assert_eq!(plugin.tools().len(), 5);
    let reasons: Vec<&str> = plugin.rejected().iter().map(|it| &*it.reason).collect();
    assert_eq!(reasons.len(), 3);
    assert!(
        reasons[0].contains("those before it are 1000")
            && reasons[0].contains("the limit is 1048576"),
        "{}",
        reasons[0]
    );

    let many = json!({"type": "object", "enum": vec![json!({"": 0}); 8000]});
    let plugin = defining(&[&many; 5]).await.unwrap();
    assert_eq!(plugin.tools().len(), 3);
    assert_eq!(
        plugin.rejected()[0].reason,
        "its parameters schema and those before it have 64012 nodes; the limit is 50000 for all"
    );
    let patterns: Vec<_> = (0..250)
        .map(|n| json!({"pattern": format!("{n}.{{30}}")}))
        .collect();
    let many = json!({"type": "object", "prefixItems": patterns});
    let plugin = defining(&[&many; 5]).await.unwrap();
    assert_eq!(plugin.tools().len(), 2);
    let reason = &plugin.rejected()[0].reason;
    assert!(
        reason.contains("have 750 patterns; the limit is 512 for all"),
        "{reason}"
    );

    let large = json!({"type": "object", "description": "d".repeat(300_000)});
    let error = defining(&[&large]).await.unwrap_err().to_string();
    assert!(error.contains("bytes; the limit is 262144"), "{error}");
}

/// Schemas that took seconds and gigabytes to compile.
#[tokio::test]
async fn a_schema_that_is_large_when_written_out_is_soon_refused_or_loaded() {
    let chain = |levels: usize, link: fn(Value) -> Value| {
        let mut definitions = serde_json::Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            definitions.insert(format!("l{level}"), link(next));
        }
        definitions.insert(format!("l{levels}"), json!({"type": "object"}));
        json!({"type": "object", "$ref": "#/$defs/l0", "$defs": definitions})
    };
    let begun = Instant::now();
    for schema in [
        chain(3000, |next| json!({"properties": {"a": next}})),
        chain(2000, |next| next),
        chain(
            30,
            |next| json!({"allOf": [next, next], "unevaluatedProperties": false}),
        ),
        chain(
            16,
            |next| json!({"properties": {"a": next, "b": next}, "unevaluatedProperties": next}),
        ),
        json!({"type": "object", "allOf": vec![json!({"properties": {"a": {"minimum": 1}}}); 5000]}),
        json!({"type": "object", "properties": {"a": {"pattern": "((\\w{99}){99}){99}"}}}),
    ] {
        let loaded = defining(&[&schema]).await;
        if let Ok(plugin) = loaded {
            let session = Session::builder()
                .model_decides()
                .bind(&plugin)
                .open()
                .unwrap();
            let called = session.call("tool0", &nested(100)).await;
            assert!(called.is_err());
        }
    }
    assert!(begun.elapsed() < 3 * SOON, "{:?}", begun.elapsed());
}
