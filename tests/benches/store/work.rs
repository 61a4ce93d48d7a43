//! What is measured: actions such as tools push, and the ways through a store that a session takes.

use airlock_store_suite::Tester;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use airlock_host::content::ResolutionOutcome;
use airlock_host::digest::Digest;
use airlock_host::identity::WorkspaceIdentity;
use airlock_host::json::Json;
use airlock_host::pending::{ActionId, SessionId};
use airlock_host::store::{Claim, Completion, PendingStore, PluginBytes, Push};
use airlock_host::{PendingAction, Policy, Resolution};
use anyhow::bail;
use serde_json::json;

/// The commits of a push and a resolution: the push, the claim, the end.
pub const COMMITS: usize = 3;

/// Pushes to and resolves from one session's stack.
pub struct Client {
    store: PendingStore,
    session: SessionId,
    plugin: PluginBytes,
    place: Arc<WorkspaceIdentity>,
    outcome: ResolutionOutcome,
}

impl Client {
    pub async fn new(store: PendingStore, session: &str) -> Self {
        let bytes = vec![7; 100_000];
        Self {
            store,
            session: session.into(),
            plugin: PluginBytes {
                digest: Digest::of(&bytes),
                name: "bench".into(),
                bytes: bytes.into(),
            },
            place: Arc::new(WorkspaceIdentity::at("/".as_ref()).unwrap()),
            outcome: airlock_tests::outcome("Renamed 2 files"),
        }
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    pub async fn push(&self) -> anyhow::Result<()> {
        let mut action = PendingAction::new(
            new_id(),
            "Rename: 2 files in photos",
            self.plugin.digest,
            Arc::clone(&self.plugin.name),
            Policy::default(),
            SystemTime::now(),
        );
        action.source_tool_name = "batch_rename_preview".to_owned();
        action.source_is_own_tool = true;
        action.details =
            Json::of(&json!({"renames": [["a.jpeg", "a.jpg"], ["b.jpeg", "b.jpg"]]})).ok();
        action.durable = true;
        action.workspace = Some(std::path::Path::new("/home/ada/photos").into());
        action.workspace_identity = Some(Arc::clone(&self.place));
        let push = Push::new(&self.session, action, &self.plugin)
            .with_guest_state(vec![b'x'; 300])
            .with_capacity(1000);
        self.store.stacks.push(push).await?;
        Ok(())
    }

    pub async fn resolve(&self) -> anyhow::Result<()> {
        let resolution = Resolution::apply("the names are right");
        let claim = self
            .store
            .claims
            .claim(&self.session, &resolution, &Tester.into())
            .await?;
        let Claim::Claimed(claimed) = claim else {
            bail!("the store claims nothing: {claim:?}");
        };
        let completion = Completion::Succeeded(&self.outcome);
        self.store
            .claims
            .complete(claimed.lease, completion)
            .await?;
        Ok(())
    }

    pub async fn push_and_resolve(&self, count: usize) -> anyhow::Result<()> {
        for _ in 0..count {
            self.push().await?;
            self.resolve().await?;
        }
        Ok(())
    }
}

fn new_id() -> ActionId {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("0198c5f0-0000-7000-8000-{number:012}").into()
}

pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Of the ratios of each round, since what slows a machine down often lasts longer than a round.
pub fn median_ratio(ones: &[Duration], others: &[Duration]) -> f64 {
    let ratios = ones.iter().zip(others);
    let mut ratios: Vec<f64> = ratios
        .map(|(one, other)| one.as_secs_f64() / other.as_secs_f64())
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// Microseconds, or milliseconds where they are many.
pub fn told(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        micros if micros < 1000.0 => format!("{micros:.1} us"),
        micros => format!("{:.2} ms", micros / 1000.0),
    }
}
