//! Where the guests are that `tests/build-guests` makes.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use airlock_host::compile::CompileCache;
use airlock_host::{Engine, Plugin};
use tokio::sync::{Mutex, OnceCell};

/// The folder that `tests/build-guests` writes to.
pub fn guests_folder() -> PathBuf {
    target_folder().join("guests")
}

fn target_folder() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from)
}

/// The file of a guest that was built from `tests/guests`.
///
/// # Panics
/// Where it has not been built.
pub fn component(name: &str) -> PathBuf {
    let path = guests_folder().join(format!("{name}.wasm"));
    assert!(
        path.exists(),
        "no {}: run tests/build-guests",
        path.display()
    );
    path
}

/// Returns the engine that all tests of a process share.
///
/// Each test may run in a separate process, so compiled guests are kept in a cache.
pub fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        let engine = Engine::builder().cache(compile_cache());
        engine.build().expect("an engine")
    });
    &ENGINE
}

/// Returns the compile cache of all test programs: the one that the program `airlock` has in the
/// home that its tests give it.
fn compile_cache() -> CompileCache {
    let home = target_folder().join("tmp/home");
    let (entries, key) = ("cache/airlock/compiled", "state/airlock/cache.key");
    fs::create_dir_all(home.join("cache/airlock")).expect("a folder for the cache");
    fs::create_dir_all(home.join("state/airlock")).expect("a folder for the key");
    CompileCache::open(home.join(entries), home.join(key)).expect("the cache opens")
}

/// Loads a guest without the cache, which keeps the tools that a guest defined: for tests of what a
/// load does.
pub async fn load_fresh(name: &str) -> Plugin {
    let engine = Engine::new().expect("an engine");
    Plugin::load(&engine, component(name)).await.expect(name)
}

/// A guest as a plugin of [`engine`], loaded once for all tests of a process.
pub async fn plugin(name: &'static str) -> Plugin {
    type Loading = HashMap<&'static str, Arc<OnceCell<Plugin>>>;
    static PLUGINS: LazyLock<Mutex<Loading>> = LazyLock::new(Mutex::default);
    let cell = Arc::clone(PLUGINS.lock().await.entry(name).or_default());
    let load = async || Plugin::load(engine(), component(name)).await.expect(name);
    cell.get_or_init(load).await.clone()
}

/// The guest `puppet` with a custom section of this name.
pub fn puppet_with_section(name: &str, data: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    append_length(&mut content, name.len());
    content.extend_from_slice(name.as_bytes());
    content.extend_from_slice(data);
    let mut bytes = fs::read(component("puppet")).expect("the guest can be read");
    bytes.push(0);
    append_length(&mut bytes, content.len());
    bytes.extend_from_slice(&content);
    bytes
}

/// Appends a number in LEB128, as WebAssembly writes lengths.
fn append_length(bytes: &mut Vec<u8>, mut length: usize) {
    loop {
        let low = (length & 0x7f) as u8;
        length >>= 7;
        if length == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}
