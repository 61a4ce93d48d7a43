//! The compile cache: faster where it can be, and never trusted.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use airlock_host::compile::CompileCache;
use airlock_host::{Engine, Plugin};
use airlock_tests::component;
use tempfile::TempDir;

fn engine(folder: &Path) -> Engine {
    let cache = CompileCache::open(folder.join("compiled"), folder.join("key")).unwrap();
    Engine::builder().cache(cache).build().unwrap()
}

async fn load(folder: &Path) -> Plugin {
    Plugin::load(&engine(folder), component("misfits"))
        .await
        .unwrap()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("compiled")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The one entry that one plugin makes.
fn entry(folder: &Path) -> PathBuf {
    let entries = entries(folder);
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.into_iter().next().unwrap()
}

#[tokio::test]
async fn a_second_load_gives_the_same_plugin_without_writing_an_entry() {
    let folder = TempDir::new().unwrap();
    let first = load(folder.path()).await;
    let entry = entry(folder.path());
    let written = fs::metadata(&entry).unwrap().modified().unwrap();
    let second = load(folder.path()).await;
    assert_eq!(fs::metadata(&entry).unwrap().modified().unwrap(), written);
    assert_eq!(first.digest(), second.digest());
    assert_eq!(first.rejected(), second.rejected());
    assert_eq!(
        first.tools().collect::<Vec<_>>(),
        second.tools().collect::<Vec<_>>()
    );
    assert_eq!(first.imports(), second.imports());
}

#[tokio::test]
async fn what_an_engine_has_loaded_is_not_loaded_again_and_is_forgotten_where_nobody_has_it() {
    let folder = TempDir::new().unwrap();
    let engine = engine(folder.path());
    let original = fs::read(component("misfits")).unwrap();
    // The same component with something more in a custom section: another plugin.
    let version = |number: u8| {
        let mut bytes = original.clone();
        bytes.extend_from_slice(&[0, 3, 1, b'v', number]);
        bytes
    };
    // Where it is compiled or read, it has an entry again.
    let makes_an_entry = async |number: u8| {
        fs::remove_dir_all(folder.path().join("compiled")).unwrap();
        fs::create_dir(folder.path().join("compiled")).unwrap();
        let name = format!("version {number}");
        let loaded = Plugin::from_bytes(&engine, name.clone(), version(number)).await;
        let loaded = loaded.unwrap();
        assert_eq!(loaded.name(), name);
        assert_eq!(loaded.tools().len(), 1);
        (loaded, !entries(folder.path()).is_empty())
    };
    assert!(makes_an_entry(0).await.1);
    let (held, again) = makes_an_entry(0).await;
    assert!(!again, "it was dropped just now");
    let named = Plugin::from_bytes(&engine, "another name", version(0)).await;
    let named = named.unwrap();
    assert_eq!(
        (named.name(), named.digest()),
        ("another name", held.digest())
    );
    let one = held.source().bytes.as_ptr();
    assert_eq!(
        named.source().bytes.as_ptr(),
        one,
        "its bytes are there once"
    );
    for number in 1..=4 {
        assert!(makes_an_entry(number).await.1);
    }
    assert!(!makes_an_entry(0).await.1, "somebody has it");
    drop((held, named));
    for number in 5..=8 {
        assert!(makes_an_entry(number).await.1);
    }
    assert!(makes_an_entry(0).await.1, "nobody has it any more");
}

#[tokio::test]
async fn a_damaged_entry_is_rebuilt_silently_wherever_the_damage_is() {
    let folder = TempDir::new().unwrap();
    load(folder.path()).await;
    let entry = entry(folder.path());
    let good = fs::read(&entry).unwrap();
    let flip = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let longer = [good.clone(), vec![0]].concat();
    // The code, the definitions behind it, their length and the digest, which it is for, the hash.
    for damaged in [
        flip(0),
        flip(good.len() / 2),
        flip(good.len() - 200),
        flip(good.len() - 100),
        flip(good.len() - 80),
        flip(good.len() - 50),
        flip(good.len() - 1),
        good[..good.len() / 2].to_vec(),
        good[..10].to_vec(),
        Vec::new(),
        longer,
    ] {
        fs::write(&entry, &damaged).unwrap();
        assert_eq!(load(folder.path()).await.tools().len(), 1);
        assert_ne!(fs::read(&entry).unwrap(), damaged);
    }
    // Larger than any memory, and nothing in it: it is not read to its end.
    let hollow = File::create(&entry).unwrap();
    hollow.set_len(1 << 43).unwrap();
    assert_eq!(load(folder.path()).await.tools().len(), 1);
    assert!(fs::metadata(&entry).unwrap().len() < 1 << 30);
}

/// All that can be run of a process's memory, as the kernel shows it: permissions, and of which
/// file.
#[cfg(target_os = "linux")]
fn code_in_memory() -> Vec<(String, String)> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = maps.lines().map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (permissions, file) = (words.nth(1).unwrap(), words.nth(3).unwrap_or_default());
        (permissions.to_owned(), file.to_owned())
    });
    mapped
        .filter(|(permissions, _)| permissions.contains('x'))
        .collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn code_runs_from_sealed_memory_that_is_mapped_whether_it_was_compiled_or_cached() {
    const ALONE: &str = "AIRLOCK_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        // Other tests of this process load too.
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        let name = "code_runs_from_sealed_memory_that_is_mapped_whether_it_was_compiled_or_cached";
        alone.arg(name).env(ALONE, "1");
        let ran = alone.output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let folder = TempDir::new().unwrap();
    let ours = || {
        let all = code_in_memory();
        for (permissions, file) in &all {
            assert!(!permissions.contains('w'), "{permissions} {file}");
        }
        let ours = all.iter().filter(|(_, file)| file == "/memfd:airlock-code");
        ours.count()
    };
    assert_eq!(ours(), 0);
    for how in ["compiled", "cached"] {
        let loaded = load(folder.path()).await;
        assert!(ours() > 0, "{how}");
        let session = airlock_host::Session::builder()
            .model_decides()
            .bind(&loaded)
            .open();
        session.unwrap().start_instances().await.unwrap();
        drop(loaded);
        assert_eq!(ours(), 0, "{how}");
    }
}

#[tokio::test]
async fn an_entry_from_elsewhere_is_never_used() {
    let (ours, theirs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    load(ours.path()).await;
    load(theirs.path()).await;
    // The same plugin and engine under another key: all that differs is who made it.
    let foreign = fs::read(entry(theirs.path())).unwrap();
    fs::write(entry(ours.path()), &foreign).unwrap();
    load(ours.path()).await;
    assert_ne!(fs::read(entry(ours.path())).unwrap(), foreign);
}

#[tokio::test]
async fn an_entry_cannot_be_passed_off_as_another_plugins() {
    let folder = TempDir::new().unwrap();
    load(folder.path()).await;
    let misfits = entry(folder.path());
    // An engine remembers what it has loaded: each is another one.
    let load_puppet = async || {
        let loaded = Plugin::load(&engine(folder.path()), component("puppet")).await;
        loaded.unwrap()
    };
    load_puppet().await;
    let puppet = entries(folder.path())
        .into_iter()
        .find(|path| *path != misfits)
        .unwrap();
    fs::copy(&misfits, &puppet).unwrap();
    let loaded = load_puppet().await;
    assert_eq!(loaded.tools().next().unwrap().name, "puppet");
}

#[tokio::test]
async fn a_cache_that_is_full_keeps_what_was_loaded_last() {
    let folder = TempDir::new().unwrap();
    load(folder.path()).await;
    let first = entry(folder.path());
    let long_ago = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
    let set_modified = |path: &Path| File::open(path).unwrap().set_modified(long_ago).unwrap();
    set_modified(&first);
    // Loaded again, so that it is not what was loaded longest ago.
    let engine = engine(folder.path());
    Plugin::load(&engine, component("puppet")).await.unwrap();
    let second = entries(folder.path()).into_iter().find(|it| *it != first);
    let second = second.unwrap();
    set_modified(&second);
    load(folder.path()).await;

    let bytes = |path: &Path| fs::metadata(path).unwrap().len();
    let cache = CompileCache::open(folder.path().join("compiled"), folder.path().join("key"));
    let cache = cache.unwrap().max_bytes(bytes(&first) + bytes(&second));
    let small = Engine::builder().cache(cache).build().unwrap();
    Plugin::load(&small, component("bench")).await.unwrap();
    assert!(first.exists() && !second.exists());
    assert_eq!(entries(folder.path()).len(), 2);
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_is_no_error() {
    let folder = TempDir::new().unwrap();
    let engine = engine(folder.path());
    fs::remove_dir(folder.path().join("compiled")).unwrap();
    fs::write(folder.path().join("compiled"), "in the way").unwrap();
    Plugin::load(&engine, component("misfits")).await.unwrap();
}

#[test]
fn the_key_is_made_once_for_this_user_alone_and_replaced_where_it_is_none() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let (cache, key) = (folder.path().join("cache"), folder.path().join("state/key"));
    CompileCache::open(&cache, &key).unwrap();
    let made = fs::read(&key).unwrap();
    assert_eq!(made.len(), 32);
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o077, 0);
    CompileCache::open(&cache, &key).unwrap();
    assert_eq!(fs::read(&key).unwrap(), made);
    fs::write(&key, "short").unwrap();
    CompileCache::open(&cache, &key).unwrap();
    assert_eq!(fs::read(&key).unwrap().len(), 32);
}
