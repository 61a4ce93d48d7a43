//! A tool that is part of the host, written with the public trait, keeps the rules that plugins
//! keep.

use airlock_tests::Tester;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use airlock_host::cancel::CancellationToken;
use airlock_host::content::{Content, ToolResult};
use airlock_host::json::Json;
use airlock_host::limits::LimitKind;
use airlock_host::native::folder::{EntryKind, WritableFolder};
use airlock_host::native::{
    ApplyCall, DecidedAction, NativeProducer, NativeTool, Preview, PreviewCall, ProposedAction,
};
use airlock_host::pending::{ActionState, Decision};
use airlock_host::policy::Rehearse;
use airlock_host::store::{Claim, Claims, MemoryStore};
use airlock_host::tool::{ToolDefinition, ToolTraits};
use airlock_host::{Error, Limits, Resolution, Session, SessionBuilder};
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
                    "do": {"enum": ["nothing", "propose", "draft", "hang", "loop", "panic", "write", "say", "tell in full"]},
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
            "draft" => {
                write(&call.draft()?, b"new")?;
                let action = ProposedAction::new("Write it", vec![7; bytes]);
                Ok(Preview::of(ToolResult::text("drafted")).proposing(action))
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
        match &*action.reason {
            "write" => write(&call.folder()?, b"new")?,
            "write other" => write(&call.folder()?, b"other")?,
            "write and fail" => {
                write(&call.folder()?, b"new")?;
                return Err(Error::Tool {
                    message: "it came to nothing".to_owned(),
                });
            }
            "write and hang" => {
                write(&call.folder()?, b"new")?;
                let _ = self.hangs.lock().unwrap().recv();
            }
            _ => {}
        }
        call.begin_effects()?;
        // Whatever the time is by now, and however often it is asked.
        call.check()?;
        call.begin_effects()?;
        Ok(ToolResult::text("applied"))
    }

    fn reject(&self, action: &DecidedAction, _: &PreviewCall) -> Result<Option<ToolResult>, Error> {
        self.heard.lock().unwrap().push(action.clone());
        Ok(Some(ToolResult::text("sorry to hear that")))
    }
}

/// Gives a file other contents, and makes what nobody sees either: a folder, a link, a name.
fn write(folder: &WritableFolder, contents: &[u8]) -> Result<(), Error> {
    let written = || {
        folder.write("file".as_ref(), contents)?;
        folder.create_folder("made".as_ref())?;
        folder.create_link("../file", "made/link".as_ref())?;
        folder.rename("moved".as_ref(), "made/moved".as_ref())?;
        folder.remove_file("removed".as_ref())?;
        folder.set_mode("run".as_ref(), 0o755)?;
        folder.list("made".as_ref())
    };
    let names = written().map_err(|error| Error::Tool {
        message: error.to_string(),
    })?;
    assert_eq!(
        names,
        [
            ("link".to_owned(), EntryKind::Link),
            ("moved".to_owned(), EntryKind::File)
        ]
    );
    Ok(())
}

/// A workspace with what [`write`] changes.
fn workspace() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in ["file", "moved", "removed", "run"] {
        std::fs::write(folder.path().join(name), "old").unwrap();
    }
    folder
}

fn open_in(folder: &TempDir, tool: Native, limits: Limits) -> Session {
    Session::builder()
        .model_decides()
        .limits(limits)
        .workspace(folder.path())
        .bind(&NativeProducer::new(tool).unwrap())
        .open()
        .unwrap()
}

/// All names, with what files hold and links lead to.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let (path, name) = match entry.unwrap() {
            entry if entry.file_name() == ".airlock" => continue,
            entry => (entry.path(), entry.file_name().into_string().unwrap()),
        };
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            let below = tree(&path);
            found.extend(
                below
                    .into_iter()
                    .map(|(it, held)| (format!("{name}/{it}"), held)),
            );
        } else if kind.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            found.insert(name, format!("-> {}", target.display()));
        } else {
            found.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    found
}

fn expected(contents: &str) -> BTreeMap<String, String> {
    let expected = [
        ("file", contents),
        ("made/link", "-> ../file"),
        ("made/moved", "old"),
        ("run", "old"),
    ];
    expected
        .map(|(name, held)| (name.to_owned(), held.to_owned()))
        .into()
}

fn open(tool: Native, limits: Limits) -> Session {
    Session::builder()
        .model_decides()
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
async fn what_it_changes_is_committed_as_a_whole_or_not_at_all() {
    let folder = workspace();
    let before = tree(folder.path());
    let (tool, held) = native(|_| {});
    let limits = Limits::default().with_call_time(Duration::from_millis(200));
    let session = open_in(&folder, tool, limits);
    call(&session, "propose").await.unwrap();
    let failed = session.resolve(Resolution::apply("write and fail"), Tester);
    failed.await.unwrap_err();
    assert_eq!(tree(folder.path()), before);
    // It is left, and goes on later: what it wrote is nobody's any more.
    let left = session.resolve(Resolution::apply("write and hang"), Tester);
    let left = left.await.unwrap_err();
    assert!(matches!(left.root(), Error::Limit { .. }), "{left}");
    drop(held.hangs);
    assert_eq!(tree(folder.path()), before);
    let written = loop {
        match session.resolve(Resolution::apply("write"), Tester).await {
            Err(Error::Busy { .. }) => tokio::task::yield_now().await,
            written => break written.unwrap(),
        }
    };
    assert_eq!(tree(folder.path()), expected("new"));
    let changes = written.effects.unwrap().effects.changes;
    assert_eq!(changes.len(), 6, "{changes:?}");
}

#[tokio::test]
async fn a_draft_is_what_is_reviewed_and_an_apply_that_does_anything_else_is_not_committed() {
    let folder = workspace();
    let before = tree(folder.path());
    let (tool, _held) = native(|_| {});
    let session = open_in(&folder, tool, Limits::default());
    let drafted = session
        .call("native", &json!({"do": "draft"}))
        .await
        .unwrap();
    assert_eq!(tree(folder.path()), before);
    let effects = &drafted.effects[0].effects;
    assert!(effects.verified, "{effects:?}");
    assert_eq!(effects.changes.len(), 6, "{effects:?}");
    let id = &drafted.pushed[0].id;
    assert!(session.effects(id).await.unwrap().unwrap().is_same(effects));

    let other = session.resolve(Resolution::apply("write other"), Tester);
    let other = other.await.unwrap_err();
    let Error::Different { difference, .. } = other else {
        panic!("{other}");
    };
    assert_eq!(tree(folder.path()), before);
    let seen = Resolution::apply("write other").with_review(difference.now.digest());
    session.resolve(seen, Tester).await.unwrap();
    assert_eq!(tree(folder.path()), expected("other"));
}

#[tokio::test]
async fn under_always_it_is_applied_only_with_a_draft() {
    for (what, applied) in [("draft", true), ("propose", false)] {
        let folder = workspace();
        let (tool, _held) = native(|_| {});
        let session = Session::builder()
            .model_decides()
            .rehearse(Rehearse::Always)
            .workspace(folder.path())
            .bind(&NativeProducer::new(tool).unwrap())
            .open()
            .unwrap();
        call(&session, what).await.unwrap();
        let resolved = session.resolve(Resolution::apply("write"), Tester).await;
        match resolved {
            Ok(_) => assert!(applied, "{what}"),
            Err(error) => {
                assert!(matches!(error, Error::Unverified { .. }), "{error}");
                assert!(!applied, "{what}");
            }
        }
    }
}

/// Nobody knows what it has done elsewhere, unless its draft says that there is nothing.
#[tokio::test]
async fn an_apply_that_was_cut_off_is_pending_again_only_where_it_has_a_draft() {
    for (what, recovered) in [("draft", 1), ("propose", 0)] {
        let folder = workspace();
        let store = Arc::new(MemoryStore::new());
        let (tool, _held) = native(|_| {});
        let session = Session::builder()
            .model_decides()
            .store(store.clone())
            .workspace(folder.path())
            .bind(&NativeProducer::new(tool).unwrap())
            .open()
            .unwrap();
        call(&session, what).await.unwrap();
        let apply = Resolution::apply("");
        let claim = store.claim(session.id(), &apply, &Tester.into()).await;
        let Ok(Claim::Claimed(claimed)) = claim else {
            panic!("{claim:?}");
        };
        store.abandon(claimed.lease);
        assert_eq!(session.recover().await.unwrap().len(), recovered, "{what}");
        let state = session.pending().await.unwrap()[0].state;
        let expected = match recovered {
            0 => ActionState::Interrupted,
            _ => ActionState::Pending,
        };
        assert_eq!(state, expected, "{what}");
    }
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
    let store = || async { Arc::new(SqliteStore::open(&file).await.unwrap()) };
    let open = async |version: u32| {
        let (tool, held) = native(|native| native.state_version = version);
        let session = Session::builder()
            .model_decides()
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

#[tokio::test]
async fn each_of_many_tools_is_found_by_its_name_in_the_order_of_binding_whatever_was_unbound() {
    let named = |number: usize| {
        let (tool, _) = native(|tool| tool.definition.name = format!("tool_{number}"));
        NativeProducer::new(tool).unwrap()
    };
    let tools: Vec<NativeProducer> = (0..100).map(named).collect();
    let bind = |builder: SessionBuilder, tool| builder.bind(tool);
    let session = tools
        .iter()
        .fold(Session::builder().model_decides(), bind)
        .open()
        .unwrap();
    let check = async |left: &[usize]| {
        let expected: Vec<_> = left.iter().map(|number| format!("tool_{number}")).collect();
        let listed = session.tools().into_iter().map(|tool| tool.name);
        assert_eq!(listed.collect::<Vec<_>>(), expected);
        for number in 0..tools.len() {
            let name = format!("tool_{number}");
            match session.call(&name, &json!({"do": "nothing"})).await {
                Ok(_) => assert!(left.contains(&number), "{name}"),
                Err(Error::UnknownTool { known, .. }) => {
                    assert!(!left.contains(&number), "{name}");
                    assert_eq!(known.count, left.len());
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    let all: Vec<usize> = (0..tools.len()).collect();
    check(&all).await;
    session.unbind(&tools[0]);
    session.unbind(&tools[50]);
    let mut left: Vec<usize> = all.into_iter().filter(|it| it % 50 != 0).collect();
    check(&left).await;
    assert_eq!(session.bind(&tools[50]).unwrap(), []);
    left.push(50);
    check(&left).await;
    let backwards: Vec<usize> = (0..30).rev().collect();
    let rebound = backwards.iter().map(|number| &tools[*number]);
    assert_eq!(session.rebind(rebound).unwrap(), []);
    check(&backwards).await;
}
