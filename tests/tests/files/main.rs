//! A guest's files under the host, by scripts of calls that follow from a seed: what they come to,
//! and whether all of it is told.

mod components;
mod generated;
mod plain_folder;
#[path = "../../guests/files/src/script.rs"]
mod script;
mod side_effects;

use std::path::Path;

/// A folder in memory where there is one, since scripts are many.
fn in_memory() -> &'static Path {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        Path::new("/tmp")
    }
}
