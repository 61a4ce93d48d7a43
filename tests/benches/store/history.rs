//! What a store that has been used for long costs more than an empty one.

use std::path::Path;
use std::time::{Duration, Instant};

use airlock_host::store::{ResolvedQuery, Scope};
use airlock_tests::{Backend, Host, SqliteBackend};
use rusqlite::Connection;

use crate::Effort;
use crate::work::{Client, median, told};

/// What is on the stack that is listed.
const PENDING: usize = 10;

const SESSION: &str = "session 7";

pub async fn sqlite(disk: &Path, effort: Effort) -> anyhow::Result<()> {
    let (fresh, old) = (SqliteBackend::inside(disk), SqliteBackend::inside(disk));
    for backend in [&fresh, &old] {
        let client = Client::new(backend.host().await.store, SESSION).await;
        client.push_and_resolve(1).await?;
        for _ in 0..PENDING {
            client.push().await?;
        }
    }
    grow(&old, effort.history)?;
    let hosts = [fresh.host().await, old.host().await];
    let clients = [
        Client::new(hosts[0].store.clone(), SESSION).await,
        Client::new(hosts[1].store.clone(), SESSION).await,
    ];
    let count = effort.actions;
    let backends = [&fresh, &old];

    let open = measure(effort, async |side| {
        let began = Instant::now();
        let host = backends[side].host().await;
        let took = began.elapsed();
        drop(host);
        Ok(took)
    });
    row("open", open.await?, "50 ms more at most");
    let list = measure(effort, async |side| {
        let began = Instant::now();
        for _ in 0..count {
            let listed = hosts[side].store.stacks.list(clients[side].session()).await;
            assert_eq!(listed?.len(), PENDING);
        }
        Ok(began.elapsed() / count as u32)
    });
    row("list 10 pending actions", list.await?, "the same");
    let open_actions = measure(effort, async |side| {
        let began = Instant::now();
        let found = durable(&hosts[side]).open_actions(Scope::All).await;
        assert_eq!(found?.len(), PENDING);
        Ok(began.elapsed())
    });
    row("all open actions", open_actions.await?, "the same");
    let resolve = measure(effort, async |side| {
        let began = Instant::now();
        clients[side].push_and_resolve(count).await?;
        Ok(began.elapsed() / count as u32)
    });
    row("push + resolve", resolve.await?, "the same");
    let resolved = measure(effort, async |side| {
        let query = ResolvedQuery {
            session: Some(SESSION.into()),
            workspace: None,
            limit: 1,
        };
        let began = Instant::now();
        let found = durable(&hosts[side]).resolved_actions(&query).await;
        assert_eq!(found?.len(), 1);
        Ok(began.elapsed())
    });
    row("the last resolved action", resolved.await?, "");
    Ok(())
}

fn durable(host: &Host) -> &dyn airlock_host::store::DurableStore {
    &**host.durable.as_ref().expect("it is a durable store")
}

/// Medians for the fresh store and the old one.
async fn measure(
    effort: Effort,
    mut one: impl AsyncFnMut(usize) -> anyhow::Result<Duration>,
) -> anyhow::Result<[Duration; 2]> {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..effort.rounds + 1 {
        for (side, times) in times.iter_mut().enumerate() {
            let took = one(side).await?;
            // The first has to fill what is cached.
            if round > 0 {
                times.push(took);
            }
        }
    }
    Ok(times.map(median))
}

fn row(what: &str, [fresh, old]: [Duration; 2], promised: &str) {
    let difference = old.as_secs_f64() - fresh.as_secs_f64();
    let sign = if difference < 0.0 { "-" } else { "+" };
    let difference = told(Duration::from_secs_f64(difference.abs()));
    println!(
        "| {what} | {} | {} | {sign}{difference} | {promised} |",
        told(fresh),
        told(old)
    );
}

/// Repeats the resolved action of the store, with all that the store keeps of it, until there are
/// `count`.
fn grow(backend: &SqliteBackend, count: u64) -> anyhow::Result<()> {
    let mut connection = Connection::open(backend.path())?;
    let transaction = connection.transaction()?;
    let columns: Vec<String> = transaction
        .prepare("SELECT name FROM pragma_table_info('actions') WHERE name <> 'number'")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let values: Vec<&str> = columns
        .iter()
        .map(|column| match column.as_str() {
            "id" => "printf('0198c5f0-ffff-7000-8000-%012d', n)",
            "session" => "'session ' || (n % 1000)",
            "resolved" => "a.resolved + n",
            column => column,
        })
        .collect();
    let insert = format!(
        "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
         INSERT INTO actions ({}) SELECT {} FROM actions a, numbers WHERE a.number = 1",
        columns.join(", "),
        values.join(", ")
    );
    transaction.execute(&insert, [count])?;
    transaction.commit()?;
    // Not in the first moments of who opens it.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}
