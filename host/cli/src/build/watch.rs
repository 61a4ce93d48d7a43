//! `airlock build --watch`.

use std::path::Path;
use std::time::Duration;

use airlock_render::{Line, Role};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::bench::Bench;
use super::build_once;
use super::sources::holds_sources;
use crate::args::BuildArgs;
use crate::failure::{Exit, Failure};
use crate::output::{Output, on_stderr};

/// Editors write several files, or one in several steps: a build begins when nothing more has come for that long.
const SETTLED: Duration = Duration::from_millis(200);

/// What builders write beside the sources.
const LOCKS: [&str; 4] = ["Cargo.lock", "go.sum", "package-lock.json", "uv.lock"];

pub async fn build_again_and_again(
    folder: &Path,
    args: &BuildArgs,
    bench: &Bench<'_>,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let root = folder.canonicalize().map_err(|error| {
        Failure::usage(format!(
            "can't open the folder {}: {error}",
            folder.display()
        ))
    })?;
    let (send, mut events) = unbounded_channel();
    let mut watcher = recommended_watcher(move |event| {
        // Nobody listens any more where the program ends.
        let _ = send.send(event);
    })
    .map_err(cannot_watch)?;
    loop {
        watch(&mut watcher, &root)?;
        match build_once(folder, args, bench).await {
            Ok(built) => built.report(out),
            // A project that doesn't build is what this is for; one that was interrupted is not.
            Err(failure) => {
                if failure.report(out) == Exit::Interrupted {
                    return Ok(Exit::Done);
                }
            }
        }
        on_stderr(Line::new().with_role(Role::Faint, "waiting for a change; Ctrl-C ends"));
        tokio::select! {
            () = bench.interrupted() => return Ok(Exit::Done),
            changed = change(&mut events, &root) => changed?,
        }
    }
}

/// Watches the folder and those in it that may hold sources, new ones too.
fn watch(watcher: &mut RecommendedWatcher, root: &Path) -> Result<(), Failure> {
    watcher
        .watch(root, RecursiveMode::NonRecursive)
        .map_err(cannot_watch)?;
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    for entry in entries {
        if entry.path().is_dir() && holds_sources(Path::new(&entry.file_name())) {
            watcher
                .watch(&entry.path(), RecursiveMode::Recursive)
                .map_err(cannot_watch)?;
        }
    }
    Ok(())
}

/// Waits for a change of the sources, and until they have settled.
async fn change(
    events: &mut UnboundedReceiver<notify::Result<Event>>,
    root: &Path,
) -> Result<(), Failure> {
    loop {
        match events.recv().await {
            Some(Ok(event)) if matters(&event, root) => break,
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(cannot_watch(error)),
            None => return Err(Failure::host("the watch on the project's files ended")),
        }
    }
    while tokio::time::timeout(SETTLED, events.recv())
        .await
        .is_ok_and(|event| event.is_some())
    {}
    Ok(())
}

fn matters(event: &Event, root: &Path) -> bool {
    let is_source = |path: &Path| {
        let below = path.strip_prefix(root).unwrap_or(path);
        let is_lock = below
            .file_name()
            .is_some_and(|name| LOCKS.iter().any(|lock| name == *lock));
        !is_lock && holds_sources(below)
    };
    !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(|path| is_source(path))
}

fn cannot_watch(error: notify::Error) -> Failure {
    Failure::host(format!("can't watch the project's files: {error}"))
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind, ModifyKind};

    use super::*;

    #[test]
    fn a_build_begins_where_sources_change() {
        let check = |kind: EventKind, path: &str, expected: bool| {
            let event = Event::new(kind).add_path(Path::new("/project").join(path));
            assert_eq!(matters(&event, Path::new("/project")), expected, "{path}");
        };
        let modified = EventKind::Modify(ModifyKind::Any);
        check(modified, "src/tool.c", true);
        check(modified, "airlock.toml", true);
        check(EventKind::Create(CreateKind::Any), "src/new/part.go", true);
        check(EventKind::Access(AccessKind::Any), "src/tool.c", false);
        check(modified, "build/generated/core.wasm", false);
        check(modified, "target/release/x", false);
        check(modified, "src/.tool.c.swp", false);
        check(modified, "Cargo.lock", false);
    }
}
