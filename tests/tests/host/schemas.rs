//! Schemas of a guest that would keep its host busy, or fill its memory.

use std::time::{Duration, Instant};

use airlock_host::{CancellationToken, Error, LimitKind, Limits, LoadError, Plugin, Session};
use airlock_tests::{Puppet, engine, wat};
use serde_json::{Value, json};

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
        .plugin(&plugin)
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
    let limits = Limits {
        call_time: Duration::from_secs(2),
        ..Limits::default()
    };
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

    let few = Limits {
        params_steps: 100_000,
        ..Limits::default()
    };
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

    let short = Limits {
        call_time: Duration::from_millis(1),
        params_steps: u64::MAX,
        ..Limits::default()
    };
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
    let calling = session.call_with("tool0", &params, Some(&cancel));
    let (called, ()) = tokio::join!(calling, async { cancel.cancel() });
    assert!(matches!(called, Err(Error::Cancelled)), "{called:?}");
    bystander_goes_on(&bystander).await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// A check that takes long is no concern of the thread that asks for it.
#[tokio::test]
async fn another_session_on_the_same_thread_goes_on_while_params_are_checked() {
    let bystander = Puppet::new().await;
    let unending = Limits {
        params_steps: u64::MAX,
        ..Limits::default()
    };
    let session = session(&laborious(), unending).await;
    let (params, cancel) = (numbers(), CancellationToken::new());
    let calling = session.call_with("tool0", &params, Some(&cancel));
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
            let session = Session::builder().plugin(&plugin).open().unwrap();
            let called = session.call("tool0", &nested(100)).await;
            assert!(called.is_err());
        }
    }
    assert!(begun.elapsed() < 3 * SOON, "{:?}", begun.elapsed());
}
