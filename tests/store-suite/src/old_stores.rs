//! Stores as earlier versions left them.

use std::path::PathBuf;

/// The file that version 2 of the SQLite store left.
pub fn sqlite_version_2() -> PathBuf {
    stores().join("version-2.db")
}

/// A dump of what version 2 left on PostgreSQL, without the bytes of its plugin.
///
/// # Panics
/// Where it can't be read.
pub fn postgres_version_2() -> String {
    let dump = std::fs::read_to_string(stores().join("version-2.sql"));
    dump.expect("the dump is there").replace("@PLUGIN@", "")
}

fn stores() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("stores")
}
