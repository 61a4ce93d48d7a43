//! The process that compiles: it may be killed, given up, hang, or be something else.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use airlock_host::compile::{CompileCache, CompileLimits};
use airlock_host::load::LoadError;
use airlock_host::{Engine, EngineBuilder, Plugin, Session};
use airlock_tests::{bombs, component};
use serde_json::json;
use tempfile::TempDir;

use super::{compiler, script};

/// What waits for a process to be there, or gone.
const DEADLINE: Duration = Duration::from_secs(30);

fn engine(program: &Path) -> Engine {
    builder(program).build().unwrap()
}

fn builder(program: &Path) -> EngineBuilder {
    Engine::builder().compiler(program)
}

async fn load(engine: &Engine) -> Result<Plugin, LoadError> {
    Plugin::load(engine, component("puppet")).await
}

#[tokio::test]
async fn what_a_process_compiled_runs_and_is_cached_as_ever() {
    let folder = TempDir::new().unwrap();
    let cached = |program: &Path| {
        let cache = CompileCache::open(folder.path().join("compiled"), folder.path().join("key"));
        let engine = builder(program).cache(cache.unwrap());
        engine.build().unwrap()
    };
    let plugin = load(&cached(&compiler())).await.unwrap();
    let call = async |plugin: &Plugin| {
        let session = Session::builder()
            .model_decides()
            .bind(plugin)
            .open()
            .unwrap();
        let steps = json!({"steps": [{"do": "text", "text": "compiled"}]});
        session.call("puppet", &steps).await.unwrap().text()
    };
    assert_eq!(call(&plugin).await, "compiled");
    // From the cache, without a process.
    let plugin = load(&cached(Path::new("/nowhere/to/be/found")))
        .await
        .unwrap();
    assert_eq!(call(&plugin).await, "compiled");
}

#[tokio::test]
async fn a_compiler_that_is_not_there_or_something_else_is_told_as_such() {
    let folder = TempDir::new().unwrap();
    let check = async |program: &Path, kind: &str, parts: &[&str]| {
        let error = load(&engine(program)).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        let text = error.to_string();
        assert!(text.starts_with("puppet could not be compiled: "), "{text}");
        for part in parts {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains('\n'), "{text}");
        // The next try is a try.
        assert_eq!(load(&engine(program)).await.unwrap_err().kind(), kind);
    };
    check(
        Path::new("/nowhere/to/be/found"),
        "no-compiler",
        &["can't start /nowhere/to/be/found: No such file"],
    )
    .await;
    check(folder.path(), "no-compiler", &["Permission denied"]).await;
    let failed = "compiler-failed";
    let says = async |body: &str, parts: &[&str]| {
        check(&script(folder.path(), body), failed, parts).await;
    };
    says("exit 0", &["it said nothing"]).await;
    says("exit 7", &["it said nothing", "it exited with code 7"]).await;
    says(
        "echo 'no space' >&2; exit 1",
        &["it exited with code 1", "it said: no space"],
    )
    .await;
    // Its answers go where its questions come from.
    says(
        "echo garbage and some more of it >&0",
        &["is not an answer"],
    )
    .await;
    says(
        "printf 'airlock-gives-2\\n\\144\\000\\000\\000\\000\\000\\000\\000half' >&0",
        &["in the middle of its answer"],
    )
    .await;
    says(
        // An announcement of very much.
        "printf 'airlock-gives-2\\n\\000\\377\\377\\377\\377\\377\\377\\377\\000' >&0",
        &["more than compiled code may be"],
    )
    .await;
    says(
        "kill -SEGV $$",
        &["it said nothing", "it was killed by signal 11"],
    )
    .await;
}

#[tokio::test]
async fn a_program_that_is_no_compiler_and_hangs_is_ended_in_time() {
    let folder = TempDir::new().unwrap();
    for body in [
        "exec /bin/sleep 1000",
        // It closes its output, and stays.
        "exec >&-; /bin/sleep 1000",
        // It is not the one that hangs.
        "/bin/sleep 1000",
        "exec /bin/cat > /dev/null",
    ] {
        let limits = CompileLimits::default().with_time(Duration::from_secs(1));
        let engine = builder(&script(folder.path(), body)).compile_limits(limits);
        let started = Instant::now();
        let error = load(&engine.build().unwrap()).await.unwrap_err();
        assert!(started.elapsed() < DEADLINE, "{body}");
        assert!(
            ["compile-time", "compiler-failed"].contains(&error.kind()),
            "{body}: {error}"
        );
        gone(folder.path()).await;
    }
}

#[tokio::test]
async fn a_process_that_is_killed_fails_its_load_and_no_other() {
    let folder = TempDir::new().unwrap();
    let engine = engine(&marked(folder.path()));
    let loading = tokio::spawn({
        let engine = engine.clone();
        let bomb = bombs::fitting(&bombs::straight(990_000));
        async move { Plugin::from_bytes(&engine, "bomb", bomb).await }
    });
    let process = running(folder.path()).await;
    let pid = rustix::process::Pid::from_raw(process).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let error = loading.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), "compiler-failed", "{error}");
    load(&engine).await.unwrap();
    gone(folder.path()).await;
}

#[tokio::test]
async fn giving_a_load_up_ends_its_process_and_leaves_none_behind() {
    let folder = TempDir::new().unwrap();
    let engine = engine(&marked(folder.path()));
    let bomb = bombs::fitting(&bombs::straight(990_000));
    let loading = tokio::spawn(async move { Plugin::from_bytes(&engine, "bomb", bomb).await });
    running(folder.path()).await;
    loading.abort();
    assert!(loading.await.is_err());
    gone(folder.path()).await;
}

#[tokio::test]
async fn what_needs_more_memory_than_it_may_says_so() {
    let limits = CompileLimits::default().with_memory(64 << 20);
    let engine = builder(&compiler()).compile_limits(limits).build().unwrap();
    let bomb = bombs::fitting(&bombs::straight(990_000));
    let error = Plugin::from_bytes(&engine, "bomb", bomb).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "bomb can't be compiled within the limit of 67108864 bytes of memory"
    );
}

#[tokio::test]
async fn the_process_has_no_environment_and_no_descriptor_but_its_pipes() {
    let folder = TempDir::new().unwrap();
    // This one would be inherited.
    let null = std::fs::File::open("/dev/null").unwrap();
    let open = rustix::io::dup(&null).unwrap();
    let engine = engine(&marked(folder.path()));
    let bomb = bombs::fitting(&bombs::straight(990_000));
    let loading = tokio::spawn(async move { Plugin::from_bytes(&engine, "bomb", bomb).await });
    let process = running(folder.path()).await;
    let started = Instant::now();
    let of = |what: &str| format!("/proc/{process}/{what}");
    // It has to begin first.
    loop {
        let limits = std::fs::read_to_string(of("limits")).unwrap();
        let core = limits
            .lines()
            .find(|line| line.starts_with("Max data size"));
        if core.is_some_and(|line| line.contains("2147483648")) {
            break;
        }
        assert!(started.elapsed() < DEADLINE, "{limits}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let names = std::fs::read_dir(of("fd")).unwrap();
    let mut names: Vec<_> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["0", "1", "2"]);
    let environment = std::fs::read_to_string(of("environ")).unwrap();
    let variables: Vec<&str> = environment.split_terminator('\0').collect();
    assert_eq!(variables.len(), 1, "{variables:?}");
    assert!(variables[0].starts_with("RAYON_NUM_THREADS="));
    drop(open);
    loading.abort();
    gone(folder.path()).await;
}

/// A compiler whose processes are known by their folder.
fn marked(folder: &Path) -> PathBuf {
    let program = folder.join("compiler");
    std::fs::copy(compiler(), &program).unwrap();
    program
}

/// The identifier of the process that runs a program of this folder, or was started by one.
fn find(folder: &Path) -> Option<i32> {
    let me = std::process::id().to_string();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let entry = entry.unwrap().path();
        let Some(pid) = entry
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok())
        else {
            continue;
        };
        let command = std::fs::read(entry.join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&command).contains(folder.to_str().unwrap()) {
            return Some(pid);
        }
        // Of one that is dead and not waited for, only the parent is known.
        let stat = std::fs::read_to_string(entry.join("stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        let mut fields = after.split_whitespace();
        if (fields.next(), fields.next()) == (Some("Z"), Some(&*me)) && stat.contains("(compiler)")
        {
            return Some(pid);
        }
    }
    None
}

async fn running(folder: &Path) -> i32 {
    let started = Instant::now();
    loop {
        if let Some(process) = find(folder) {
            return process;
        }
        assert!(started.elapsed() < DEADLINE, "it was not started");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn gone(folder: &Path) {
    let started = Instant::now();
    while let Some(process) = find(folder) {
        assert!(started.elapsed() < DEADLINE, "{process} is left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
