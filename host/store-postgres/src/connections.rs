//! A few connections to one server, and retries of statements when one breaks.
//!
//! They use deadpool instead of sqlx's pool. The latter sends an extra query for each returned
//! connection, and distinguishes a server that is down from a busy one only by a timeout.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use airlock_model::pending::{ActionId, SessionId};
use deadpool::Runtime;
use deadpool::managed::{
    Manager, Metrics, Object, Pool, PoolError, QueueMode, RecycleResult, TimeoutType, Timeouts,
};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgRow};
use sqlx::{Arguments, ConnectOptions, Encode, Executor, PgConnection, Postgres, Type};
use tokio::time::{Instant, sleep, timeout_at};

use super::problem::{Failure, is_duplicate, is_other_schema, is_passing};
use super::text::escaped;
use super::{schema, session_key};

/// The first pause before a retry; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(4);
const MAX_PAUSE: Duration = Duration::from_millis(250);

/// A statement with its arguments.
#[derive(Debug, Clone)]
pub struct Statement {
    sql: &'static str,
    arguments: PgArguments,
    /// The first argument that could not be encoded.
    wrong: Option<String>,
}

impl Statement {
    pub fn new(sql: &'static str) -> Self {
        let mut arguments = PgArguments::default();
        // Enough for nearly every push with its state.
        arguments.reserve(16, 2048);
        Self {
            sql,
            arguments,
            wrong: None,
        }
    }

    /// Creates a statement about an action of a session: `$1` and `$2`.
    pub fn of_action(sql: &'static str, session: &SessionId, action: &ActionId) -> Self {
        let statement = Self::new(sql).bind(escaped(action.as_str()));
        statement.bind(session_key(session))
    }

    /// Binds the next argument: `$1`, then `$2`.
    pub fn bind<'q, T: Encode<'q, Postgres> + Type<Postgres>>(mut self, value: T) -> Self {
        if let Err(error) = self.arguments.add(value) {
            self.wrong.get_or_insert(error.to_string());
        }
        self
    }

    /// Sends the statement and returns its rows.
    pub async fn rows(&self, connection: &mut PgConnection) -> Result<Vec<PgRow>, sqlx::Error> {
        if let Some(wrong) = &self.wrong {
            return Err(sqlx::Error::InvalidArgument(wrong.clone()));
        }
        let query = sqlx::query_with(self.sql, self.arguments.clone());
        connection.fetch_all(query).await
    }
}

/// The connections of one host.
#[derive(Debug)]
pub struct Connections {
    pool: Pool<Connector>,
    patience: Duration,
}

/// Creates connections for the pool.
#[derive(Debug)]
struct Connector {
    options: PgConnectOptions,
    /// A connection that was created before the pool.
    first: Mutex<Option<PgConnection>>,
}

impl Manager for Connector {
    type Type = PgConnection;
    type Error = sqlx::Error;

    async fn create(&self) -> Result<PgConnection, sqlx::Error> {
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match first {
            Some(connection) => Ok(connection),
            // Boxed: otherwise the future of every call would be as large as that of creating a
            // connection.
            None => Box::pin(self.options.connect()).await,
        }
    }

    /// Does nothing: a broken connection is noticed when it is used.
    async fn recycle(
        &self,
        _connection: &mut PgConnection,
        _metrics: &Metrics,
    ) -> RecycleResult<sqlx::Error> {
        Ok(())
    }
}

impl Connections {
    /// Creates a pool. `first` was connected with `options`.
    pub fn new(
        options: PgConnectOptions,
        first: PgConnection,
        most: u32,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let connector = Connector {
            options: options.disable_statement_logging(),
            first: Mutex::new(Some(first)),
        };
        let pool = Pool::builder(connector)
            .max_size(most as usize)
            .runtime(Runtime::Tokio1)
            // The most recently used connection is the most likely to work.
            .queue_mode(QueueMode::Lifo)
            .build();
        let pool = pool.map_err(|error| sqlx::Error::Configuration(Box::new(error)))?;
        Ok(Self { pool, patience })
    }

    /// Returns the connection options.
    pub fn options(&self) -> &PgConnectOptions {
        &self.pool.manager().options
    }

    /// Returns the response to a statement that is safe to repeat.
    pub async fn rows(&self, statement: &Statement) -> Result<Vec<PgRow>, Failure> {
        self.rows_or_recall(statement, None).await
    }

    /// Returns the response to a statement that may take effect only once. If it may have taken
    /// effect before a connection broke, `recall` is sent first: if it returns rows, they are the
    /// statement's response.
    pub async fn once(
        &self,
        statement: &Statement,
        recall: &Statement,
    ) -> Result<Vec<PgRow>, Failure> {
        self.rows_or_recall(statement, Some(recall)).await
    }

    async fn rows_or_recall(
        &self,
        statement: &Statement,
        recall: Option<&Statement>,
    ) -> Result<Vec<PgRow>, Failure> {
        let mut backoff = Backoff::new(self.patience);
        let mut was_sent = false;
        loop {
            let mut pooled = self.borrow(&mut backoff).await?;
            // An earlier attempt may have reached the server after all.
            let recall = recall.filter(|_| was_sent);
            was_sent = true;
            let asked = ask(pooled.connection(), statement, recall);
            let error = match timeout_at(backoff.deadline, asked).await {
                Ok(Ok(rows)) => {
                    pooled.give_back();
                    return Ok(rows);
                }
                Ok(Err(error)) => error,
                Err(_) => {
                    let after = self.patience;
                    return Err(Failure::Silent { after });
                }
            };
            if is_passing(&error) {
                // The cause of one broken connection has probably broken the other open ones too.
                let _ = self.pool.retain(|_, _| false);
            } else {
                if recall.is_none() || !is_duplicate(&error) {
                    let why = why_refused(pooled.connection(), error);
                    let why = timeout_at(backoff.deadline, why).await;
                    let after = self.patience;
                    let why = why.map_err(|_| Failure::Silent { after })?;
                    pooled.give_back();
                    return Err(Failure::Refused(why));
                }
                // A refused statement leaves its connection usable.
                pooled.give_back();
            }
            backoff.pause(error).await?;
        }
    }

    /// Returns a connection for several statements.
    pub async fn borrow_patiently(&self) -> Result<PooledConnection, Failure> {
        self.borrow(&mut Backoff::new(self.patience)).await
    }

    async fn borrow(&self, backoff: &mut Backoff) -> Result<PooledConnection, Failure> {
        loop {
            let left = Some(backoff.deadline.saturating_duration_since(Instant::now()));
            let timeouts = Timeouts {
                wait: left,
                create: left,
                recycle: left,
            };
            let error = match self.pool.timeout_get(&timeouts).await {
                Ok(object) => return Ok(PooledConnection(Some(object))),
                Err(PoolError::Backend(error)) if is_passing(&error) => error,
                Err(error) => return Err(self.unavailable(error)),
            };
            backoff.pause(error).await?;
        }
    }

    fn unavailable(&self, error: PoolError<sqlx::Error>) -> Failure {
        let after = self.patience;
        match error {
            PoolError::Backend(error) => Failure::Refused(error),
            PoolError::Timeout(TimeoutType::Wait) => Failure::Busy {
                connections: u32::try_from(self.pool.status().max_size).unwrap_or(u32::MAX),
                after,
            },
            PoolError::Timeout(_) => Failure::Silent { after },
            // The other errors can't occur: the pool is open, has a runtime, and has no hooks.
            _ => Failure::Refused(sqlx::Error::PoolClosed),
        }
    }
}

async fn ask(
    connection: &mut PgConnection,
    statement: &Statement,
    recall: Option<&Statement>,
) -> Result<Vec<PgRow>, sqlx::Error> {
    if let Some(recall) = recall {
        let rows = recall.rows(connection).await?;
        if !rows.is_empty() {
            return Ok(rows);
        }
    }
    statement.rows(connection).await
}

/// Returns the reason why a statement was refused. If a newer host has changed the tables, a
/// column may be gone, and the server reports that before it evaluates any condition.
async fn why_refused(connection: &mut PgConnection, error: sqlx::Error) -> sqlx::Error {
    if is_other_schema(&error) {
        return error;
    }
    match Statement::new(schema::IS_SAME).rows(connection).await {
        Err(other) if is_other_schema(&other) => other,
        _ => error,
    }
}

/// The retry state of a call.
struct Backoff {
    patience: Duration,
    deadline: Instant,
    pause: Duration,
}

impl Backoff {
    fn new(patience: Duration) -> Self {
        Self {
            patience,
            deadline: Instant::now() + patience,
            pause: FIRST_PAUSE,
        }
    }

    /// Waits before the next attempt, longer each time. Fails with `last` if there is no time for
    /// another one.
    async fn pause(&mut self, last: sqlx::Error) -> Result<(), Failure> {
        if Instant::now() + self.pause >= self.deadline {
            let after = self.patience;
            return Err(Failure::Unreachable { last, after });
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        Ok(())
    }
}

/// A connection in use. It is closed on drop unless it is given back, also if a future is dropped
/// in the middle of a statement.
#[derive(Debug)]
pub struct PooledConnection(Option<Object<Connector>>);

impl PooledConnection {
    pub fn connection(&mut self) -> &mut PgConnection {
        self.0.as_mut().expect("there until it is given back")
    }

    /// Returns the connection to the pool.
    pub fn give_back(mut self) {
        self.0 = None;
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        // Removes the connection from the pool, which makes room for another.
        self.0.take().map(Object::take);
    }
}
