//! What guests may take of the host's files: descriptors, scratch space, and nobody's time.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use airlock_host::compile::CompileCache;
use airlock_host::event::Event;
use airlock_host::limits::LimitKind;
use airlock_host::{Engine, Error, Limits, Plugin};
use airlock_tests::{Puppet, component};
use serde_json::{Value, json};

fn greedy(op: &str, fields: Value) -> Value {
    let mut step = json!({"do": "greedy", "op": op});
    for (key, value) in fields.as_object().unwrap() {
        step[key] = value.clone();
    }
    json!([step])
}

/// The number behind `kept`.
#[track_caller]
fn kept(said: &str) -> usize {
    let number = said
        .strip_prefix("kept ")
        .unwrap_or_else(|| panic!("{said}"));
    number.split(';').next().unwrap().parse().unwrap()
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn directories_that_are_asked_for_again_count_as_open() {
    let limits = Limits::default().with_open_files(100);
    let puppet = Puppet::limited(limits).await;
    // Three each time.
    let few = greedy("directories", json!({"count": 20}));
    assert_eq!(puppet.text(few).await, "kept 20");
    let many = greedy("directories", json!({"count": 400}));
    let error = puppet.call(many).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Limit {
                kind: LimitKind::Handles,
                ..
            }
        ),
        "{error}"
    );
    let said = "had more than 100 files and directories open";
    assert!(error.to_string().contains(said), "{error}");
    assert_eq!(
        puppet
            .text(json!([{"do": "fs", "op": "ls", "path": "/workspace"}]))
            .await,
        "ok []"
    );
}

/// It has its file open, whether the guest still has the file or not.
#[tokio::test]
async fn a_stream_and_a_listing_count_as_open() {
    let limits = Limits::default().with_open_files(50);
    for (op, path, at_most) in [
        ("streams", "/workspace/f", 50),
        ("listings", "/workspace", 25),
    ] {
        let puppet = Puppet::limited(limits.clone()).await;
        fs::write(puppet.workspace().join("f"), "x").unwrap();
        let said = puppet
            .text(greedy(op, json!({"path": path, "count": 400})))
            .await;
        assert!(said.ends_with("error: quota"), "{said}");
        assert!(
            (at_most / 2..=at_most).contains(&kept(&said)),
            "{op}: {said}"
        );
    }
}

/// In a process of its own, which may have few descriptors. What it prints is checked here.
#[test]
fn however_many_files_a_session_opens_others_open_theirs_and_so_does_the_host() {
    let ran = Command::new(env!("CARGO_BIN_EXE_few_descriptors"))
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let report: Value = serde_json::from_str(&said).unwrap();
    // Of 400 half are for guests, and of these one session gets half, less what its directories
    // are.
    for op in ["streams", "listings", "files"] {
        let greedy = report["greedy"][op].as_u64().unwrap();
        assert!((40..=100).contains(&greedy), "{op}: {report:#}");
    }
    assert_eq!(report["directories"], "kept 80", "{report:#}");
    // Two, and the lock on the engine's folder for scratch directories.
    assert!(
        report["descriptorsOfDirectories"].as_u64().unwrap() <= 3,
        "{report:#}"
    );
    for other in report["others"].as_array().unwrap() {
        assert_eq!(other, "opened 10 of 10", "{report:#}");
    }
    assert!(report["host"].as_u64().unwrap() >= 100, "{report:#}");
    // Listings of 20,000 names of 200 bytes, 20 at a time: 80 MB of names alone.
    assert!(report["listingsMiB"].as_u64().unwrap() < 40, "{report:#}");
    // More instances than their directories leave descriptors for: idle ones make room.
    assert_eq!(report["sessionsServed"], 300, "{report:#}");
}

/// A guest opens a path that a neighbour has be a file and a pipe in turns. Should it wait for the
/// pipe's other end, nothing would end it.
#[test]
fn a_file_that_becomes_a_pipe_while_it_is_opened_blocks_nobody() {
    let (done, end) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let puppet = Puppet::new().await;
            let folder = puppet.workspace().to_owned();
            let (file, pipe) = (folder.join("file"), folder.join("pipe"));
            fs::write(&file, "text").unwrap();
            make_pipe(&pipe);
            fs::hard_link(&file, folder.join("path")).unwrap();
            let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
            let stopped = Arc::clone(&stop);
            let swapping = std::thread::spawn(move || {
                let mut turn = 0_u64;
                while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                    turn += 1;
                    let from = if turn.is_multiple_of(2) { &file } else { &pipe };
                    let next = folder.join("next");
                    fs::hard_link(from, &next).unwrap();
                    fs::rename(&next, folder.join("path")).unwrap();
                    let _ = fs::remove_file(&next);
                }
            });
            for op in ["read", "append"] {
                for _ in 0..10 {
                    let step = json!({"do": "fs", "op": op, "path": "path", "text": ""});
                    let step = match op {
                        "read" => json!({"do": "fs", "op": op, "path": "path"}),
                        _ => step,
                    };
                    let steps = vec![step; 300];
                    let said = match op {
                        "read" => puppet.text(json!(steps)).await,
                        // What changes meanwhile is not overwritten.
                        _ => match puppet.apply(json!(steps)).await {
                            Ok(applied) => applied.text(),
                            Err(error) => {
                                assert_eq!(error.root().kind(), "not-committed", "{error}");
                                continue;
                            }
                        },
                    };
                    for said in said.lines() {
                        let is_told = ["ok text", "ok"].contains(&said);
                        // What has changed since it was looked at is not written to.
                        let is_stale = op == "append" && said.starts_with("error: I/O error");
                        assert!(
                            is_told || is_stale || said.starts_with("error: Not supported"),
                            "{op}: {said}"
                        );
                    }
                }
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            swapping.join().unwrap();
        });
        done.send(()).unwrap();
    });
    end.recv_timeout(Duration::from_secs(120)).expect("it ends");
}

#[tokio::test]
async fn names_that_are_not_utf8_are_left_out_of_a_listing_and_told() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let puppet = Puppet::with(|session| {
        session.observer(move |_, event| {
            if airlock_tests::is_of_guest(event) {
                seen.lock().unwrap().push(event.clone());
            }
        })
    })
    .await;
    for name in [&b"a"[..], b"b\xff", b"c", b"d\xfe", b"e"] {
        let name = std::ffi::OsStr::from_bytes(name);
        fs::write(puppet.workspace().join(name), "x").unwrap();
    }
    let list = json!({"do": "fs", "op": "ls", "path": "/workspace"});
    assert_eq!(puppet.text(json!([list])).await, r#"ok ["a","c","e"]"#);
    let told = Event::NamesLeftOut {
        names: 2,
        listings: 1,
    };
    assert_eq!(*events.lock().unwrap(), [told]);
    events.lock().unwrap().clear();
    // Once for a call.
    puppet.text(json!([list, list, list])).await;
    let told = Event::NamesLeftOut {
        names: 6,
        listings: 3,
    };
    assert_eq!(*events.lock().unwrap(), [told]);
}

/// A session whose scratch directory takes so many bytes.
async fn scratch(bytes: u64) -> Puppet {
    let limits = Limits::default().with_scratch_bytes(bytes);
    Puppet::limited(limits).await
}

fn write(name: &str, bytes: usize) -> Value {
    json!({"do": "fs", "op": "write", "path": format!("/scratch/{name}"), "text": "x".repeat(bytes)})
}

fn on(op: &str, name: &str) -> Value {
    json!({"do": "fs", "op": op, "path": format!("/scratch/{name}")})
}

#[tokio::test]
async fn a_scratch_directory_is_as_full_after_a_crash_as_before() {
    let puppet = scratch(1_000_000).await;
    assert_eq!(puppet.text(json!([write("a", 900_000)])).await, "ok");
    for _ in 0..3 {
        puppet.call(json!([{"do": "trap"}])).await.unwrap_err();
        let said = puppet.text(json!([write("b", 900_000)])).await;
        assert!(said.starts_with("error:"), "{said}");
        assert_eq!(puppet.text(json!([on("unlink", "b")])).await, "ok");
    }
    let said = puppet
        .text(json!([on("unlink", "a"), write("b", 900_000)]))
        .await;
    assert_eq!(said, "ok\nok");
}

#[tokio::test]
async fn what_is_removed_cut_off_or_replaced_in_the_scratch_directory_makes_room() {
    let puppet = scratch(1_000_000).await;
    for _ in 0..20 {
        let steps = json!([
            write("a", 400_000),
            write("a", 400_000),
            write("b", 400_000),
            json!({"do": "fs", "op": "rename", "path": "/scratch/b", "to": "/scratch/a"}),
            json!({"do": "fs", "op": "truncate", "path": "/scratch/a", "len": 10}),
            json!({"do": "fs", "op": "mkdir", "path": "/scratch/d"}),
            json!({"do": "fs", "op": "symlink", "path": "/scratch/l", "target": "a"}),
            write("c", 900_000),
            on("unlink", "c"),
            on("unlink", "a"),
            on("unlink", "l"),
            on("rmdir", "d"),
        ]);
        let said = puppet.text(steps).await;
        assert!(said.lines().all(|line| line == "ok"), "{said}");
    }
    assert_eq!(puppet.text(json!([write("all", 990_000)])).await, "ok");
}

#[tokio::test]
async fn holes_entries_and_removed_files_that_are_open_fill_the_scratch_directory() {
    let puppet = scratch(10_000_000).await;
    let hole = json!([
        write("hole", 1),
        {"do": "fs", "op": "truncate", "path": "/scratch/hole", "len": 8_u64 << 40},
        {"do": "fs", "op": "patch", "path": "/scratch/hole", "offset": 8_u64 << 40, "text": "x"},
        {"do": "fs", "op": "truncate", "path": "/scratch/hole", "len": 9_000_000},
        write("other", 2_000_000),
        on("unlink", "other"),
        on("unlink", "hole"),
    ]);
    let said = puppet.text(hole).await;
    let said: Vec<&str> = said
        .lines()
        .map(|line| line.split(':').next().unwrap())
        .collect();
    assert_eq!(said, ["ok", "error", "error", "ok", "error", "ok", "ok"]);

    let removed = greedy("removed", json!({"bytes": 1_000_000, "count": 50}));
    let said = puppet.text(removed).await;
    assert_eq!(said, "kept 9; error: quota");
    let said = puppet.text(json!([write("more", 1_000_000)])).await;
    assert!(said.starts_with("error:"), "{said}");
    // They go with the instance.
    puppet.call(json!([{"do": "trap"}])).await.unwrap_err();
    let said = puppet
        .text(json!([on("unlink", "more"), write("more", 9_000_000)]))
        .await;
    assert_eq!(said, "ok\nok");

    let many: Vec<Value> = (0..400)
        .map(|n| json!({"do": "fs", "op": "mkdir", "path": format!("/scratch/{n}")}))
        .collect();
    let said = puppet.text(json!(many)).await;
    let made = said.lines().filter(|line| *line == "ok").count();
    assert!((200..=245).contains(&made), "{made}");
}

/// Nothing ends a write but its own end, so it must not be long.
#[tokio::test]
async fn more_than_is_permitted_is_not_written_to_a_standard_stream_at_once() {
    let limits = Limits::default()
        .with_memory(1 << 30)
        .with_hostcall_bytes(1 << 30);
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let puppet = Puppet::with(|session| {
        session.limits(limits).observer(move |_, event| {
            if airlock_tests::is_of_guest(event) {
                seen.lock().unwrap().push(event.clone());
            }
        })
    })
    .await;
    let at_once = greedy("lines", json!({"count": 16 << 20, "at_once": true}));
    let error = puppet.call(at_once).await.unwrap_err();
    assert!(
        error.to_string().contains("than `check-write` permitted"),
        "{error}"
    );
    events.lock().unwrap().clear();
    let in_pieces = greedy("lines", json!({"count": 1 << 20, "at_once": false}));
    assert_eq!(puppet.text(in_pieces).await, "kept 1048576");
    let mut events = events.lock().unwrap();
    let dropped = Event::LogsDropped {
        lines: (1 << 20) - 1000,
    };
    assert_eq!(events.pop(), Some(dropped));
    assert_eq!(events.len(), 1000);
}

#[tokio::test]
async fn a_guest_that_floods_its_log_is_stopped_in_time() {
    let limits = Limits::default()
        .with_call_time(Duration::from_secs(1))
        .with_memory(2 << 30);
    let puppet = Puppet::limited(limits).await;
    let began = std::time::Instant::now();
    let flood = greedy("lines", json!({"count": 500 << 20, "at_once": false}));
    let error = puppet.call(flood).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::Limit {
                kind: LimitKind::CallTime,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn pipes_in_place_of_a_plugin_a_cache_entry_or_the_caches_key_block_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plugin = folder.join("plugin.wasm");
    make_pipe(&plugin);
    let error = Plugin::load(&Engine::new().unwrap(), &plugin)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");

    let (cache, key) = (folder.join("cache"), folder.join("key"));
    make_pipe(&key);
    let error = CompileCache::open(&cache, &key).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    fs::remove_file(&key).unwrap();

    let load = async || {
        let cache = CompileCache::open(&cache, &key).unwrap();
        let engine = Engine::builder().cache(cache).build().unwrap();
        Plugin::load(&engine, component("puppet")).await.unwrap()
    };
    load().await;
    let entry = || {
        fs::read_dir(&cache)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
    };
    fs::remove_file(entry()).unwrap();
    let name = entry_name(&cache, load).await;
    fs::remove_file(&name).unwrap();
    make_pipe(&name);
    // It is compiled anew, and takes the pipe's place.
    load().await;
    assert!(name.metadata().unwrap().is_file());
}

async fn entry_name<T>(cache: &Path, load: impl AsyncFn() -> T) -> std::path::PathBuf {
    load().await;
    fs::read_dir(cache).unwrap().next().unwrap().unwrap().path()
}

#[cfg(unix)]
#[test]
fn a_new_cache_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (cache, key) = (
        folder.path().join("a/cache"),
        folder.path().join("b/state/key"),
    );
    CompileCache::open(&cache, &key).unwrap();
    for (path, mode) in [
        ("a", 0o700),
        ("a/cache", 0o700),
        ("b/state", 0o700),
        ("b/state/key", 0o600),
    ] {
        let found = folder
            .path()
            .join(path)
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(found & 0o777, mode, "{path}");
    }
}
