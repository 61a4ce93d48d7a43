//! What a guest's calls come to under the host, in an apply and in the workspace after its commit,
//! is what they come to under plain wasmtime-wasi, in a plain folder.

use std::collections::BTreeSet;
use std::path::{self, Path};

use airlock_host::content::Content;
use airlock_host::{Resolution, Session};
use airlock_tests::bare::{self, CustomToolPre, Live, State};
use airlock_tests::{Tester, asked, component, engine, plugin};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use wasmtime::component::Component;

use crate::generated::{self, Tree, differing, fill, tree};
use crate::in_memory;
use crate::script::{Op, Script, Time};

/// How many scripts one action runs, each in a folder of its own: an instance, a rehearsal and a
/// commit cost more than they do.
const BATCH: u64 = 20;

/// How many scripts are tried; more by `AIRLOCK_SCRIPTS`.
fn scripts() -> u64 {
    asked("AIRLOCK_SCRIPTS").unwrap_or(500)
}

/// The guest, linked to nothing but wasmtime's own.
async fn linked() -> &'static CustomToolPre<State> {
    static LINKED: OnceCell<CustomToolPre<State>> = OnceCell::const_new();
    let link = async || {
        let engine = engine().wasmtime();
        let component = Component::from_file(engine, component("files")).unwrap();
        bare::link(&bare::linker(engine), &component)
    };
    LINKED.get_or_init(link).await
}

/// What came of scripts.
struct Outcome {
    /// A line for each call, of each script.
    answers: Vec<String>,
    tree: Tree,
}

fn prepared(scripts: &[Script]) -> TempDir {
    let workspace = TempDir::new_in(in_memory()).unwrap();
    for script in scripts {
        let folder = workspace.path().join(&script.folder);
        std::fs::create_dir_all(&folder).unwrap();
        fill(&folder);
    }
    workspace
}

fn params(scripts: &[Script]) -> Value {
    json!({"scripts": scripts, "push": "Some scripts"})
}

async fn plain(scripts: &[Script]) -> Outcome {
    let folder = prepared(scripts);
    let mut live = Live::on(engine().wasmtime(), linked().await, folder.path()).await;
    live.execute("files", &params(scripts).to_string()).await;
    let resolution = live.resolution("scripts", "files");
    let answers = live.apply(&resolution).await.content.into_iter();
    let text = |content| match content {
        bare::Content::Text(text) => text,
        _ => panic!("only texts"),
    };
    Outcome {
        answers: answers.map(text).collect(),
        tree: tree(folder.path()),
    }
}

/// The same in an apply, which is rehearsed before.
async fn ours(scripts: &[Script]) -> Result<Outcome, String> {
    let workspace = prepared(scripts);
    let before = tree(workspace.path());
    let session = Session::builder()
        .model_decides()
        .workspace(workspace.path());
    let session = session.bind(&plugin("files").await).open().unwrap();
    let outcome = session.call("files", &params(scripts)).await;
    let outcome = outcome.map_err(|error| error.to_string())?;
    let rehearsed = session.effects(&outcome.pushed[0].id).await.unwrap();
    let rehearsed = rehearsed.expect("it was rehearsed");
    if !rehearsed.verified {
        return Err(format!("the rehearsal: {:?}", rehearsed.problem));
    }
    let private = workspace.path().join(airlock_host::PRIVATE_FOLDER);
    if tree(workspace.path()) != before || private.exists() {
        return Err("the workspace was touched before the commit".to_owned());
    }
    let applied = session.resolve(Resolution::apply("a test says so"), Tester);
    let applied = applied.await.map_err(|error| error.to_string())?;
    let text = |content: &Content| content.as_text().expect("only texts").to_owned();
    let after = tree(workspace.path());
    if rehearsed.changes.is_empty() != (after == before) {
        return Err(format!(
            "{:?} for {before:#?} to {after:#?}",
            rehearsed.changes
        ));
    }
    Ok(Outcome {
        answers: applied.content.iter().map(text).collect(),
        tree: after,
    })
}

/// What differs between both hosts.
struct Difference {
    /// Of which script.
    script: usize,
    /// The call, and both answers, without what is this script's alone.
    kind: String,
    what: String,
}

/// What differs, if anything does whose kind was not `seen` before.
async fn difference(scripts: &[Script], seen: &BTreeSet<String>) -> Option<Difference> {
    let plain = plain(scripts).await;
    let ours = match ours(scripts).await {
        Ok(ours) => ours,
        Err(problem) => return found(0, "ours", problem),
    };
    for (number, script) in scripts.iter().enumerate() {
        let answers = |outcome: &Outcome| {
            let lines = outcome.answers[number].lines();
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let (expected, got) = (answers(&plain), answers(&ours));
        assert_eq!(expected.len(), script.ops.len());
        for ((op, expected), got) in script.ops.iter().zip(expected).zip(got) {
            let told = format!("{op:?}: plain {expected}, ours {got}");
            let name = told.split(' ').next().unwrap_or_default();
            let kind = format!("{name}: plain {expected}, ours {got}");
            if expected != got && !is_the_contracts(op, &expected, &got) && !seen.contains(&kind) {
                return found(number, &kind, told);
            }
        }
        let below = |outcome: &Outcome| -> Tree {
            let prefix = match script.folder.as_str() {
                "" => String::new(),
                folder => format!("{folder}/"),
            };
            let all = outcome.tree.iter();
            all.filter(|(path, _)| path.starts_with(&prefix))
                .map(|(path, what)| (path.clone(), what.clone()))
                .collect()
        };
        let (expected, got) = (below(&plain), below(&ours));
        if expected != got {
            let told = format!("plain and ours {:#?}", differing(&expected, &got));
            return found(number, "a tree", told);
        }
    }
    if plain.tree == ours.tree {
        None
    } else {
        found(0, "a tree", "outside of all scripts".to_owned())
    }
}

fn found(script: usize, kind: &str, what: String) -> Option<Difference> {
    let kind = kind.to_owned();
    Some(Difference { script, kind, what })
}

/// Whether an answer may differ.
///
/// Scripts have no hard links, which are refused, and no names of the host's own folder, which is
/// hidden. Times are not compared, since a commit gives its own, nor hashes, which are another
/// host's own, but whether two are the same.
fn is_the_contracts(op: &Op, plain: &str, ours: &str) -> bool {
    // It is refused before anything else is, which wasmtime leaves to the system.
    if ours == "name-too-long" && !plain.starts_with("ok") {
        return true;
    }
    match op {
        // wasmtime can't set those of a directory that was opened for the guest.
        Op::SetTimes { .. } => (plain, ours) == ("bad-descriptor", "ok"),
        // The system looks for nothing if nothing is to be set.
        Op::SetTimesAt {
            time: Time::Unchanged,
            ..
        } => plain == "ok",
        // wasmtime looks at a path of one name itself, whatever comes behind the name: `file/` is
        // a file there. In longer paths it isn't.
        Op::StatAt {
            path,
            follow: false,
            ..
        }
        | Op::HasHash {
            path,
            follow: false,
            ..
        } => {
            let mut names = Path::new(path).components();
            let first = names.next();
            let is_name = matches!(first, Some(path::Component::Normal(_)));
            is_name && names.next().is_none() && (path.ends_with('/') || path.ends_with("/."))
        }
        _ => false,
    }
}

/// The same with as few calls as still show it.
async fn shrunk(
    mut script: Script,
    mut shown: Difference,
    seen: &BTreeSet<String>,
) -> (Script, Difference) {
    let mut at = script.ops.len();
    while at > 0 {
        at -= 1;
        let mut fewer = script.clone();
        fewer.ops.remove(at);
        if let Some(still) = difference(std::slice::from_ref(&fewer), seen).await {
            (script, shown) = (fewer, still);
        }
    }
    (script, shown)
}

/// Most scripts run many at once, and one of each many alone, in the workspace itself.
fn actions() -> impl Iterator<Item = (u64, Vec<Script>)> {
    let first = asked("AIRLOCK_SEED").unwrap_or(1);
    let end = first + scripts();
    (first..end)
        .step_by(BATCH as usize)
        .flat_map(move |seed| {
            let together = (seed + 1..end.min(seed + BATCH))
                .map(|seed| generated::script(seed, &seed.to_string()))
                .collect();
            let alone = vec![generated::script(seed, "")];
            [(seed, alone), (seed + 1, together)]
        })
        .filter(|(_, scripts)| !scripts.is_empty())
}

#[tokio::test]
async fn scripts_of_a_guest_come_to_the_same_as_under_plain_wasmtime() {
    // Each kind of difference is told once.
    let mut seen = BTreeSet::new();
    for (seed, scripts) in actions() {
        let Some(shown) = difference(&scripts, &seen).await else {
            continue;
        };
        let number = shown.script;
        let (script, shown) = shrunk(scripts[number].clone(), shown, &seen).await;
        println!("seed {}: {}", seed + number as u64, shown.what);
        script.ops.iter().for_each(|op| println!("    {op:?}"));
        seen.insert(shown.kind);
        if seen.len() == 16 {
            break;
        }
    }
    assert_eq!(seen, BTreeSet::new());
}

/// A `stat` of C's is two questions, of which the host looks for the first alone: whatever a guest
/// does in between, the second is of what is there then.
#[tokio::test]
async fn what_is_asked_twice_in_a_row_is_answered_by_what_is_there_then() {
    let hash = json!({"op": "has-hash", "of": 1, "at": 0, "path": "asked", "follow": false});
    let stat = json!({"op": "stat-at", "at": 0, "path": "asked", "follow": false});
    let put = json!({"op": "put", "at": 0, "path": "asked", "bytes": {"byte": 120, "count": 10}});
    let open = json!({"op": "open", "at": 0, "path": "asked", "with": ["write"]});
    let stream = json!({"op": "write-stream", "of": 1, "offset": 0});
    let write = json!({"op": "next-write", "of": 1, "bytes": {"byte": 121, "count": 20}});
    let shrink = json!({"op": "set-size", "of": 1, "size": 3});
    let remove = json!({"op": "remove-file", "at": 0, "path": "asked"});
    let close = json!({"op": "close", "of": 1});
    let list = json!({"op": "list", "of": 0});
    let link = json!({"op": "make-link", "at": 0, "path": "link", "target": "asked"});
    let of_link = |op: &Value, follow: bool| {
        let mut op = op.clone();
        op["path"] = json!("link");
        op["follow"] = json!(follow);
        op
    };
    for between in [
        &[][..],
        &[&stream, &write],
        &[&shrink],
        &[&remove],
        &[&remove, &put],
        &[&close],
        &[&close, &open],
        &[&list],
    ] {
        for [first, second] in [
            [&hash, &stat],
            [&stat, &hash],
            [&stat, &stat],
            [&hash, &hash],
        ] {
            let ops: Vec<&Value> = [&[&put, &open, first][..], between, &[second]].concat();
            let script = json!({"folder": "", "ops": ops});
            check(&serde_json::from_value(script).unwrap()).await;
        }
    }
    for [first, second] in [
        [of_link(&hash, false), of_link(&stat, true)],
        [of_link(&hash, true), of_link(&stat, false)],
        [of_link(&stat, true), of_link(&hash, false)],
    ] {
        let script = json!({"folder": "", "ops": [&put, &open, &link, first, second]});
        check(&serde_json::from_value(script).unwrap()).await;
    }
}

async fn check(script: &Script) {
    if let Some(shown) = difference(std::slice::from_ref(script), &BTreeSet::new()).await {
        panic!("{}: {:#?}", shown.what, script.ops);
    }
}
