//! Applies in part and together, undos, and undos of undos are whole or haven't happened, wherever
//! their host is killed.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use airlock_host::Session;
use airlock_host::store::{DurableStore, Scope};
use airlock_tests::{History, Random, WorkspaceText, asked};

use super::opening::is_under_way;
use super::store;
use super::worker::{Worker, WorkerFiles};

/// How often the worker is killed.
const KILLS: u64 = 120;

/// How the steps of a kind ended that were cut off.
#[derive(Debug, Default)]
struct Cut {
    before: u64,
    after: u64,
}

#[tokio::test]
async fn a_killed_host_leaves_each_part_undo_and_joint_apply_whole_or_not_at_all() {
    let kills = asked("AIRLOCK_CRASH_KILLS").unwrap_or(KILLS);
    let seed = asked("AIRLOCK_CRASH_SEED").unwrap_or(3);
    println!("{kills} kills, seed {seed}");
    let mut random = Random::new(seed);
    let site = WorkerFiles::new(0);
    WorkspaceText::create(&site.workspace()).unwrap();
    let mut cut: BTreeMap<String, Cut> = BTreeMap::new();
    for kill in 0..kills {
        let mut worker = Worker::that_undoes(&site, random.below(u64::MAX));
        worker.live_a_while(&mut random);
        if random.percent(50) {
            // In the middle of a commit, mostly.
            worker.ends_before(|| is_under_way(&site.workspace()));
        }
        let lines = worker.kill();
        let store = store(&site).await;
        let session = Session::builder()
            .model_decides()
            .id("one")
            .workspace(site.workspace())
            .store(Arc::new(store.clone()))
            .open();
        // Finishes a commit that was cut off.
        session.unwrap().recover().await.unwrap();
        let now = WorkspaceText::read(&site.workspace()).unwrap();
        let history = History::open(&site.history(), now);
        let history = history.unwrap_or_else(|error| panic!("kill {kill}: {error}\n{lines:#?}"));
        let begun = lines.last().and_then(|line| line.strip_prefix("began "));
        let Some(what) = begun else { continue };
        let cut = cut.entry(what.to_owned()).or_default();
        let open = store.open_actions(Scope::All).await.unwrap();
        if history.is_as_expected() {
            cut.after += 1;
            assert!(open.is_empty(), "kill {kill}, {what}: {open:#?}");
        } else {
            cut.before += 1;
        }
    }
    println!("{cut:#?}");
    assert_eq!(
        store(&site).await.check().await.unwrap(),
        Vec::<String>::new()
    );
    let kinds: Vec<_> = cut.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["part", "together", "undo", "whole"]);
    let sum = |of: fn(&Cut) -> u64| cut.values().map(of).sum::<u64>();
    let (before, after) = (sum(|it| it.before), sum(|it| it.after));
    assert!(
        before > kills / 10 && after > kills / 10,
        "{before}, {after}"
    );
}

impl Worker {
    fn that_undoes(site: &WorkerFiles, seed: u64) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undo_worker"));
        let arguments = [site.store(), site.workspace(), site.cache(), site.history()];
        Self::spawn(
            command
                .args(arguments)
                .arg(seed.to_string())
                .env("TMPDIR", site.scratch()),
        )
    }
}
