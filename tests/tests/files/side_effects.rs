//! A tool announces one thing and does others as well: each of them is told, to the model and to
//! whoever decides, before anything happens.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use airlock_host::digest::Digest;
use airlock_host::effects::{Change, ChangeKind, Effects, Facts, ObjectKind};
use airlock_host::store::MemoryStore;
use airlock_host::{Plugin, Resolution, Session};
use airlock_render::Block;
use airlock_tests::{Tester, asked, engine, plugin};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::generated::{Tree, described, differing, fill, script, tree};
use crate::script::{Bytes, Op, Script};
use crate::{components, in_memory};

/// How many changes a model is told of by path.
const MAX_LISTED_CHANGES: usize = 50;

/// Bytes of a text of which a diff is made, and of all diffs of an action.
const DIFFED: usize = 256 << 10;
const DIFFS: usize = 1 << 20;

/// What does one thing that its preview names, and others that follow from a seed.
fn two_faced(seed: u64) -> Script {
    let mut script = script(seed, "");
    script.ops.insert(0, rename("a", "c"));
    script
}

/// The scripts that are asked for, one by one, until a few have failed.
async fn none_is_silent(count: u64, tool: impl AsyncFn(&Script) -> Tool) {
    let first = asked("AIRLOCK_SEED").unwrap_or(1);
    let count = asked("AIRLOCK_SCRIPTS").unwrap_or(count);
    let mut failed = 0;
    for seed in first..first + count {
        let script = two_faced(seed);
        if silent(&tool(&script).await).await.is_none() {
            continue;
        }
        let (script, what) = shrunk(script, &tool).await;
        println!("seed {seed}: {what}");
        script.ops.iter().for_each(|op| println!("    {op:?}"));
        failed += 1;
        if failed == 8 {
            break;
        }
    }
    assert_eq!(failed, 0);
}

#[tokio::test]
async fn no_effect_of_many_generated_scripts_is_silent_or_can_not_be_inspected() {
    none_is_silent(300, Tool::of_script).await;
}

#[tokio::test]
async fn no_effect_of_many_generated_components_is_silent_or_can_not_be_inspected() {
    none_is_silent(300, Tool::of_component).await;
}

/// What is called.
struct Tool {
    plugin: Plugin,
    name: &'static str,
    params: Value,
}

impl Tool {
    async fn of_script(script: &Script) -> Self {
        Self {
            plugin: plugin("files").await,
            name: "files",
            params: json!({"scripts": [script], "push": "Rename a to c"}),
        }
    }

    async fn of_component(script: &Script) -> Self {
        let bytes = components::component(script);
        let plugin = Plugin::from_bytes(engine(), "generated", bytes).await;
        Self {
            plugin: plugin.unwrap(),
            name: components::TOOL,
            params: json!({}),
        }
    }
}

fn rename(path: &str, new_path: &str) -> Op {
    Op::Rename {
        at: 0,
        path: path.to_owned(),
        to: 0,
        new_path: new_path.to_owned(),
    }
}

fn put(path: &str) -> Op {
    Op::Put {
        at: 0,
        path: path.to_owned(),
        bytes: Bytes {
            byte: b'x',
            count: 10,
        },
    }
}

async fn nothing_is_silent(ops: Vec<Op>) {
    let folder = String::new();
    let script = Script { folder, ops };
    for tool in [
        Tool::of_script(&script).await,
        Tool::of_component(&script).await,
    ] {
        assert_eq!(silent(&tool).await, None, "{}", tool.name);
    }
}

#[tokio::test]
async fn what_is_rewritten_in_a_directory_that_moves_is_shown_and_applied() {
    nothing_is_silent(vec![rename("d", "moved"), put("moved/a"), put("moved/e/b")]).await;
}

#[tokio::test]
async fn what_is_made_where_a_directory_was_that_moves_is_shown_and_applied() {
    let (at, path) = (0, "d".to_owned());
    let made = Op::MakeDirectory { at, path };
    nothing_is_silent(vec![rename("d", "moved"), made, put("d/a")]).await;
}

/// The same with as few calls as still show it.
async fn shrunk(mut script: Script, tool: &impl AsyncFn(&Script) -> Tool) -> (Script, String) {
    let mut what = silent(&tool(&script).await).await.expect("as before");
    let mut at = script.ops.len();
    while at > 0 {
        at -= 1;
        let mut fewer = script.clone();
        fewer.ops.remove(at);
        if let Some(still) = silent(&tool(&fewer).await).await {
            (script, what) = (fewer, still);
        }
    }
    (script, what)
}

/// What nobody was told, if there is anything.
async fn silent(tool: &Tool) -> Option<String> {
    let workspace = TempDir::new_in(in_memory()).unwrap();
    fill(workspace.path());
    let (before, old) = (tree(workspace.path()), contents(workspace.path()));
    let store = Arc::new(MemoryStore::new());
    let open = || {
        let session = Session::builder()
            .model_decides()
            .id("same")
            .workspace(workspace.path());
        session
            .store(Arc::clone(&store))
            .bind(&tool.plugin)
            .open()
            .unwrap()
    };
    let session = open();
    let outcome = session.call(tool.name, &tool.params).await.unwrap();
    let effects = session.effects(&outcome.pushed[0].id).await.unwrap();
    let person = effects.expect("it was rehearsed");
    if !person.verified {
        return Some(format!("not verified: {:?}", person.problem));
    }
    if tree(workspace.path()) != before {
        return Some("the workspace was changed before anybody decided".to_owned());
    }
    let told = outcome.content_for_model();
    let model = told[0].as_text().unwrap();
    drop(session);
    let resolution = Resolution::apply("a test says so");
    if let Err(error) = open().resolve(resolution, Tester).await {
        return Some(format!("not applied: {error:?}"));
    }
    let (after, new) = (tree(workspace.path()), contents(workspace.path()));
    let shown = Block::effects(&person).to_string();
    unexplained(&before, &person, &after)
        .or_else(|| left_out_for_a_model(&person, model))
        .or_else(|| left_out_for_a_person(&person, &shown))
        .or_else(|| uninspectable(&person, &old, &new))
}

/// Whether what is told makes one tree from the other, down to digests and permissions.
fn unexplained(before: &Tree, effects: &Effects, after: &Tree) -> Option<String> {
    let mut explained = Tree::new();
    for (path, what) in before {
        if let Some(path) = now_at(path, &effects.changes) {
            explained.insert(path, what.clone());
        }
    }
    for change in &effects.changes {
        if let Some(facts) = &change.after {
            explained.insert(change.path.clone(), described(facts, facts.mode));
        }
    }
    let lines = || effects.changes.iter().map(Change::to_string);
    (explained != *after).then(|| {
        let told: Vec<String> = lines().collect();
        let differing = differing(&explained, after);
        format!("told {told:#?}; what that makes, and what is there: {differing:#?}")
    })
}

/// Where something is that was at this path; none where it is gone.
fn now_at(path: &str, changes: &[Change]) -> Option<String> {
    for change in changes {
        match change.kind {
            ChangeKind::Deleted if change.path == path => return None,
            ChangeKind::Renamed if change.from.as_deref() == Some(path) => {
                return Some(change.path.clone());
            }
            _ => {}
        }
    }
    match path.rsplit_once('/') {
        Some((directory, name)) => {
            let directory = now_at(directory, changes)?;
            Some(format!("{directory}/{name}"))
        }
        None => Some(path.to_owned()),
    }
}

fn left_out_for_a_model(effects: &Effects, told: &str) -> Option<String> {
    let has = |line: &str| told.lines().any(|told| told.trim_start() == line);
    let changes = &effects.changes;
    let mut lines = changes
        .iter()
        .take(MAX_LISTED_CHANGES)
        .map(|it| format!("- {it}"));
    let missing = lines.find(|line| !has(line)).or_else(|| {
        let more = changes
            .len()
            .checked_sub(MAX_LISTED_CHANGES)
            .filter(|more| *more > 0)?;
        Some(format!("- and {more} more")).filter(|line| !has(line))
    });
    missing.map(|line| format!("no line {line:?} for the model in {told}"))
}

fn left_out_for_a_person(effects: &Effects, shown: &str) -> Option<String> {
    let has = |line: &str| shown.lines().any(|shown| shown.ends_with(line));
    let mut lines = effects.changes.iter().map(Change::to_string);
    let missing = lines.find(|line| !has(line));
    missing.map(|line| format!("no line {line:?} for the person in {shown}"))
}

/// Whether contents change and nobody can see how: of texts there is a diff, unless they are long
/// or likely to be secret, and of all else there are sizes and digests.
fn uninspectable(effects: &Effects, old: &Contents, new: &Contents) -> Option<String> {
    let all: usize = effects
        .changes
        .iter()
        .filter_map(|it| it.diff.as_ref())
        .map(String::len)
        .sum();
    effects.changes.iter().find_map(|change| {
        let complete = |facts: &Option<Facts>| {
            let Some(facts) = facts else {
                return true;
            };
            match facts.object {
                ObjectKind::File => facts.digest.is_some(),
                ObjectKind::Link => facts.target.is_some(),
                _ => true,
            }
        };
        if !complete(&change.before) || !complete(&change.after) {
            return Some(format!("{change:?} has no digest"));
        }
        let digest = |facts: &Option<Facts>| facts.as_ref().and_then(|it| it.digest.clone());
        let was_at = change.from.as_deref().unwrap_or(&change.path);
        let is_secret = [was_at, &change.path]
            .iter()
            .any(|path| path.ends_with(".env"));
        let is_text = |bytes: Option<&Vec<u8>>| {
            bytes.is_none_or(|bytes| {
                bytes.len() <= DIFFED && !bytes.contains(&0) && str::from_utf8(bytes).is_ok()
            })
        };
        let changed = digest(&change.before) != digest(&change.after);
        // Before a directory above it moved, a file had another path: then what it held is what
        // has the digest.
        let before = digest(&change.before).and_then(|digest| old.get(&digest));
        let after = digest(&change.after).and_then(|digest| new.get(&digest));
        let has_diff = changed && !is_secret && is_text(before) && is_text(after);
        let too_much = all > DIFFS - DIFFED;
        match (&change.diff, has_diff) {
            (None, true) if !too_much => Some(format!("{change:?} has no diff")),
            (Some(_), false) => Some(format!("{change:?} has a diff")),
            (Some(diff), true) => {
                let lacks = |sign, bytes| !has_line(diff, sign, bytes);
                let wrong = lacks('-', before) || lacks('+', after);
                wrong.then(|| format!("{change:?} has another diff"))
            }
            _ => None,
        }
    })
}

/// Whether a diff has the only line of a text, with this sign.
fn has_line(diff: &str, sign: char, text: Option<&Vec<u8>>) -> bool {
    let line = text.map(|bytes| String::from_utf8_lossy(bytes));
    let line = line.filter(|line| !line.is_empty());
    line.is_none_or(|line| diff.contains(&format!("\n{sign}{}", line.trim_end())))
}

/// What files hold, by digest.
type Contents = BTreeMap<String, Vec<u8>>;

fn contents(folder: &Path) -> Contents {
    let mut found = Contents::new();
    for path in tree(folder).keys() {
        let path = folder.join(path);
        if path.symlink_metadata().unwrap().is_file() {
            let bytes = fs::read(path).unwrap();
            found.insert(Digest::of(&bytes).to_hex(), bytes);
        }
    }
    found
}
