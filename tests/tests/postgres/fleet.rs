//! Three host processes with real guests, and what they leave behind when they are killed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_host::pending::{ActionId, ActionState, Decision};
use airlock_host::store::{ActionRecord, DurableStore, ResolvedQuery, Scope};
use airlock_host::{Error, Resolution, Session};
use airlock_store_postgres::PostgresStore;
use airlock_tests::{
    DEADLINE, PostgresServer, Sync, Tester, asked, connect_with_lease, eventually, plugin,
};
use tempfile::TempDir;

const HOSTS: usize = 3;
const SESSIONS: usize = 6;
/// What each of the two tests waits for, unless `AIRLOCK_FLEET_PUSHES` asks for more.
const PUSHES: usize = 300;
const TIMEOUT: Duration = Duration::from_secs(400);

fn pushes() -> usize {
    asked("AIRLOCK_FLEET_PUSHES").unwrap_or(PUSHES)
}

struct Fleet {
    server: PostgresServer,
    url: String,
    folder: TempDir,
    lease_time: Duration,
    hosts: Vec<Host>,
    started: usize,
}

/// A process that dies with the test.
struct Host {
    process: Child,
    name: String,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Fleet {
    async fn start(lease_time: Duration) -> Self {
        let server = PostgresServer::new(Sync::On);
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("workspace")).unwrap();
        let mut fleet = Self {
            url: server.database_url(),
            server,
            folder,
            lease_time,
            hosts: Vec::new(),
            started: 0,
        };
        for _ in 0..HOSTS {
            let host = fleet.new_host();
            fleet.hosts.push(host);
        }
        fleet
    }

    fn new_host(&mut self) -> Host {
        self.started += 1;
        let name = format!("host{}", self.started);
        let mut host = Command::new(env!("CARGO_BIN_EXE_store_worker"));
        host.env("WORKER_URL", &self.url)
            .env("WORKER_FOLDER", self.folder.path())
            .env("WORKER_NAME", &name)
            .env("WORKER_SESSIONS", SESSIONS.to_string())
            .env("WORKER_LEASE_MS", self.lease_time.as_millis().to_string())
            .stdin(Stdio::piped());
        let process = host.spawn().expect("a host starts");
        Host { process, name }
    }

    /// Whether a host has pushed anything yet.
    fn has_pushed(&self, host: &Host) -> bool {
        let mut lines = self.lines("acknowledged").into_iter();
        lines.any(|line| line.starts_with(&format!("{}-", host.name)))
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Does something every second until enough was pushed.
    fn run(&mut self, mut every_second: impl FnMut(&mut Self, usize)) {
        let began = Instant::now();
        let (mut seconds, pushes) = (0, pushes());
        while self.lines("acknowledged").len() < pushes {
            assert!(
                began.elapsed() < TIMEOUT,
                "only {}",
                self.lines("acknowledged").len()
            );
            std::thread::sleep(Duration::from_secs(1));
            every_second(self, seconds);
            seconds += 1;
        }
        self.hosts.clear();
    }

    /// How often each action took effect, by its tag.
    fn effects(&self) -> HashMap<String, usize> {
        let mut effects = HashMap::new();
        for entry in fs::read_dir(self.workspace()).unwrap() {
            let entry = entry.unwrap();
            // What commits keep there.
            if entry.path().is_dir() {
                continue;
            }
            let lines = fs::read_to_string(entry.path()).unwrap().lines().count();
            effects.insert(entry.file_name().into_string().unwrap(), lines);
        }
        effects
    }
}

async fn everything(store: &PostgresStore) -> Vec<ActionRecord> {
    let query = ResolvedQuery {
        session: None,
        workspace: None,
        limit: usize::MAX,
    };
    let mut records = store.resolved_actions(&query).await.unwrap();
    records.extend(store.open_actions(Scope::All).await.unwrap());
    records
}

/// Decides about what the hosts have left. What left a line can't be discarded any more: the
/// workspace knows of it.
async fn resolve_the_rest(fleet: &Fleet, store: &PostgresStore) {
    let effects = fleet.effects();
    let puppet = plugin("puppet").await;
    for record in store.open_actions(Scope::All).await.unwrap() {
        let session = Session::builder()
            .model_decides()
            .id(record.session.clone())
            .workspace(fleet.workspace())
            .store(Arc::new(store.clone()))
            .bind(&puppet)
            .open()
            .unwrap();
        let took_effect = effects.get(&record.action.label) == Some(&1);
        let resolution = match (record.state, took_effect) {
            (ActionState::Interrupted, true) => Resolution::discard("it was applied"),
            (ActionState::Interrupted | ActionState::Pending, false) => Resolution::apply("again"),
            other => panic!("{}: {other:?}", record.action.label),
        };
        let resolved = session
            .resolve(resolution.with_id(record.action.id.clone()), Tester)
            .await;
        match (took_effect, resolved) {
            (false, Ok(_)) => {}
            (true, Err(Error::AlreadyResolved { decision, .. })) => {
                assert_eq!(decision, Decision::Apply);
            }
            (_, other) => panic!("{}: {other:?}", record.action.label),
        }
    }
}

/// None lost, none doubled.
async fn check(fleet: &Fleet) -> usize {
    let store = connect_with_lease(&fleet.url, fleet.lease_time).await;
    let none_resolving = async || store.stats().await.unwrap().resolving == 0;
    eventually("the dead hosts' leases run out", none_resolving).await;
    let effects = fleet.effects();
    for (tag, count) in &effects {
        assert!(*count <= 1, "{tag} took effect {count} times");
    }
    let before = everything(&store).await;
    let interrupted = before
        .iter()
        .filter(|record| record.state == ActionState::Interrupted);
    let interrupted = interrupted.count();
    let known: HashSet<&ActionId> = before.iter().map(|record| &record.action.id).collect();
    for line in fleet.lines("acknowledged") {
        let (_, id) = line.split_once(' ').unwrap();
        assert!(known.contains(&ActionId::from(id)), "{line} was lost");
    }
    for record in &before {
        let applied = record.state == ActionState::Applied;
        let took_effect = effects.get(&record.action.label) == Some(&1);
        assert!(
            !applied || took_effect,
            "{} left no line",
            record.action.label
        );
        assert!(
            record.attempts <= 1,
            "{} was tried again",
            record.action.label
        );
    }
    resolve_the_rest(fleet, &store).await;
    let after = everything(&store).await;
    assert_eq!(after.len(), before.len());
    let effects = fleet.effects();
    for record in &after {
        assert!(record.resolved.is_some(), "{}", record.action.label);
        assert_eq!(
            effects.get(&record.action.label),
            Some(&1),
            "{}",
            record.action.label
        );
    }
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    println!("{} actions, {interrupted} of them interrupted", after.len());
    interrupted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_hosts_one_is_killed_every_second_and_nothing_is_lost_or_doubled() {
    let mut fleet = Fleet::start(Duration::from_secs(3)).await;
    tokio::task::block_in_place(|| {
        fleet.run(|fleet, second| {
            // On a busy machine starting may take longer than its turn, and nobody would ever push.
            if fleet.has_pushed(&fleet.hosts[second % HOSTS]) {
                // Killed without a word when it is dropped.
                let host = fleet.new_host();
                fleet.hosts[second % HOSTS] = host;
            }
        });
    });
    let errors = fleet.lines("errors");
    assert!(errors.is_empty(), "{errors:?}");
    let began = Instant::now();
    check(&fleet).await;
    assert!(began.elapsed() < DEADLINE * 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hosts_live_through_restarts_of_their_server_and_nothing_is_lost_or_doubled() {
    let mut fleet = Fleet::start(Duration::from_secs(15)).await;
    tokio::task::block_in_place(|| {
        fleet.run(|fleet, second| match second % 4 {
            1 => fleet.server.restart("fast"),
            3 => fleet.server.restart("immediate"),
            _ => {}
        });
    });
    let errors = fleet.lines("errors");
    assert!(errors.is_empty(), "{errors:?}");
    check(&fleet).await;
}
