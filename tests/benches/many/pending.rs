//! Sessions in which much is pending.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use airlock_host::digest::Digest;
use airlock_host::identity::WorkspaceIdentity;
use airlock_host::json::Json;
use airlock_host::pending::{ActionId, SessionId};
use airlock_host::steering::TurnReport;
use airlock_host::store::{PendingStore, PluginBytes, Push};
use airlock_host::{PendingAction, Policy, Session};
use airlock_tests::{
    Backend, Host, MemoryBackend, PostgresBackend, PostgresServer, SqliteBackend, Sync, Tester,
};
use serde_json::json;

use crate::{median, timed, told};

pub async fn measure(rounds: usize, quick: bool) -> anyhow::Result<()> {
    println!("\n`next_turn`, and what is discarded at once:");
    println!("| store | pending | in full | nothing new | one is new | all are new | clear |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    rows("memory", &MemoryBackend::new().await.host().await, rounds).await?;
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let sqlite = SqliteBackend::inside(disk);
    rows("SQLite", &sqlite.host().await, rounds).await?;
    if !quick {
        // One that waits for its disk, and ends with this process.
        let server = Box::leak(Box::new(PostgresServer::new(Sync::On)));
        let postgres = PostgresBackend::on(server);
        rows("PostgreSQL", &postgres.host().await, rounds).await?;
    }
    Ok(())
}

async fn rows(name: &str, host: &Host, rounds: usize) -> anyhow::Result<()> {
    for count in [1, 10, 100, 1_000, 10_000] {
        let rounds = if count == 10_000 {
            rounds.min(11)
        } else {
            rounds
        };
        let session = SessionId::from(format!("{count} pending"));
        push(&host.store, &session, count).await?;
        let open = || {
            let builder = Session::builder().model_decides().id(session.clone());
            builder.store(host.store.clone()).open()
        };
        let in_full = median(rounds, async || {
            let (listed, time) = timed(host.store.stacks.list(&session)).await;
            anyhow::ensure!(listed?.len() == count);
            Ok(time)
        });
        let in_full = in_full.await?;
        let all_new = median(rounds, async || {
            let (turn, time) = timed(open()?.next_turn()).await;
            anyhow::ensure!(turn?.reminders[0].actions.len() == count);
            Ok(time)
        });
        let all_new = all_new.await?;
        let told_of = open()?;
        told_of.next_turn().await?;
        let nothing_new = median(rounds, async || {
            told_of.report_turn(TurnReport::Resolved);
            let (turn, time) = timed(told_of.next_turn()).await;
            let turn = turn?;
            anyhow::ensure!(turn.reminders.is_empty() && turn.pending == count);
            Ok(time)
        });
        let nothing_new = nothing_new.await?;
        let mut pushed = 0;
        let one_new = median(rounds.min(11), async || {
            push(&host.store, &session, 1).await?;
            pushed += 1;
            let (turn, time) = timed(told_of.next_turn()).await;
            let turn = turn?;
            anyhow::ensure!(turn.reminders[0].actions.len() == 1);
            Ok(time)
        });
        let one_new = one_new.await?;
        let cleared = if count <= 1_000 {
            let (cleared, time) = timed(told_of.clear("enough", Tester)).await;
            anyhow::ensure!(cleared?.len() == count + pushed);
            told(time)
        } else {
            String::new()
        };
        println!(
            "| {name} | {count} | {} | {} | {} | {} | {cleared} |",
            told(in_full),
            told(nothing_new),
            told(one_new),
            told(all_new)
        );
    }
    Ok(())
}

async fn push(store: &PendingStore, session: &SessionId, count: usize) -> anyhow::Result<()> {
    let bytes = vec![7; 1000];
    let plugin = PluginBytes {
        digest: Digest::of(&bytes),
        name: "bench".into(),
        bytes: bytes.into(),
    };
    let place = Arc::new(WorkspaceIdentity::at("/".as_ref())?);
    for _ in 0..count {
        let now = SystemTime::now();
        let mut action = PendingAction::new(
            ActionId::generate(now),
            "Rename: 2 files in photos",
            plugin.digest,
            Arc::clone(&plugin.name),
            Policy::default(),
            now,
        );
        action.source_tool_name = "batch_rename_preview".to_owned();
        action.details = Json::of(&json!({"renames": vec![["a.jpeg", "a.jpg"]; 100]})).ok();
        action.durable = true;
        action.workspace = Some(Path::new("/home/ada/photos").into());
        action.workspace_identity = Some(Arc::clone(&place));
        let push = Push::new(session, action, &plugin)
            .with_guest_state(vec![b'x'; 300])
            .with_capacity(100_000);
        store.stacks.push(push).await?;
    }
    Ok(())
}
