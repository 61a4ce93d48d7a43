//! Rows of a store that somebody else wrote to.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use airlock_host::Resolution;
use airlock_host::pending::SessionId;
use airlock_host::store::{DurableStore, ResolvedQuery, Scope, Stacks};
use airlock_store_sqlite::SqliteStore;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;
use tempfile::TempDir;

use super::{Bytes, block_on};
use crate::Tester;
use crate::{Puppet, durable};

const SESSION: &str = "fuzz";

/// A store with pending actions and decided ones.
static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = TempDir::new().expect("a temporary directory");
    let path = folder.path().join("store.db");
    block_on(async {
        let store = SqliteStore::open(&path).await.expect("a store");
        let puppet = Puppet::with(|session| session.id(SESSION).store(Arc::new(store))).await;
        for label in ["one", "two", "three"] {
            let steps = json!([durable(label, json!([]))]);
            puppet.call(steps).await.expect("a preview");
        }
        let resolution = Resolution::apply("it is right");
        puppet
            .session
            .resolve(resolution, Tester)
            .await
            .expect("an end");
    });
    // What is in the journal belongs to it.
    let connection = Connection::open(&path).expect("the file");
    let checkpoint = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    checkpoint.expect("a checkpoint");
    drop(connection);
    fs::read(&path).expect("the file")
});

/// A store, some of whose values are others, or whose file is damaged. Listing it is an error or a
/// list, and nothing else.
pub fn store_rows(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let folder = TempDir::new().expect("a temporary directory");
    let path = folder.path().join("store.db");
    let mut file = STORE.clone();
    let shape = bytes.byte();
    if shape & 3 == 3 {
        for _ in 0..shape >> 2 {
            let at = u32::from_le_bytes([bytes.byte(), bytes.byte(), bytes.byte(), 0]) as usize;
            let at = at % file.len();
            file[at] = bytes.byte();
        }
        fs::write(&path, &file).expect("the file is written");
    } else {
        fs::write(&path, &file).expect("the file is written");
        change(&path, &mut bytes);
    }
    block_on(list(&path));
}

/// Sets some values of some rows.
fn change(path: &Path, bytes: &mut Bytes<'_>) {
    let connection = Connection::open(path).expect("the file");
    let columns = columns(&connection);
    // What refuses a change refuses it, and others follow.
    let _ =
        connection.execute_batch("PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0");
    for _ in 0..1 + bytes.byte() % 4 {
        let (table, column) = &columns[usize::from(bytes.byte()) % columns.len()];
        let value = match bytes.byte() % 6 {
            0 => Value::Null,
            1 => Value::Integer(i64::from(bytes.byte()) - 128),
            2 => Value::Integer(i64::MIN + i64::from(bytes.byte())),
            3 => Value::Real(f64::from(bytes.byte()) / 3.0),
            4 => Value::Text(String::from_utf8_lossy(bytes.some(4)).into_owned()),
            _ => Value::Blob(bytes.some(4).to_vec()),
        };
        let _ = connection.execute(
            &format!("UPDATE \"{table}\" SET \"{column}\" = ?1"),
            [value],
        );
    }
}

fn columns(connection: &Connection) -> Vec<(String, String)> {
    let mut statement = connection
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
             WHERE t.type = 'table' ORDER BY 1, 2",
        )
        .expect("the schema can be asked for");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.expect("the schema")
        .collect::<Result<_, _>>()
        .expect("the schema")
}

async fn list(path: &Path) {
    let Ok(store) = SqliteStore::open(path).await else {
        return;
    };
    let session = SessionId::from(SESSION);
    let _ = store.list(&session).await;
    let _ = store.peek(&session).await;
    let _ = store.open_actions(Scope::All).await;
    let all = ResolvedQuery {
        session: None,
        workspace: None,
        limit: 100,
    };
    let _ = store.resolved_actions(&all).await;
    let _ = store.denied_actions(&all).await;
    let _ = store.stats().await;
    let _ = store.check().await;
}

pub fn seeds() -> Vec<Vec<u8>> {
    vec![
        vec![0, 3, 1, 0, 2, 1, 200, 3, 4, 10],
        vec![7, 100, 0, 0, 255, 0, 16, 0, 1],
        (0..=255).rev().collect(),
    ]
}
