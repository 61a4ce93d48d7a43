//! Entries of the compile cache.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use airlock_host::compile::CompileCache;
use airlock_host::{Engine, Plugin};
use tempfile::TempDir;

use super::block_on;
use crate::component;

/// A cache with one entry, and an engine with it.
struct Cached {
    _folder: TempDir,
    engine: Engine,
    component: Vec<u8>,
    entry: PathBuf,
    good: Vec<u8>,
}

static CACHED: LazyLock<Cached> = LazyLock::new(|| {
    let folder = TempDir::new().expect("a temporary directory");
    let compiled = folder.path().join("compiled");
    let cache = CompileCache::open(&compiled, folder.path().join("key")).expect("a cache");
    // One that was loaded before is not read again, and here each has to be.
    let engine = Engine::builder().kept_loads(0);
    let engine = engine.live_instances(8).cache(cache).build();
    let engine = engine.expect("an engine");
    let component = fs::read(component("misfits")).expect("the guest");
    block_on(Plugin::from_bytes(&engine, "fuzz", component.clone())).expect("a plugin");
    let mut entries = fs::read_dir(&compiled).expect("the folder");
    let entry = entries.next().expect("an entry").expect("an entry").path();
    let good = fs::read(&entry).expect("the entry");
    Cached {
        _folder: folder,
        engine,
        component,
        entry,
        good,
    }
});

/// An entry that begins like a good one, and goes on with these bytes; where there are none, the
/// good one, cut. The plugin loads in any case.
pub fn cache_entry(bytes: &[u8]) {
    let cached = &*CACHED;
    let mut places = bytes.chunks(4);
    let mut entry = cached.good.clone();
    let number = |bytes: &[u8]| {
        let mut number = [0; 4];
        number[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(number) as usize
    };
    if let Some(cut) = places.next().filter(|cut| cut[0] & 1 == 1) {
        entry.truncate(number(cut) % (entry.len() + 1));
    }
    for place in places {
        let at = number(place) >> 8;
        // Most of what counts is at the end.
        let length = entry
            .len()
            .min(if place[0] & 1 == 1 { 400 } else { usize::MAX });
        if length > 0 {
            let last = entry.len() - 1;
            entry[last - at % length] ^= place[0].max(1);
        }
    }
    fs::write(&cached.entry, &entry).expect("the entry is written");
    let plugin = Plugin::from_bytes(&cached.engine, "fuzz", cached.component.clone());
    let plugin = block_on(plugin).expect("the plugin loads");
    assert_eq!(plugin.tools().len(), 1);
    assert_eq!(fs::read(&cached.entry).expect("the entry"), cached.good);
}

pub fn seeds() -> Vec<Vec<u8>> {
    vec![
        vec![0; 12],
        vec![1, 20, 0, 0],
        vec![0, 0, 0, 0, 1, 70, 0, 0],
        (0..=255).collect(),
    ]
}
