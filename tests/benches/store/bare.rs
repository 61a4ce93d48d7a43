//! What a store can't do without: commits to the same kind of database, on the same disk.

use airlock_tests::{PostgresBackend, SqliteBackend};
use rusqlite::Connection;
use sqlx::PgConnection;
use tokio::sync::Mutex;

/// Commits, one after the other.
pub trait Bare {
    async fn commit(&self, count: usize) -> anyhow::Result<()>;
}

/// A connection to a file beside the store's, with the same settings.
pub struct Sqlite(Connection);

impl Sqlite {
    pub fn beside(store: &SqliteBackend) -> anyhow::Result<Self> {
        let connection = Connection::open(store.folder().join("bare.db"))?;
        connection.pragma_update(None, "page_size", 2048)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let table = "CREATE TABLE bare (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT";
        connection.execute(table, [])?;
        Ok(Self(connection))
    }
}

impl Bare for Sqlite {
    async fn commit(&self, count: usize) -> anyhow::Result<()> {
        for _ in 0..count {
            let insert = "INSERT INTO bare (text) VALUES ('as much as a short label')";
            let mut insert = self.0.prepare_cached(insert)?;
            insert.execute([])?;
        }
        Ok(())
    }
}

/// A connection to the store's own database.
pub struct Postgres(Mutex<PgConnection>);

impl Postgres {
    pub async fn beside(store: &PostgresBackend) -> anyhow::Result<Self> {
        let connection = <PgConnection as sqlx::Connection>::connect(&store.url()).await;
        let mut connection = connection?;
        let table = "CREATE TABLE bare (number bigserial PRIMARY KEY, text text NOT NULL)";
        sqlx::query(table).execute(&mut connection).await?;
        Ok(Self(Mutex::new(connection)))
    }
}

impl Bare for Postgres {
    async fn commit(&self, count: usize) -> anyhow::Result<()> {
        let mut connection = self.0.lock().await;
        for _ in 0..count {
            let insert = sqlx::query("INSERT INTO bare (text) VALUES ('as much as a short label')");
            insert.execute(&mut *connection).await?;
        }
        Ok(())
    }
}

/// Where there is nothing to compare with.
impl Bare for () {
    async fn commit(&self, _count: usize) -> anyhow::Result<()> {
        Ok(())
    }
}
