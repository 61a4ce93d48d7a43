//! A host that may have few files open, and sessions in it that open as many as they can. Prints
//! what each got, as JSON.

use std::fs::{self, File};
use std::path::Path;

use airlock_host::{Engine, Limits, Plugin, Session};
use airlock_tests::component;
use anyhow::{Context, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Half of it is for guests.
const DESCRIPTORS: u64 = 400;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let most = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: Some(DESCRIPTORS),
        maximum: most,
    };
    setrlimit(Resource::Nofile, limit)?;
    let workspace = TempDir::new()?;
    fs::write(workspace.path().join("f"), "x")?;
    let engine = Engine::new()?;
    let puppet = Plugin::load(&engine, component("puppet")).await?;
    let session = |folder: &Path| {
        let limits = Limits::default().with_open_files(10_000);
        let session = Session::builder()
            .model_decides()
            .workspace(folder)
            .limits(limits);
        session.bind(&puppet).open()
    };

    let before = descriptors()?;
    let asking = session(workspace.path())?;
    let directories = text(&asking, greedy("directories", json!({"count": 80}))).await;
    let of_directories = descriptors()? - before;
    drop(asking);

    let mut got = json!({});
    let mut others = Vec::new();
    let mut host = 0;
    for op in ["streams", "listings", "files"] {
        let step = match op {
            "files" => json!([{"do": "open-many-kept", "path": "/workspace/f", "count": 9999}]),
            "listings" => greedy(op, json!({"path": "/workspace", "count": 9999})),
            _ => greedy(op, json!({"path": "/workspace/f", "count": 9999})),
        };
        let hog = session(workspace.path())?;
        let said = text(&hog, step).await;
        let count: u64 = said
            .split([' ', ';'])
            .nth(1)
            .and_then(|count| count.parse().ok())
            .with_context(|| format!("{op}: {said}"))?;
        // A listing has two.
        got[op] = json!(if op == "listings" { count * 2 } else { count });
        let other = session(workspace.path())?;
        others.push(
            text(
                &other,
                json!([{"do": "open-many", "path": "/workspace/f", "count": 10}]),
            )
            .await,
        );
        let files: Vec<File> =
            std::iter::from_fn(|| File::open(workspace.path().join("f")).ok()).collect();
        host = files.len();
    }

    let names = TempDir::new()?;
    for index in 0..20_000 {
        let name = format!("{index:0>200}");
        File::create(names.path().join(name))?;
    }
    let lister = session(names.path())?;
    text(&lister, json!([{"do": "text", "text": "ready"}])).await;
    let before = resident_mib()?;
    let listed = text(
        &lister,
        greedy("listings", json!({"path": "/workspace", "count": 20})),
    )
    .await;
    ensure!(listed == "kept 20", "listings: {listed}");
    let listings = resident_mib()?.saturating_sub(before);
    drop(lister);

    // Each keeps its instance, and the instance its directories.
    let sessions = (0..300).map(|_| session(workspace.path()));
    let sessions = sessions.collect::<Result<Vec<_>, _>>()?;
    let mut served = 0;
    for session in &sessions {
        let said = text(
            session,
            json!([{"do": "fs", "op": "read", "path": "/workspace/f"}]),
        )
        .await;
        served += usize::from(said == "ok x");
    }

    let report = json!({
        "directories": directories,
        "descriptorsOfDirectories": of_directories,
        "greedy": got,
        "others": others,
        "host": host,
        "listingsMiB": listings,
        "sessionsServed": served,
    });
    println!("{report:#}");
    Ok(())
}

fn greedy(op: &str, fields: Value) -> Value {
    let mut step = json!({"do": "greedy", "op": op});
    for (key, value) in fields.as_object().expect("fields") {
        step[key] = value.clone();
    }
    json!([step])
}

async fn text(session: &Session, steps: Value) -> String {
    let called = session.call("puppet", &json!({"steps": steps})).await;
    called.map_or_else(|error| error.to_string(), |outcome| outcome.text())
}

fn descriptors() -> anyhow::Result<usize> {
    Ok(fs::read_dir("/proc/self/fd")?.count())
}

fn resident_mib() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1));
    let kib: u64 = figure.context("no VmRSS in /proc/self/status")?.parse()?;
    Ok(kib >> 10)
}
