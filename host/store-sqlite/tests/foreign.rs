//! Files that are not ours are not written to.

mod folder;

use std::fs;
use std::path::{Path, PathBuf};

use airlock_model::store::BackendErrorKind;
use airlock_store_sqlite::SqliteStore;
use folder::StoreFolder;

/// A SQLite connection to the file.
fn sqlite(file: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(file).unwrap()
}

#[tokio::test]
async fn no_foreign_file_is_written_to_neither_as_a_store_nor_as_a_backup() {
    type Make = fn(&Path);
    let kinds: [(&str, Make); 8] = [
        ("nothing", |file| fs::write(file, "").unwrap()),
        ("one byte", |file| fs::write(file, "x").unwrap()),
        ("a line", |file| fs::write(file, "Dear Ann,\n").unwrap()),
        ("99 bytes of a database", |file| {
            sqlite(file)
                .execute_batch("CREATE TABLE other (x)")
                .unwrap();
            let bytes = fs::read(file).unwrap();
            fs::write(file, &bytes[..99]).unwrap();
        }),
        ("another program's database", |file| {
            sqlite(file)
                .execute_batch("CREATE TABLE other (x)")
                .unwrap();
        }),
        ("an empty database", |file| {
            sqlite(file).execute_batch("VACUUM").unwrap();
        }),
        ("a database with a log", |file| {
            let connection = sqlite(file);
            connection
                .pragma_update(None, "journal_mode", "WAL")
                .unwrap();
            connection.execute_batch("CREATE TABLE other (x)").unwrap();
            let (bytes, log) = (fs::read(file).unwrap(), wal(file));
            let kept = fs::read(&log).unwrap();
            drop(connection);
            fs::write(file, bytes).unwrap();
            fs::write(log, kept).unwrap();
        }),
        ("a database with a journal", |file| {
            sqlite(file)
                .execute_batch("CREATE TABLE other (x)")
                .unwrap();
            let mut journal = file.as_os_str().to_owned();
            journal.push("-journal");
            fs::write(journal, [0xd9, 0xd5, 0x05, 0xf9]).unwrap();
        }),
    ];
    for (what, make) in kinds {
        let place = StoreFolder::new();
        make(&place.file());
        let before = contents(place.folder.path());
        let error = SqliteStore::open(place.file()).await.unwrap_err();
        assert_eq!(
            error.backend_kind(),
            Some(BackendErrorKind::Damaged),
            "{what}: {error}"
        );
        assert_eq!(contents(place.folder.path()), before, "{what}");
        // No store is made of it either.
        let to = place.folder.path().join("restored.db");
        let error = SqliteStore::restore(place.file(), &to).await.unwrap_err();
        assert_eq!(
            error.backend_kind(),
            Some(BackendErrorKind::Damaged),
            "{what}: {error}"
        );
        assert_eq!(contents(place.folder.path()), before, "{what}");
        // Nor is it overwritten.
        let source = StoreFolder::new();
        let store = SqliteStore::open(source.file()).await.unwrap();
        store.backup(place.file()).await.unwrap_err();
        store
            .backup(source.folder.path().join("copy.db"))
            .await
            .unwrap();
        let copy = source.folder.path().join("copy.db");
        SqliteStore::restore(copy, place.file()).await.unwrap_err();
        assert_eq!(contents(place.folder.path()), before, "{what}");
    }
}

#[tokio::test]
async fn what_lies_beside_a_missing_store_is_not_taken_for_its_own() {
    for end in ["-wal", "-shm", "-journal"] {
        let place = StoreFolder::new();
        fs::write(
            place.folder.path().join(format!("pending.db{end}")),
            "somebody's",
        )
        .unwrap();
        let before = contents(place.folder.path());
        let error = SqliteStore::open(place.file())
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&format!("pending.db{end} already exists")),
            "{error}"
        );
        assert_eq!(contents(place.folder.path()), before);
    }
}

#[tokio::test]
async fn a_pipe_is_refused_and_not_waited_for() {
    let place = StoreFolder::new();
    let made = std::process::Command::new("mkfifo")
        .arg(place.file())
        .status();
    assert!(made.unwrap().success());
    let to = place.folder.path().join("restored.db");
    SqliteStore::open(place.file()).await.unwrap_err();
    SqliteStore::restore(place.file(), &to).await.unwrap_err();
}

fn wal(file: &Path) -> PathBuf {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// Each file with its bytes and the time of its last change.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.metadata().unwrap().is_file());
    let mut all: Vec<_> = files
        .map(|entry| {
            let changed = entry.metadata().unwrap().modified().unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap(), changed)
        })
        .collect();
    all.sort();
    all
}
