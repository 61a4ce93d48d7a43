//! A tool that is part of the host, written with the public trait, keeps the rules that plugins
//! keep.

use airlock_tests::Tester;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use airlock_host::content::{Content, ToolResult};
use airlock_host::json::Json;
use airlock_host::limits::LimitKind;
use airlock_host::native::{
    ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
};
use airlock_host::pending::{ActionState, Decision};
use airlock_host::store::PendingStore;
use airlock_host::tool::{ToolDefinition, ToolTraits};
use airlock_host::{Error, Limits, Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Does as its params say, and remembers what it was told of decisions.
struct Native {
    definition: ToolDefinition,
    state_version: u32,
    heard: Arc<Mutex<Vec<DecidedAction>>>,
    /// A preview waits for this.
    hangs: Arc<Mutex<mpsc::Receiver<()>>>,
}

/// What the test holds of it.
struct Held {
    heard: Arc<Mutex<Vec<DecidedAction>>>,
    hangs: mpsc::Sender<()>,
    /// Locked while a preview waits.
    waits: Arc<Mutex<mpsc::Receiver<()>>>,
}

fn native(change: impl FnOnce(&mut Native)) -> (Native, Held) {
    let (sender, hangs) = mpsc::channel();
    let mut native = Native {
        definition: ToolDefinition {
            name: "native".to_owned(),
            label: "Native".to_owned(),
            description: "Does as it is told.".to_owned(),
            parameters: Json::of_own(&json!({
                "type": "object",
                "properties": {
                    "do": {"enum": ["nothing", "propose", "hang", "loop", "panic", "write", "say", "tell in full"]},
                    "bytes": {"type": "integer"},
                },
                "required": ["do"],
            })),
            output: None,
            traits: ToolTraits::default(),
        },
        state_version: 1,
        heard: Arc::default(),
        hangs: Arc::new(Mutex::new(hangs)),
    };
    change(&mut native);
    let held = Held {
        heard: Arc::clone(&native.heard),
        hangs: sender,
        waits: Arc::clone(&native.hangs),
    };
    (native, held)
}

impl NativeTool for Native {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn state_version(&self) -> u32 {
        self.state_version
    }

    fn preview(&self, params: &Value, call: &PreviewCall) -> Result<Preview, Error> {
        let bytes = params["bytes"].as_u64().unwrap_or(1) as usize;
        match params["do"].as_str().unwrap_or_default() {
            "propose" => {
                let action = ProposedAction::new("Do it", vec![7; bytes])
                    .details(Json::of_own(&json!({"some": "details"})))
                    .hearing_of_a_discard();
                Ok(Preview::of(ToolResult::text("previewed")).proposing(action))
            }
            "tell in full" => {
                let action = ProposedAction::new("Do it", vec![7]);
                let preview = Preview::of(ToolResult::text("short")).proposing(action);
                Ok(preview.in_full(vec![Content::text("x".repeat(bytes))]))
            }
            "hang" => {
                let _ = self.hangs.lock().unwrap().recv();
                Ok(Preview::of(ToolResult::text("too late")))
            }
            "loop" => loop {
                call.check()?;
                std::thread::yield_now();
            },
            "panic" => panic!("as it was told"),
            "write" => {
                let folder = call.folder()?;
                let found = folder.kind("there".as_ref()).map_err(|error| Error::Tool {
                    message: error.to_string(),
                })?;
                Ok(Preview::of(ToolResult::text(format!("{found:?}"))))
            }
            "say" => Ok(Preview::of(ToolResult::text("x".repeat(bytes)))),
            _ => Ok(Preview::of(ToolResult::text("nothing"))),
        }
    }

    fn apply(&self, action: &DecidedAction, call: &ApplyCall) -> Result<ToolResult, Error> {
        self.heard.lock().unwrap().push(action.clone());
        if action.reason == "fail" {
            return Err(Error::Tool {
                message: "it can't be done".to_owned(),
            });
        }
        if action.reason == "early" || action.reason == "write" {
            return write(call, action.reason == "write");
        }
        call.begin_changes()?;
        // Whatever the time is by now, and however often it is asked.
        call.check()?;
        call.begin_changes()?;
        Ok(ToolResult::text("applied"))
    }

    fn reject(&self, action: &DecidedAction, _: &PreviewCall) -> Result<Option<ToolResult>, Error> {
        self.heard.lock().unwrap().push(action.clone());
        Ok(Some(ToolResult::text("sorry to hear that")))
    }
}

/// Writes a file, and begins changes before that or never.
fn write(call: &ApplyCall, begins: bool) -> Result<ToolResult, Error> {
    let told = |error: &dyn std::fmt::Display| Error::Tool {
        message: error.to_string(),
    };
    let folder = call.folder()?;
    let path = "file".as_ref();
    let was = folder.stamp(path).map_err(|error| told(&error))?;
    let staged = folder
        .stage(path, &was, b"new")
        .map_err(|error| told(&error))?;
    if begins {
        call.begin_changes()?;
    }
    staged.place().map_err(|error| told(&error))?;
    Ok(ToolResult::text("written"))
}

fn open(tool: Native, limits: Limits) -> Session {
    Session::builder()
        .limits(limits)
        .bind(&NativeProducer::new(tool).unwrap())
        .open()
        .unwrap()
}

async fn call(session: &Session, what: &str) -> Result<String, Error> {
    let called = session.call("native", &json!({"do": what})).await;
    called.map(|outcome| outcome.text())
}

#[tokio::test]
async fn a_decision_reaches_it_with_its_reason_extra_and_attempt() {
    let (tool, held) = native(|_| {});
    let session = open(tool, Limits::default());
    let preview = session.call("native", &json!({"do": "propose"})).await;
    let action = Arc::clone(&preview.unwrap().pushed[0]);
    assert_eq!(action.source_tool_name, "native");
    assert!(action.source_is_own_tool && action.durable);
    assert_eq!(
        action.details.as_ref().unwrap().as_str(),
        r#"{"some":"details"}"#
    );
    let extra: Map<String, Value> = json!({"a": 1}).as_object().unwrap().clone();
    let failed = session
        .resolve(Resolution::apply("fail").with_extra(extra.clone()), Tester)
        .await;
    assert!(failed.unwrap_err().to_string().contains("it can't be done"));
    let applied = session.resolve(Resolution::apply("because").with_extra(extra), Tester);
    assert_eq!(applied.await.unwrap().text(), "applied");
    let heard = held.heard.lock().unwrap();
    let [first, second] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!((first.attempt, second.attempt), (1, 2));
    assert_eq!((&*second.reason, &*second.state), ("because", &[7][..]));
    assert_eq!(second.extra.as_ref().unwrap().as_str(), r#"{"a":1}"#);
    assert_eq!((&second.id, &*second.label), (&action.id, "Do it"));
}

#[tokio::test]
async fn nothing_is_put_in_its_place_before_changes_began() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "old").unwrap();
    let (tool, _held) = native(|_| {});
    let session = Session::builder()
        .workspace(folder.path())
        .bind(&NativeProducer::new(tool).unwrap())
        .open()
        .unwrap();
    call(&session, "propose").await.unwrap();
    let early = session.resolve(Resolution::apply("early"), Tester).await;
    let early = early.unwrap_err().to_string();
    assert!(early.contains("changes have not begun"), "{early}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    session
        .resolve(Resolution::apply("write"), Tester)
        .await
        .unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
}

#[tokio::test]
async fn it_hears_of_a_discard_where_it_asked_for_that() {
    let (tool, held) = native(|_| {});
    let session = open(tool, Limits::default());
    call(&session, "propose").await.unwrap();
    let discarded = session
        .resolve(Resolution::discard("no"), Tester)
        .await
        .unwrap();
    assert_eq!(discarded.text(), "sorry to hear that");
    assert_eq!(held.heard.lock().unwrap()[0].reason, "no");
}

#[tokio::test]
async fn a_decision_that_finds_it_busy_is_not_carried_out_and_changes_nothing() {
    for decision in [Decision::Apply, Decision::Discard] {
        let (tool, held) = native(|_| {});
        let session = open(tool, Limits::default());
        call(&session, "propose").await.unwrap();
        // It works on, though nobody waits for it any more.
        let cancel = CancellationToken::new();
        let params = json!({"do": "hang"});
        let hanging = session.call("native", &params).cancelled_by(&cancel);
        let cancelling = async {
            while held.waits.try_lock().is_ok() {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        };
        let (hung, ()) = tokio::join!(hanging, cancelling);
        hung.unwrap_err();
        let busy = session.resolve(Resolution::new(decision, ""), Tester).await;
        let busy = busy.unwrap_err();
        assert_eq!(busy.kind(), "busy", "{decision:?}: {busy}");
        assert!(held.heard.lock().unwrap().is_empty(), "{decision:?}");
        let stack = session.pending().await.unwrap();
        let stack: Vec<_> = stack.iter().map(|it| (it.attempts, it.state)).collect();
        assert_eq!(stack, [(0, ActionState::Pending)], "{decision:?}");
        drop(held.hangs);
        let resolved = session.resolve(Resolution::new(decision, ""), Tester).await;
        resolved.unwrap();
        assert_eq!(held.heard.lock().unwrap()[0].attempt, 1, "{decision:?}");
    }
}

#[tokio::test]
async fn its_params_results_and_states_are_checked_as_those_of_plugins() {
    let check = async |params: Value, limits: Limits, expected: &str| {
        let (tool, _held) = native(|_| {});
        let session = open(tool, limits);
        let error = session.call("native", &params).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{params}: {error}");
        assert!(session.pending().await.unwrap().is_empty(), "{params}");
    };
    let limits = Limits::default;
    check(json!({}), limits(), "\"do\" is a required property").await;
    check(json!({"do": "sing"}), limits(), "\"sing\" is not one of").await;
    let few = limits().with_result_bytes(10).with_state_bytes(10);
    check(json!({"do": "say", "bytes": 11}), few.clone(), "11").await;
    check(json!({"do": "propose", "bytes": 11}), few.clone(), "state").await;
    check(json!({"do": "tell in full", "bytes": 11}), few, "11").await;
    check(
        json!({"do": "write"}),
        limits(),
        "native needs a workspace, and this session has none",
    )
    .await;
    check(json!({"do": "panic"}), limits(), "did not end its work").await;
}

#[tokio::test]
async fn what_it_tells_in_full_is_in_the_record_alone() {
    let (tool, _held) = native(|_| {});
    let session = open(tool, Limits::default());
    let params = json!({"do": "tell in full", "bytes": 1000});
    let previewed = session.call("native", &params).await.unwrap();
    assert_eq!(previewed.content, [Content::text("short")]);
    let call = session.call_record(&previewed.pushed[0].id).await.unwrap();
    assert_eq!(call.unwrap().content, [Content::text("x".repeat(1000))]);
}

#[tokio::test]
async fn a_call_ends_with_its_time_and_when_it_is_cancelled_whether_it_looks_or_not() {
    for what in ["loop", "hang"] {
        let (tool, _held) = native(|_| {});
        let limits = Limits::default().with_call_time(Duration::from_millis(100));
        let session = open(tool, limits);
        let error = call(&session, what).await.unwrap_err();
        let is_time = matches!(
            error,
            Error::Limit {
                kind: LimitKind::CallTime,
                ..
            }
        );
        assert!(is_time, "{what}: {error}");

        let (tool, _held) = native(|_| {});
        let session = open(tool, Limits::default());
        let cancel = CancellationToken::new();
        let params = json!({"do": what});
        let calling = session.call("native", &params).cancelled_by(&cancel);
        let cancelling = async {
            tokio::task::yield_now().await;
            cancel.cancel();
        };
        let (called, ()) = tokio::join!(calling, cancelling);
        assert!(
            matches!(called, Err(Error::Cancelled)),
            "{what}: {called:?}"
        );
    }
}

#[tokio::test]
async fn what_it_proposed_is_applied_by_another_session_with_the_same_store() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("pending.db");
    let store =
        || async { Arc::new(SqliteStore::open(&file).await.unwrap()) as Arc<dyn PendingStore> };
    let open = async |version: u32| {
        let (tool, held) = native(|native| native.state_version = version);
        let session = Session::builder()
            .id("one")
            .store(store().await)
            .bind(&NativeProducer::new(tool).unwrap())
            .open()
            .unwrap();
        (session, held)
    };
    let (first, _) = open(1).await;
    call(&first, "propose").await.unwrap();
    drop(first);
    let (other, _) = open(2).await;
    let error = other
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("with a state in format 1, and the `native` here reads format 2"),
        "{error}"
    );
    let (second, held) = open(1).await;
    second.resolve(Resolution::apply(""), Tester).await.unwrap();
    assert_eq!(held.heard.lock().unwrap()[0].state, [7]);
}

#[test]
fn what_it_says_of_itself_is_checked_as_what_a_plugin_says() {
    let check = |change: fn(&mut Native), expected: &str| {
        let (tool, _held) = native(change);
        let rejected = NativeProducer::new(tool).unwrap_err();
        assert!(rejected.reason.contains(expected), "{rejected}");
    };
    check(
        |native| native.definition.name = "a b".to_owned(),
        "A-Z a-z 0-9 _ . -",
    );
    check(
        |native| native.definition.name = "resolve".to_owned(),
        "host's own",
    );
    check(|native| native.definition.label = " ".to_owned(), "label");
    check(
        |native| native.definition.description.clear(),
        "description is empty",
    );
    check(
        |native| native.definition.parameters = Json::of_own(&json!({"type": "array"})),
        "not \"object\"",
    );
    check(
        |native| native.state_version = 1000,
        "its state version is 1000; the limit is 999",
    );
}
