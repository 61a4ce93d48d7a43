//! Compiles the test guests into the cache of the tests, so that tests which run side by side don't
//! all compile the same one.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use airlock_host::Plugin;
use airlock_tests::{engine, guests_folder};
use tokio::task::JoinSet;

#[tokio::main]
async fn main() {
    let mut components = Vec::new();
    find(&guests_folder(), &mut components);
    // The largest first: each takes one core most of the time.
    components.sort_by_key(|path| fs::metadata(path).map_or(0, |file| file.len()));
    let (count, mut compiled) = (components.len(), 0);
    let mut loads = JoinSet::new();
    while !components.is_empty() || !loads.is_empty() {
        while loads.len() < available_parallelism().map_or(1, usize::from)
            && let Some(component) = components.pop()
        {
            loads.spawn(async move { Plugin::load(engine(), component).await.is_ok() });
        }
        // Some are made to be refused.
        let loads_well = loads
            .join_next()
            .await
            .is_some_and(|load| load.expect("no panic"));
        compiled += usize::from(loads_well);
    }
    println!("{compiled} of {count} guests load");
}

fn find(folder: &Path, components: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the guests are built");
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, components);
        } else if path.extension().is_some_and(|end| end == "wasm") {
            components.push(path);
        }
    }
}
