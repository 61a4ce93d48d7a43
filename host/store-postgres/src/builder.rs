//! The builder of a store, and connecting to the server.

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

/// Time limit for a migration of the tables. It is longer than any patience, because a host that
/// gives up too early would fail again on every attempt.
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

    /// Sets how long a claim is valid without renewal, and so how soon other hosts can take over
    /// from a dead one. Default: 15 s. A host renews three times per lease time. Values below 1 s
    /// may be too short on a busy machine.
    pub fn lease_time(mut self, lease_time: Duration) -> Self {
        self.lease_time = lease_time;
        self
    }

    /// Sets how long a call tries to reach the server before it fails. Default: 10 s. Keep it
    /// shorter than the lease time, so that a resolution survives a restart of the server.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the maximum number of connections of this host, not counting the one that listens when
    /// a caller waits for changes. Default: 8.
    pub fn max_connections(mut self, max_connections: u32) -> Self {
        self.max_connections = max_connections;
        self
    }

    /// Sets the name of this host in listings. Default: `machine/process`.
    pub fn holder(mut self, name: impl Into<String>) -> Self {
        self.holder = Some(name.into());
        self
    }

    /// Connects, and creates the tables if they are missing. Tables of an older version are
    /// migrated, which takes seconds for millions of actions. Connected hosts of that version wait
    /// during the migration. Afterwards, their calls fail with [`BackendErrorKind::Newer`] and
    /// change nothing; their claims are free again once the leases have expired.
    ///
    /// # Errors
    /// [`StoreError::Backend`] with one of these kinds:
    /// - [`BackendErrorKind::Settings`] if the URL or a setting is invalid
    /// - [`BackendErrorKind::Unreachable`] immediately if no server listens there, or if it does
    ///   not respond in time
    /// - [`BackendErrorKind::Denied`] if the server rejects the user or the password, or the user
    ///   may not create tables
    /// - [`BackendErrorKind::Missing`] if the database does not exist
    /// - [`BackendErrorKind::Newer`] if a newer version created the tables
    pub async fn connect(self) -> Result<PostgresStore, StoreError> {
        self.connecting().await
    }

    /// Returns a boxed future, so that it is compiled here and not in each crate that awaits it.
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
        // The error omits the URL, because the URL contains the password.
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

    /// Opens the first connection separately, for a precise error. Also returns whether the tables
    /// are up to date.
    async fn open(
        &self,
        options: &PgConnectOptions,
        location: &str,
        deadline: Instant,
    ) -> Result<(PgConnection, bool), StoreError> {
        let mut connection = loop {
            match options.clone().disable_statement_logging().connect().await {
                Ok(connection) => break connection,
                // A server that is starting up says so. A server that is not running won't start
                // by itself.
                Err(error @ sqlx::Error::Database(_))
                    if is_passing(&error) && Instant::now() < deadline =>
                {
                    sleep(Duration::from_millis(50)).await;
                }
                // Network connections never fail with this error.
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

/// Returns the URL without its password.
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
