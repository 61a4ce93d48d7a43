//! How many actions a fleet pushes and resolves in a second: one conversation, then 1, 2 and 4 host
//! processes with several on one server, and 4 on two servers with the sessions divided between
//! them; beside bare commits of as many connections in the same run.
//!
//! `cargo bench --bench fleet` prints a table of medians. The two sides take turns. The servers are
//! started for it, and wait for their disk at each commit.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use airlock_host::{
    Digest, PendingAction, PendingStore, PluginBytes, Policy, Push, Resolution, Session,
};
use airlock_store_postgres::PostgresStore;
use airlock_tests::{PostgresServer, Sync};
use sqlx::{Connection, Executor, PgConnection};
use tokio::runtime::Runtime;

/// What a process of this program is to do, and where.
const ROLE: &str = "FLEET_ROLE";
const URL: &str = "FLEET_URL";
const NUMBER: &str = "FLEET_NUMBER";
const SESSIONS: &str = "FLEET_SESSIONS";

const ROUNDS: usize = 5;
const WARM_UP: Duration = Duration::from_millis(500);
const MEASURED: Duration = Duration::from_millis(1500);
/// A push, a claim and its completion.
const COMMITS: f64 = 3.0;

fn main() {
    if let Ok(role) = std::env::var(ROLE) {
        let url = std::env::var(URL).unwrap();
        let number = std::env::var(NUMBER).unwrap();
        let count = Runtime::new().unwrap().block_on(async {
            match role.as_str() {
                "store" => measure(async |session| actions(&url, &number, session).await).await,
                _ => measure(async |_| bare_commits(&url).await).await,
            }
        });
        println!("{count}");
        return;
    }
    println!(
        "| hosts | conversations in each | servers | actions/s | commits/s | bare commits/s | bare / ours |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (hosts, sessions, servers) in [(1, 1, 1), (1, 4, 1), (2, 4, 1), (4, 4, 1), (4, 4, 2)] {
        row(hosts, sessions, servers);
    }
}

fn row(hosts: usize, sessions: usize, servers: usize) {
    let servers: Vec<PostgresServer> = (0..servers)
        .map(|_| PostgresServer::new(Sync::On))
        .collect();
    let urls: Vec<String> = servers.iter().map(PostgresServer::database_url).collect();
    for url in &urls {
        Runtime::new().unwrap().block_on(make_bare_table(url));
    }
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(run("store", hosts, sessions, &urls));
        bare.push(run("bare", hosts, sessions, &urls));
    }
    let (ours, bare) = (median(ours), median(bare));
    println!(
        "| {hosts} | {sessions} | {} | {ours:.0} | {:.0} | {bare:.0} | {:.2}x |",
        urls.len(),
        ours * COMMITS,
        bare / (ours * COMMITS)
    );
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// What all hosts together do in a second.
fn run(role: &str, hosts: usize, sessions: usize, urls: &[String]) -> f64 {
    let start = |number: usize| -> Child {
        let mut host = Command::new(std::env::current_exe().unwrap());
        host.env(ROLE, role)
            .env(URL, &urls[number % urls.len()])
            .env(
                NUMBER,
                format!(
                    "{}-{number}",
                    SystemTime::now()
                        .duration_since(SystemTime::UNIX_EPOCH)
                        .unwrap()
                        .as_nanos()
                ),
            )
            .env(SESSIONS, sessions.to_string())
            .stdout(Stdio::piped());
        host.spawn().unwrap()
    };
    let hosts: Vec<Child> = (0..hosts).map(start).collect();
    let count = |host: Child| -> f64 {
        let output = host.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap()
    };
    hosts.into_iter().map(count).sum()
}

/// How often `once` is done in a second, by as many tasks as there are sessions.
async fn measure<W: AsyncFnMut()>(make: impl AsyncFn(usize) -> W) -> f64 {
    let mut workers = Vec::new();
    let sessions: usize = std::env::var(SESSIONS).unwrap().parse().unwrap();
    for session in 0..sessions {
        workers.push(make(session).await);
    }
    let began = Instant::now() + WARM_UP;
    let until = began + MEASURED;
    let counted = workers.into_iter().map(async |mut work| {
        let mut count = 0_u64;
        while Instant::now() < until {
            work().await;
            if Instant::now() > began {
                count += 1;
            }
        }
        count
    });
    let counts = join_all(counted.collect()).await;
    counts.into_iter().sum::<u64>() as f64 / MEASURED.as_secs_f64()
}

/// All futures to their end, in one task: they only wait for the server.
async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut pinned: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = pinned.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, output) in pinned.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let std::task::Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *output = Some(ready);
            }
        }
        match outputs.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Pushes an action and resolves it.
async fn actions(url: &str, host: &str, session: usize) -> impl AsyncFnMut() {
    let store = Arc::new(PostgresStore::connect(url).await.unwrap());
    let session = Session::builder()
        .id(format!("{host}-{session}"))
        .store(store.clone());
    let session = session.open().unwrap();
    let bytes = vec![7; 100_000];
    let plugin = PluginBytes {
        digest: Digest::of(&bytes),
        name: "bench".into(),
        bytes: bytes.into(),
    };
    let mut number = 0_u64;
    async move || {
        number += 1;
        let mut action = PendingAction::new(
            format!("{}-{number}", session.id()),
            "Rename: 12 files",
            plugin.digest,
            Arc::clone(&plugin.name),
            Policy::default(),
            SystemTime::now(),
        );
        action.source_tool_name = "batch_rename".to_owned();
        action.durable = true;
        let push = Push::new(session.id(), action, &plugin)
            .with_guest_state(vec![7; 200])
            .with_capacity(100);
        store.push(push).await.unwrap();
        session
            .resolve(Resolution::discard("a benchmark"))
            .await
            .unwrap();
    }
}

async fn make_bare_table(url: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    connection
        .execute("CREATE TABLE bare (id bigserial PRIMARY KEY, bytes bytea)")
        .await
        .unwrap();
}

/// The least that can be durable: a row.
async fn bare_commits(url: &str) -> impl AsyncFnMut() {
    let mut connection = PgConnection::connect(url).await.unwrap();
    async move || {
        let insert = sqlx::query("INSERT INTO bare (bytes) VALUES ($1)").bind(vec![7_u8; 200]);
        connection.execute(insert).await.unwrap();
    }
}
