//! What the durable stores cost beside the bare commits that they can't do without.
//!
//! `cargo bench --bench store` prints tables; with `-- --quick` it takes less time, and says less.
//! Files are beside the build, since a disk is to be measured and no memory. Both sides take turns,
//! round by round, and medians are compared: machines are noisy.

mod bare;
mod clients;
mod history;
mod work;

use std::path::Path;

use airlock_tests::{Backend, MemoryBackend, PostgresBackend, PostgresServer, SqliteBackend, Sync};
use tokio::runtime::Runtime;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// How often the sides take turns.
    pub rounds: usize,
    /// How many actions are pushed and resolved in a round.
    pub actions: usize,
    /// How many resolved actions a store has that was used for long.
    pub history: u64,
}

fn main() -> anyhow::Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let effort = if quick {
        Effort {
            rounds: 5,
            actions: 10,
            history: 50_000,
        }
    } else {
        Effort {
            rounds: 61,
            actions: 10,
            history: 1_000_000,
        }
    };
    Runtime::new()?.block_on(measure(effort))
}

async fn measure(effort: Effort) -> anyhow::Result<()> {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    println!(
        "push and resolve, one client (medians of {} rounds):",
        effort.rounds
    );
    println!("| store | push + resolve | as many bare commits | ratio | promised |");
    println!("| --- | --- | --- | --- | --- |");
    let memory = MemoryBackend::new().await;
    clients::alone("memory", &memory, None::<&()>, effort).await?;
    let sqlite = SqliteBackend::inside(disk);
    let bare = bare::Sqlite::beside(&sqlite)?;
    clients::alone("SQLite", &sqlite, Some(&bare), effort).await?;
    // One that waits for its disk, and ends with this process.
    let server = Box::leak(Box::new(PostgresServer::new(Sync::On)));
    let postgres = PostgresBackend::on(server);
    let bare = bare::Postgres::beside(&postgres).await?;
    clients::alone("PostgreSQL", &postgres, Some(&bare), effort).await?;

    println!("\npush and resolve, per second:");
    println!(
        "| store | one client | {} sessions | ratio | promised |",
        clients::SESSIONS
    );
    println!("| --- | --- | --- | --- | --- |");
    clients::together("SQLite", &sqlite, "5.00x or more", effort).await?;
    clients::together("PostgreSQL", &postgres, "", effort).await?;
    drop((bare, sqlite, postgres));

    println!("\nwith {} resolved actions in the store:", effort.history);
    println!("| SQLite | empty | with them | difference | promised |");
    println!("| --- | --- | --- | --- | --- |");
    history::sqlite(disk, effort).await
}
