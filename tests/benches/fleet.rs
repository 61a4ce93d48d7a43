//! How many actions a fleet pushes and resolves in a second: one conversation, then 1, 2 and 4 host
//! processes with several on one server, and 4 on two servers with the sessions divided between
//! them; beside bare commits of as many connections in the same run.
//!
//! `cargo bench --bench fleet` prints a table of medians. The two sides take turns. The servers are
//! started for it, and wait for their disk at each commit.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use airlock_host::digest::Digest;
use airlock_host::store::{PluginBytes, Push, Stacks};
use airlock_host::{PendingAction, Policy, Resolution, Session};
use airlock_store_postgres::PostgresStore;
use airlock_tests::{PostgresServer, Sync, Tester};
use anyhow::{Context, ensure};
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

fn main() -> anyhow::Result<()> {
    if let Ok(role) = std::env::var(ROLE) {
        let url = std::env::var(URL)?;
        let number = std::env::var(NUMBER)?;
        let count = Runtime::new()?.block_on(async {
            match role.as_str() {
                "store" => measure(async |session| actions(&url, &number, session).await).await,
                _ => measure(async |_| bare_commits(&url).await).await,
            }
        })?;
        println!("{count}");
        return Ok(());
    }
    println!(
        "| hosts | conversations in each | servers | actions/s | commits/s | bare commits/s | bare / ours |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (hosts, sessions, servers) in [(1, 1, 1), (1, 4, 1), (2, 4, 1), (4, 4, 1), (4, 4, 2)] {
        row(hosts, sessions, servers)?;
    }
    Ok(())
}

fn row(hosts: usize, sessions: usize, servers: usize) -> anyhow::Result<()> {
    let servers: Vec<PostgresServer> = (0..servers)
        .map(|_| PostgresServer::new(Sync::On))
        .collect();
    let urls: Vec<String> = servers.iter().map(PostgresServer::database_url).collect();
    for url in &urls {
        Runtime::new()?.block_on(make_bare_table(url))?;
    }
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(run("store", hosts, sessions, &urls)?);
        bare.push(run("bare", hosts, sessions, &urls)?);
    }
    let (ours, bare) = (median(ours), median(bare));
    println!(
        "| {hosts} | {sessions} | {} | {ours:.0} | {:.0} | {bare:.0} | {:.2}x |",
        urls.len(),
        ours * COMMITS,
        bare / (ours * COMMITS)
    );
    Ok(())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// What all hosts together do in a second.
fn run(role: &str, hosts: usize, sessions: usize, urls: &[String]) -> anyhow::Result<f64> {
    let start = |number: usize| -> anyhow::Result<Child> {
        let mut host = Command::new(std::env::current_exe()?);
        host.env(ROLE, role)
            .env(URL, &urls[number % urls.len()])
            .env(
                NUMBER,
                format!(
                    "{}-{number}",
                    SystemTime::now()
                        .duration_since(SystemTime::UNIX_EPOCH)?
                        .as_nanos()
                ),
            )
            .env(SESSIONS, sessions.to_string())
            .stdout(Stdio::piped());
        Ok(host.spawn()?)
    };
    let hosts = (0..hosts).map(start).collect::<anyhow::Result<Vec<_>>>()?;
    let count = |host: Child| -> anyhow::Result<f64> {
        let output = host.wait_with_output()?;
        ensure!(output.status.success(), "a host: {}", output.status);
        let told = String::from_utf8_lossy(&output.stdout);
        told.trim()
            .parse()
            .with_context(|| format!("a host's count is `{told}`"))
    };
    hosts.into_iter().map(count).sum()
}

/// How often `once` is done in a second, by as many tasks as there are sessions.
async fn measure<W: AsyncFnMut() -> anyhow::Result<()>>(
    make: impl AsyncFn(usize) -> anyhow::Result<W>,
) -> anyhow::Result<f64> {
    let mut workers = Vec::new();
    let sessions: usize = std::env::var(SESSIONS)?.parse()?;
    for session in 0..sessions {
        workers.push(make(session).await?);
    }
    let began = Instant::now() + WARM_UP;
    let until = began + MEASURED;
    let counted = workers.into_iter().map(async |mut work| {
        let mut count = 0_u64;
        while Instant::now() < until {
            work().await?;
            if Instant::now() > began {
                count += 1;
            }
        }
        anyhow::Ok(count)
    });
    let counts = join_all(counted.collect()).await;
    let count: u64 = counts.into_iter().sum::<anyhow::Result<_>>()?;
    Ok(count as f64 / MEASURED.as_secs_f64())
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
        if outputs.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Pushes an action and resolves it.
async fn actions(
    url: &str,
    host: &str,
    session: usize,
) -> anyhow::Result<impl AsyncFnMut() -> anyhow::Result<()>> {
    let store = Arc::new(PostgresStore::connect(url).await?);
    let session = Session::builder()
        .model_decides()
        .id(format!("{host}-{session}"))
        .store(store.clone());
    let session = session.open()?;
    let bytes = vec![7; 100_000];
    let plugin = PluginBytes {
        digest: Digest::of(&bytes),
        name: "bench".into(),
        bytes: bytes.into(),
    };
    let mut number = 0_u64;
    Ok(async move || {
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
        store.push(push).await?;
        session
            .resolve(Resolution::discard("a benchmark"), Tester)
            .await?;
        Ok(())
    })
}

async fn make_bare_table(url: &str) -> anyhow::Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    connection
        .execute("CREATE TABLE bare (id bigserial PRIMARY KEY, bytes bytea)")
        .await?;
    Ok(())
}

/// The least that can be durable: a row.
async fn bare_commits(url: &str) -> anyhow::Result<impl AsyncFnMut() -> anyhow::Result<()>> {
    let mut connection = PgConnection::connect(url).await?;
    Ok(async move || {
        let insert = sqlx::query("INSERT INTO bare (bytes) VALUES ($1)").bind(vec![7_u8; 200]);
        connection.execute(insert).await?;
        Ok(())
    })
}
