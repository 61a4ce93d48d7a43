//! The heartbeat of a host that holds volatile actions.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::HostId;
use super::connections::{Connections, Statement};
use super::problem::Failure;
use super::record::micros;
use super::schema::same_schema;
use super::text::escaped;

const BEAT: &str = concat!(
    "INSERT INTO airlock.hosts (id, name, alive_until)
    SELECT $1, $2, clock_timestamp() + $3 * interval '1 microsecond' WHERE ",
    same_schema!(),
    " ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until"
);

/// Sends heartbeats from the first volatile action until the store is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    connections: Arc<Connections>,
    beat: Statement,
    pause: Duration,
    runtime: Handle,
    stop: CancellationToken,
    begun: OnceCell<()>,
}

impl Heartbeat {
    pub fn new(
        connections: Arc<Connections>,
        host: &HostId,
        name: &str,
        lease_time: Duration,
        stop: CancellationToken,
    ) -> Self {
        let beat = Statement::new(BEAT)
            .bind(*host)
            .bind(escaped(name))
            .bind(micros(lease_time));
        Self {
            connections,
            beat,
            pause: lease_time / 3,
            runtime: Handle::current(),
            stop,
            begun: OnceCell::new(),
        }
    }

    /// Returns once the first heartbeat has been written.
    pub async fn beat(&self) -> Result<(), Failure> {
        let begun = self.begun.get_or_try_init(async || {
            self.connections.rows(&self.beat).await?;
            let (connections, beat) = (Arc::clone(&self.connections), self.beat.clone());
            let (pause, stop) = (self.pause, self.stop.clone());
            self.runtime.spawn(async move {
                stop.run_until_cancelled(keep_beating(&connections, &beat, pause))
                    .await;
            });
            Ok(())
        });
        begun.await.copied()
    }
}

async fn keep_beating(connections: &Connections, beat: &Statement, pause: Duration) {
    loop {
        sleep(pause).await;
        if let Err(error) = connections.rows(beat).await {
            tracing::warn!("could not write a heartbeat: {error:?}");
        }
    }
}
