//! Hosts are killed, at any point of what they do, and no decision is lost and none taken twice
//! without a word.
//!
//! `AIRLOCK_CRASH_KILLS` asks for another number of kills, `AIRLOCK_CRASH_SEED` for another course
//! of events.

mod auditor;
mod opening;
mod undoing;
mod worker;

use airlock_host::store::DurableStore;
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Random, asked};
use auditor::Auditor;
use worker::{Worker, WorkerFiles};

/// How often a lone worker is killed.
const KILLS: u64 = 300;

async fn store(site: &WorkerFiles) -> SqliteStore {
    SqliteStore::builder(site.store()).open().await.unwrap()
}

#[tokio::test]
async fn a_killed_host_loses_no_action_and_applies_none_twice_without_saying_so() {
    let kills = asked("AIRLOCK_CRASH_KILLS").unwrap_or(KILLS);
    let seed = asked("AIRLOCK_CRASH_SEED").unwrap_or(1);
    println!("{kills} kills, seed {seed}");
    let mut random = Random::new(seed);
    let site = WorkerFiles::new(1);
    let mut auditor = Auditor::default();
    for kill in 0..kills {
        let mut worker = Worker::start(&site, 0, random.below(u64::MAX));
        worker.live_a_while(&mut random);
        let lines = worker.kill();
        let said = auditor.hear(&lines);
        auditor.read_ledgers(&site);
        // Opened anew each time, so that each crash is recovered from by a host that knows of none.
        let store = store(&site).await;
        let problem = auditor.compare(&store, said).await.err();
        assert_eq!(
            problem, None,
            "after kill {kill} of seed {seed}: {lines:#?}"
        );
    }
    let store = store(&site).await;
    auditor.compare_all(&store).await;
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    auditor.print();
    // The points were spread over all that a host does.
    assert!(auditor.hits.all_seen(), "{:?}", auditor.hits);
    // The last one's, and those of a few that were killed before they had looked for others'.
    assert!(site.scratches() < 10, "{}", site.scratches());
}

#[tokio::test]
async fn hosts_that_share_a_store_go_on_when_one_is_killed() {
    const WORKERS: usize = 3;
    let kills = asked("AIRLOCK_CRASH_KILLS").unwrap_or(KILLS) / 10;
    let seed = asked("AIRLOCK_CRASH_SEED").unwrap_or(2);
    println!("{kills} kills among {WORKERS}, seed {seed}");
    let mut random = Random::new(seed);
    let site = WorkerFiles::new(WORKERS);
    let mut auditor = Auditor::of_several();
    let mut start = |ledger| {
        Worker::start(
            &site,
            ledger,
            Random::new(seed ^ ledger as u64).below(u64::MAX),
        )
    };
    let mut workers: Vec<Worker> = (0..WORKERS).map(&mut start).collect();
    for _ in 0..kills {
        let victim = random.below(WORKERS as u64) as usize;
        workers[victim].live_a_while(&mut random);
        let next = Worker::start(&site, victim, random.below(u64::MAX));
        let killed = std::mem::replace(&mut workers[victim], next);
        auditor.hear(&killed.kill());
    }
    for worker in workers {
        // Those that were never killed have done something too.
        auditor.hear(&worker.kill());
    }
    auditor.read_ledgers(&site);
    let store = store(&site).await;
    auditor.compare_all(&store).await;
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    auditor.print();
}
