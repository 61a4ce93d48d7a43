//! The builder, and connecting.

use std::io::ErrorKind;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use airlock_model::store::rows::process_name;
use airlock_model::store::{BackendErrorKind, StoreError};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::connections::Connections;
use super::heartbeat::Heartbeat;
use super::notifications::ChangeNotifier;
use super::problem::{Failure, is_passing};
use super::{HostId, PostgresStore, PostgresStoreInner, schema};

/// How long a migration of the tables may take. Longer than any patience: a host that gives up too
/// early would do so again each time.
const MIGRATION_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Builder for a [`PostgresStore`].
#[derive(Clone)]
#[must_use]
pub struct PostgresStoreBuilder {
    url: String,
    lease_time: Duration,
    patience: Duration,
    max_connections: u32,
    holder: Option<String>,
}

impl PostgresStoreBuilder {
    pub(super) fn new(url: String) -> Self {
        Self {
            url,
            lease_time: Duration::from_secs(15),
            patience: Duration::from_secs(10),
            max_connections: 8,
            holder: None,
        }
    }

    /// How long a claim lasts that is not renewed, and so how soon others may take over from a host
    /// that died. Default: 15 s. A host renews three times as often; below a second, a busy machine
    /// may be too slow for that.
    pub fn lease_time(mut self, lease_time: Duration) -> Self {
        self.lease_time = lease_time;
        self
    }

    /// How long a call tries to reach the server before it fails. Default: 10 s. Shorter than the
    /// lease time, so that a resolution lives through a restart of the server.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The most connections that this host opens, beside one to listen on where somebody waits for
    /// changes. Default: 8.
    pub fn max_connections(mut self, max_connections: u32) -> Self {
        self.max_connections = max_connections;
        self
    }

    /// What this host is called in listings. Default: `machine/process`.
    pub fn holder(mut self, name: impl Into<String>) -> Self {
        self.holder = Some(name.into());
        self
    }

    /// Connects, and makes the tables where there are none. Those of an older version are brought
    /// up to date, which takes seconds for millions of actions. Hosts of that version that are
    /// connected wait meanwhile. From then on each call of theirs fails with
    /// [`BackendErrorKind::Newer`] and changes nothing, and what they have claimed is free again
    /// once their leases have run out.
    ///
    /// # Errors
    /// [`StoreError::Backend`] with [`BackendErrorKind::Settings`] where the address or a setting
    /// makes no sense, [`BackendErrorKind::Unreachable`] at once where nobody listens, or where
    /// there is no answer in time, [`BackendErrorKind::Denied`] where the server doesn't take the
    /// user or the password, or the user may not make tables, [`BackendErrorKind::Missing`] where
    /// there is no such database, and [`BackendErrorKind::Newer`] where a newer version has made
    /// the tables.
    pub async fn connect(self) -> Result<PostgresStore, StoreError> {
        self.connecting().await
    }

    /// Boxed, so that it is compiled here, and not by whoever awaits it.
    fn connecting(self) -> Pin<Box<dyn Future<Output = Result<PostgresStore, StoreError>> + Send>> {
        Box::pin(async move {
            let options = self.options()?;
            let location = location(&options);
            self.check_settings(&location)?;
            let deadline = Instant::now() + self.patience;
            let silent = |after: Duration| Failure::Silent { after }.at(&location);
            let opened = timeout_at(deadline, self.open(&options, &location, deadline)).await;
            let (mut connection, is_up_to_date) = opened.map_err(|_| silent(self.patience))??;
            if !is_up_to_date {
                let bringing = schema::bring_up_to_date(&mut connection, &location);
                let brought = timeout(MIGRATION_TIMEOUT, bringing).await;
                brought.map_err(|_| silent(MIGRATION_TIMEOUT))??;
            }
            let host = new_host_id(&location)?;
            let most = self.max_connections;
            let connections = Connections::new(options, connection, most, self.patience)
                .map_err(|failure| failure.at(&location))?;
            let connections = Arc::new(connections);
            let stop = CancellationToken::new();
            let holder = self.holder.clone().unwrap_or_else(process_name);
            let shared = || (Arc::clone(&connections), stop.clone());
            let (for_notifier, stop_notifier) = shared();
            let (for_heartbeat, stop_heartbeat) = shared();
            let inner = PostgresStoreInner {
                notifier: ChangeNotifier::new(for_notifier, &host, stop_notifier),
                heartbeat: Heartbeat::new(
                    for_heartbeat,
                    &host,
                    &holder,
                    self.lease_time,
                    stop_heartbeat,
                ),
                connections,
                location,
                lease_time: self.lease_time,
                holder,
                host,
                claims: AtomicU64::new(0),
                maintenance_due: Mutex::new(Instant::now()),
                usage: Mutex::default(),
                pushing: Mutex::default(),
                runtime: Handle::current(),
                _stop: stop.drop_guard(),
            };
            Ok(PostgresStore {
                inner: Arc::new(inner),
            })
        })
    }

    fn options(&self) -> Result<PgConnectOptions, StoreError> {
        // The address is not repeated, since its password is.
        let wrong =
            |problem: String| StoreError::backend(BackendErrorKind::Settings, "address", problem);
        if !["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| self.url.starts_with(scheme))
        {
            let problem = "is not a PostgreSQL address; expected postgres://user:password@server:port/database";
            return Err(wrong(problem.to_owned()));
        }
        PgConnectOptions::from_str(&self.url).map_err(|error| {
            wrong(format!(
                "is not a PostgreSQL address: {error}; expected postgres://user:password@server:port/database"
            ))
        })
    }

    fn check_settings(&self, location: &str) -> Result<(), StoreError> {
        let wrong = |problem| Err(unusable(location, problem));
        if self.max_connections == 0 {
            return wrong("it needs at least one connection");
        }
        if self.lease_time < Duration::from_millis(10) {
            return wrong("a lease must last at least 10 ms");
        }
        Ok(())
    }

    /// A first connection, by itself: it tells best what is wrong. With it, whether the tables are
    /// as they must be.
    async fn open(
        &self,
        options: &PgConnectOptions,
        location: &str,
        deadline: Instant,
    ) -> Result<(PgConnection, bool), StoreError> {
        let mut connection = loop {
            match options.clone().disable_statement_logging().connect().await {
                Ok(connection) => break connection,
                // A server that is about to be ready says so. One that is not there won't come by
                // itself.
                Err(error @ sqlx::Error::Database(_))
                    if is_passing(&error) && Instant::now() < deadline =>
                {
                    sleep(Duration::from_millis(50)).await;
                }
                // No way over a network ends so.
                Err(sqlx::Error::Io(error))
                    if error.kind() == ErrorKind::NotFound && options.get_socket().is_none() =>
                {
                    let problem = format!(
                        "a file that the address names can't be read: {error}; correct `sslrootcert`, `sslcert` or `sslkey`"
                    );
                    return Err(unusable(location, &problem));
                }
                Err(error) => return Err(Failure::from(error).at(location)),
            }
        };
        let is_up_to_date = schema::is_up_to_date(&mut connection, location).await?;
        Ok((connection, is_up_to_date))
    }
}

fn unusable(location: &str, problem: &str) -> StoreError {
    let problem = format!("can't be used with these settings: {problem}");
    StoreError::backend(BackendErrorKind::Settings, location, problem)
}

/// The address without its password.
fn location(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or(options.get_username());
    let user = options.get_username();
    match options.get_socket() {
        Some(socket) => format!("postgres://{user}@/{database}?host={}", socket.display()),
        None => format!(
            "postgres://{user}@{}:{}/{database}",
            options.get_host(),
            options.get_port()
        ),
    }
}

fn new_host_id(location: &str) -> Result<HostId, StoreError> {
    let mut id = HostId::default();
    getrandom::fill(&mut id).map_err(|error| {
        let problem = format!("needs a random number, and the system has none: {error}");
        StoreError::backend(BackendErrorKind::Other, location, problem)
    })?;
    Ok(id)
}

impl std::fmt::Debug for PostgresStoreBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStoreBuilder")
            .field("lease_time", &self.lease_time)
            .field("patience", &self.patience)
            .field("max_connections", &self.max_connections)
            .field("holder", &self.holder)
            .finish_non_exhaustive()
    }
}
