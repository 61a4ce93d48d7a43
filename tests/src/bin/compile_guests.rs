//! Compiles the test guests into the cache of the tests, so that tests which run side by side don't
//! all compile the same one.

use std::fs;
use std::path::{Path, PathBuf};

use airlock_host::Plugin;
use airlock_tests::{engine, guests_folder};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut components = Vec::new();
    find(&guests_folder(), &mut components);
    components.sort();
    let mut compiled = 0;
    for component in &components {
        // Some are made to be refused.
        compiled += usize::from(Plugin::load(engine(), component).await.is_ok());
    }
    println!("{compiled} of {} guests load", components.len());
}

fn find(folder: &Path, components: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder)
        .expect("the guests are built")
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            find(&path, components);
        } else if path.extension().is_some_and(|end| end == "wasm") {
            components.push(path);
        }
    }
}
