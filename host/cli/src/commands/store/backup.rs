//! `airlock store backup` and `restore`, for stores in a file. Database servers have their own
//! tools for that.

use std::path::{Path, PathBuf};

use airlock_desk::store::{Location, StoreChoice, StoreOptions, WhenMissing, file};
use airlock_render::{Line, Role, shell};

use crate::documents::store::{StoreBackup, StoreRestore};
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;
use crate::terminal::size;

pub async fn backup(to: &Path, store: &StoreOptions, out: &mut Output) -> Result<Exit, Failure> {
    let choice = StoreChoice::of(store)?;
    let path = match &choice.location {
        Location::File(path) => path,
        server @ Location::Postgres(_) => {
            let (file, address) = (to.to_string_lossy(), server.without_password());
            let words = ["pg_dump", "--format=custom", "--file", &file, &address];
            return Err(not_ours("backed up", &words));
        }
    };
    if to.symlink_metadata().is_ok() {
        let message = format!(
            "{} already exists, and a backup overwrites nothing",
            to.display()
        );
        return Err(
            Failure::new(Exit::Failed, "file-exists", message).with_hint("name another file")
        );
    }
    file::backup(path, choice.makes(WhenMissing::Refuse), to).await?;
    let bytes = size_of(to);
    let text = format!("Backed up to {}: {}.", to.display(), size::human(bytes));
    out.line(Line::from(text).hanging(2));
    out.json(&StoreBackup {
        backup: &to.to_string_lossy(),
        bytes,
    });
    Ok(Exit::Done)
}

pub async fn restore(from: &Path, store: &StoreOptions, out: &mut Output) -> Result<Exit, Failure> {
    let choice = StoreChoice::of(store)?;
    let path = match &choice.location {
        Location::File(path) => path,
        server @ Location::Postgres(_) => {
            let (file, address) = (from.to_string_lossy(), server.without_password());
            let words = [
                "pg_restore",
                "--clean",
                "--if-exists",
                "--dbname",
                &address,
                &file,
            ];
            return Err(not_ours("restored", &words));
        }
    };
    refuse_store_at(path)?;
    // The usual hint for a damaged store is to restore a backup.
    let restored = file::restore(from, path).await.map_err(Failure::from);
    restored.map_err(|failure| match failure.kind() {
        "store-damaged" => failure.with_hint("restore another backup"),
        _ => failure,
    })?;
    let list = choice.command(&["pending", "--all"]);
    let text = format!("Restored {} from {}.", path.display(), from.display());
    out.line(Line::from(text).hanging(2));
    let interrupted =
        "Pending actions may have been resolved since that backup, so they are interrupted: ";
    out.line(Line::from(interrupted).with_role(Role::Command, format!("`{list}`")));
    out.json(&StoreRestore {
        from: &from.to_string_lossy(),
        restored: &path.to_string_lossy(),
    });
    Ok(Exit::Done)
}

/// Refuses to restore next to files that SQLite left for a removed store. It would take them for
/// the restored one's.
fn refuse_store_at(path: &Path) -> Result<(), Failure> {
    let beside = |end: &str| {
        let mut path = path.as_os_str().to_owned();
        path.push(end);
        PathBuf::from(path)
    };
    let files = ["", "-wal", "-shm"].map(beside);
    let there: Vec<_> = files
        .iter()
        .filter(|file| file.symlink_metadata().is_ok())
        .collect();
    let Some(first) = there.first() else {
        return Ok(());
    };
    let message = format!(
        "{} already exists, and a restore overwrites nothing",
        first.display()
    );
    let names: Vec<_> = there.iter().map(|file| file.to_string_lossy()).collect();
    let names = shell::join(names.iter().map(|name| &**name));
    let hint = format!(
        "when no airlock is running, move it away, for example with `mv {names} SOMEWHERE/`"
    );
    Err(Failure::new(Exit::Failed, "file-exists", message).with_hint(hint))
}

fn size_of(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

fn not_ours(done: &str, words: &[&str]) -> Failure {
    let command = shell::join(words.iter().copied());
    Failure::usage(format!(
        "a store on PostgreSQL is {done} by PostgreSQL's own tools"
    ))
    .with_hint(format!("`{command}`"))
}
