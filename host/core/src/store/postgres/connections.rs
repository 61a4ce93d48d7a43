//! A few connections to one server, and statements that are tried again when one breaks.
//!
//! Not sqlx's pool: that asks the server once more about each connection that comes back, and tells a server that is down from
//! one that is busy only by the time that it takes.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgRow};
use sqlx::{Arguments, ConnectOptions, Encode, Executor, PgConnection, Postgres, Type};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout_at};

use super::problem::{Failure, is_duplicate, is_passing};

/// The first pause before another try; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(4);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// One statement with its arguments.
#[derive(Debug, Clone)]
pub struct Statement {
    sql: &'static str,
    arguments: PgArguments,
    /// The first argument that could not be written.
    wrong: Option<String>,
}

impl Statement {
    pub fn new(sql: &'static str) -> Self {
        Self {
            sql,
            arguments: PgArguments::default(),
            wrong: None,
        }
    }

    /// Gives the next argument: `$1`, then `$2`.
    pub fn bind<'q, T: Encode<'q, Postgres> + Type<Postgres>>(mut self, value: T) -> Self {
        if let Err(error) = self.arguments.add(value) {
            self.wrong.get_or_insert(error.to_string());
        }
        self
    }

    /// Sends it.
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
    options: PgConnectOptions,
    idle: Mutex<Vec<PgConnection>>,
    /// One for each connection that may be there.
    permits: Semaphore,
    most: u32,
    patience: Duration,
}

impl Connections {
    pub fn new(options: PgConnectOptions, most: u32, patience: Duration) -> Self {
        Self {
            options: options.disable_statement_logging(),
            idle: Mutex::default(),
            permits: Semaphore::new(most as usize),
            most,
            patience,
        }
    }

    /// How the server is reached.
    pub fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// The answer to a statement that may be sent any number of times.
    pub async fn rows(&self, statement: &Statement) -> Result<Vec<PgRow>, Failure> {
        self.rows_or_recall(statement, None).await
    }

    /// The answer to a statement that may take effect once only. Where it may have done so before the connection broke, `recall` is
    /// asked first: its rows, if there are any, are what the statement would have answered.
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
        let deadline = Instant::now() + self.patience;
        let mut pause = FIRST_PAUSE;
        let mut progress = Progress::default();
        loop {
            let recall = recall.filter(|_| progress.was_sent);
            let tried = timeout_at(deadline, self.once_tried(statement, recall, &mut progress));
            let error = match tried.await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => error,
                Err(_) => return Err(self.silent(&progress)),
            };
            // One that was sent before may have got there after all.
            let passing = is_passing(&error) || (recall.is_some() && is_duplicate(&error));
            if !passing {
                return Err(Failure::Refused(error));
            }
            if Instant::now() + pause >= deadline {
                return Err(Failure::Unreachable {
                    last: error,
                    after: self.patience,
                });
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn once_tried(
        &self,
        statement: &Statement,
        recall: Option<&Statement>,
        progress: &mut Progress,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut borrowed = self.borrow(progress).await?;
        let answered = async {
            let connection = borrowed.connection();
            if let Some(recall) = recall {
                let rows = recall.rows(connection).await?;
                if !rows.is_empty() {
                    return Ok(rows);
                }
            }
            progress.was_sent = true;
            statement.rows(connection).await
        }
        .await;
        match &answered {
            // Whatever broke one connection has most likely broken the others that were open at the time.
            Err(error) if is_passing(error) => self.forget_idle(),
            // A statement that was refused leaves its connection as good as it was.
            Ok(_) | Err(_) => borrowed.give_back(),
        }
        answered
    }

    /// A connection for several statements.
    pub async fn borrow_patiently(&self) -> Result<Borrowed<'_>, Failure> {
        let deadline = Instant::now() + self.patience;
        let mut pause = FIRST_PAUSE;
        let mut progress = Progress::default();
        loop {
            let error = match timeout_at(deadline, self.borrow(&mut progress)).await {
                Ok(Ok(borrowed)) => return Ok(borrowed),
                Ok(Err(error)) => error,
                Err(_) => return Err(self.silent(&progress)),
            };
            if !is_passing(&error) {
                return Err(Failure::Refused(error));
            }
            if Instant::now() + pause >= deadline {
                return Err(Failure::Unreachable {
                    last: error,
                    after: self.patience,
                });
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn borrow(&self, progress: &mut Progress) -> Result<Borrowed<'_>, sqlx::Error> {
        progress.is_queued = true;
        // Never closed.
        let permit = self.permits.acquire().await;
        progress.is_queued = false;
        let permit = permit.map_err(|_| sqlx::Error::PoolClosed)?;
        let idle = self.lock_idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.options.connect().await?,
        };
        Ok(Borrowed {
            connections: self,
            connection,
            _permit: permit,
        })
    }

    /// Keeps a connection that was made with [`Connections::options`].
    pub fn adopt(&self, connection: PgConnection) {
        self.lock_idle().push(connection);
    }

    fn forget_idle(&self) {
        let forgotten = std::mem::take(&mut *self.lock_idle());
        // Closed without the lock held.
        drop(forgotten);
    }

    fn silent(&self, progress: &Progress) -> Failure {
        let after = self.patience;
        match progress.is_queued {
            true => Failure::Busy {
                connections: self.most,
                after,
            },
            false => Failure::Silent { after },
        }
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<PgConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far a call has come.
#[derive(Debug, Default)]
struct Progress {
    /// It waits for others to give a connection back.
    is_queued: bool,
    /// The statement may have taken effect.
    was_sent: bool,
}

/// A connection in use. It is closed with this, also where a future is dropped in the middle of a statement, unless it is given back.
#[derive(Debug)]
pub struct Borrowed<'a> {
    connections: &'a Connections,
    connection: PgConnection,
    _permit: SemaphorePermit<'a>,
}

impl Borrowed<'_> {
    pub fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// The next one may use it.
    pub fn give_back(self) {
        self.connections.lock_idle().push(self.connection);
    }
}
