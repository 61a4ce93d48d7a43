//! One client beside bare commits, and many beside one.

use std::time::{Duration, Instant};

use airlock_tests::Backend;
use tokio::task::JoinSet;

use crate::Effort;
use crate::bare::Bare;
use crate::work::{COMMITS, Client, median, median_ratio, told};

/// How many sessions use a store at once.
pub const SESSIONS: usize = 32;

/// A push and a resolution, one after the other.
pub async fn alone<B: Backend, C: Bare>(
    name: &str,
    backend: &B,
    bare: Option<&C>,
    effort: Effort,
) -> anyhow::Result<()> {
    let host = backend.host().await;
    let client = Client::new(host.store, "alone").await;
    client.push_and_resolve(2).await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let began = Instant::now();
        client.push_and_resolve(effort.actions).await?;
        ours.push(began.elapsed() / effort.actions as u32);
        if let Some(bare) = bare {
            let began = Instant::now();
            bare.commit(effort.actions * COMMITS).await?;
            theirs.push(began.elapsed() / effort.actions as u32);
        }
    }
    if theirs.is_empty() {
        println!("| {name} | {} | | | |", told(median(ours)));
        return Ok(());
    }
    let ratio = median_ratio(&ours, &theirs);
    let (ours, theirs) = (told(median(ours)), told(median(theirs)));
    println!("| {name} | {ours} | {theirs} | {ratio:.2}x | 1.25x |");
    Ok(())
}

/// As many actions each, by one client and by many at once.
pub async fn together<B: Backend>(
    name: &str,
    backend: &B,
    promised: &str,
    effort: Effort,
) -> anyhow::Result<()> {
    let host = backend.host().await;
    let one = Client::new(host.store.clone(), "one").await;
    let mut clients = Vec::new();
    for index in 0..SESSIONS {
        let session = format!("session {index}");
        clients.push(Client::new(host.store.clone(), &session).await);
    }
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let began = Instant::now();
        one.push_and_resolve(effort.actions).await?;
        alone.push(began.elapsed() / effort.actions as u32);

        let began = Instant::now();
        let mut working = JoinSet::new();
        for client in clients.drain(..) {
            working.spawn(async move {
                client.push_and_resolve(effort.actions).await?;
                anyhow::Ok(client)
            });
        }
        let worked = working.join_all().await;
        together.push(began.elapsed() / (effort.actions * SESSIONS) as u32);
        clients = worked.into_iter().collect::<anyhow::Result<_>>()?;
    }
    let ratio = median_ratio(&alone, &together);
    let rate = |time: Duration| 1.0 / time.as_secs_f64();
    let (alone, together) = (rate(median(alone)), rate(median(together)));
    println!("| {name} | {alone:.0} | {together:.0} | {ratio:.2}x | {promised} |");
    Ok(())
}
