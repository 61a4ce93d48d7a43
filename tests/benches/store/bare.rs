//! What a store can't do without: commits to the same kind of database, on the same disk.

use airlock_tests::{PostgresBackend, SqliteBackend};
use rusqlite::Connection;
use sqlx::PgConnection;
use tokio::sync::Mutex;

/// Commits, one after the other.
pub trait Bare {
    async fn commit(&self, count: usize);
}

/// A connection to a file beside the store's, with the same settings.
pub struct Sqlite(Connection);

impl Sqlite {
    pub fn beside(store: &SqliteBackend) -> Self {
        let connection = Connection::open(store.folder().join("bare.db")).unwrap();
        connection.pragma_update(None, "page_size", 2048).unwrap();
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .unwrap();
        connection
            .pragma_update(None, "synchronous", "FULL")
            .unwrap();
        let table = "CREATE TABLE bare (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT";
        connection.execute(table, []).unwrap();
        Self(connection)
    }
}

impl Bare for Sqlite {
    async fn commit(&self, count: usize) {
        for _ in 0..count {
            let insert = "INSERT INTO bare (text) VALUES ('as much as a short label')";
            let mut insert = self.0.prepare_cached(insert).unwrap();
            insert.execute([]).unwrap();
        }
    }
}

/// A connection to the store's own database.
pub struct Postgres(Mutex<PgConnection>);

impl Postgres {
    pub async fn beside(store: &PostgresBackend) -> Self {
        let connection = <PgConnection as sqlx::Connection>::connect(&store.url()).await;
        let mut connection = connection.unwrap();
        let table = "CREATE TABLE bare (number bigserial PRIMARY KEY, text text NOT NULL)";
        sqlx::query(table).execute(&mut connection).await.unwrap();
        Self(Mutex::new(connection))
    }
}

impl Bare for Postgres {
    async fn commit(&self, count: usize) {
        let mut connection = self.0.lock().await;
        for _ in 0..count {
            let insert = sqlx::query("INSERT INTO bare (text) VALUES ('as much as a short label')");
            insert.execute(&mut *connection).await.unwrap();
        }
    }
}

/// Where there is nothing to compare with.
impl Bare for () {
    async fn commit(&self, _count: usize) {}
}
