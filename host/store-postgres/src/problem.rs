//! Failures of the server and of connections to it, as store errors.

use std::io;
use std::time::Duration;

use airlock_model::pending::ActionId;
use airlock_model::store::{BackendErrorKind, StoreError};
use sqlx::error::DatabaseError;

use super::schema;

/// The reason why a statement has no response.
#[derive(Debug)]
pub enum Failure {
    /// The error of the last attempt within `after`.
    Unreachable { last: sqlx::Error, after: Duration },
    /// The server did not respond at all.
    Silent { after: Duration },
    /// The connections were all in use.
    Busy { connections: u32, after: Duration },
    /// Retrying is useless.
    Refused(sqlx::Error),
    /// A row contains data that this version can't read.
    Unreadable(String),
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Failure::Refused(error)
    }
}

/// Returns whether the server, or the network, may recover soon. The statement may have taken
/// effect anyway.
pub fn is_passing(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolTimedOut => true,
        sqlx::Error::Database(error) => is_passing_code(&code(&**error)),
        _ => false,
    }
}

fn is_passing_code(code: &str) -> bool {
    // Connections; shutting down, crashing, starting up, idle for too long; too many connections;
    // deadlocks and the like.
    code.starts_with("08")
        || [
            "57P01", "57P02", "57P03", "57P05", "53300", "40001", "40P01",
        ]
        .contains(&code)
}

/// Returns whether two statements created the same row at once.
pub fn is_duplicate(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation())
}

/// Returns whether the server ended a transaction because of a deadlock.
pub fn is_deadlock(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| code(error) == "40P01")
}

/// Returns whether the tables have another version.
pub fn is_other_schema(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| other_schema(error).is_some())
}

fn other_schema(error: &dyn DatabaseError) -> Option<(BackendErrorKind, String)> {
    if code(error) == "22P02" {
        schema::other_than_ours(error.message())
    } else {
        None
    }
}

fn code(error: &dyn DatabaseError) -> String {
    error.code().unwrap_or_default().into_owned()
}

impl Failure {
    /// Adds the id of the action whose row is unreadable.
    pub fn of(self, id: &ActionId) -> Self {
        match self {
            Failure::Unreadable(problem) => {
                Failure::Unreadable(format!("keeps the action {id}, which {problem}"))
            }
            other => other,
        }
    }

    /// Returns the problem as a clause.
    pub fn problem(self) -> String {
        self.described().1
    }

    /// Converts to an error of the store at `location`.
    pub fn at(self, location: &str) -> StoreError {
        let (kind, problem) = self.described();
        let error = StoreError::backend(kind, location, problem);
        match self {
            Failure::Unreachable { last: cause, .. } | Failure::Refused(cause) => {
                error.caused_by(cause)
            }
            _ => error,
        }
    }

    fn described(&self) -> (BackendErrorKind, String) {
        match self {
            Failure::Unreachable { last, after } => unreachable(last, *after),
            Failure::Silent { after } => (
                BackendErrorKind::Unreachable,
                format!(
                    "did not answer within {}; check whether the server is overloaded or the network is down",
                    seconds(*after)
                ),
            ),
            Failure::Busy { connections, after } => (
                BackendErrorKind::Busy,
                format!(
                    "is busy: all {connections} connections of this host were in use for {}; allow more",
                    seconds(*after)
                ),
            ),
            Failure::Refused(error) => refused(error),
            Failure::Unreadable(problem) => (BackendErrorKind::Damaged, problem.clone()),
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

fn unreachable(last: &sqlx::Error, after: Duration) -> (BackendErrorKind, String) {
    if let sqlx::Error::Database(error) = last
        && code(&**error) == "53300"
    {
        let problem = format!(
            "has no connection left: {}; raise its `max_connections`, or let each host open fewer",
            error.message()
        );
        return (BackendErrorKind::Busy, problem);
    }
    let tried = match after {
        Duration::ZERO => String::new(),
        after => format!(" (tried for {})", seconds(after)),
    };
    let problem = format!(
        "can't be reached{tried}: {}; start the server, or correct the address",
        message(last)
    );
    (BackendErrorKind::Unreachable, problem)
}

/// Returns the error's own message, without sqlx's prefix.
fn message(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

fn not_private(words: &str) -> (BackendErrorKind, String) {
    let problem = format!(
        "offers no encryption that fits the settings: {words}; see `sslmode` in the address, and `sslrootcert`, the file with the certificate to trust"
    );
    (BackendErrorKind::Settings, problem)
}

fn refused(error: &sqlx::Error) -> (BackendErrorKind, String) {
    let words = message(error);
    let sqlx::Error::Database(database) = error else {
        return match error {
            sqlx::Error::Configuration(_) | sqlx::Error::InvalidArgument(_) => (
                BackendErrorKind::Settings,
                format!("has a wrong address: {words}"),
            ),
            sqlx::Error::Tls(_) => not_private(&words),
            // This includes untrusted certificates.
            sqlx::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                not_private(&words)
            }
            error if is_passing(error) => unreachable(error, Duration::ZERO),
            _ => (BackendErrorKind::Other, format!("failed: {words}")),
        };
    };
    if let Some(other) = other_schema(&**database) {
        return other;
    }
    let code = code(&**database);
    match code.as_str() {
        "53100" => (
            BackendErrorKind::NoSpace,
            format!("is full: {words}; make room on the server's disk"),
        ),
        "25006" => (
            BackendErrorKind::ReadOnly,
            format!("can't be written: {words}; use the primary server, not a standby"),
        ),
        "42501" => (
            BackendErrorKind::Denied,
            format!(
                "doesn't let this user do that: {words}; grant the user the right to create in the database, or all rights to the schema `airlock` and what is in it"
            ),
        ),
        "3D000" => (
            BackendErrorKind::Missing,
            format!("does not exist: {words}; create the database first"),
        ),
        "3F000" | "42P01" | "42703" => (
            BackendErrorKind::Missing,
            format!("lacks a part: {words}; it was removed after this host had connected"),
        ),
        "55P03" => (
            BackendErrorKind::Busy,
            format!("is locked by others: {words}"),
        ),
        // A `pg_hba.conf` entry is missing or rejects the connection, or the user does not exist.
        "28000" => (
            BackendErrorKind::Denied,
            format!(
                "denies access: {words}; correct the user and `sslmode` in the address, or let the server's `pg_hba.conf` take connections from here"
            ),
        ),
        code if code.starts_with("28") => (
            BackendErrorKind::Denied,
            format!("denies access: {words}; correct the user and the password in the address"),
        ),
        code if code.starts_with("XX0") => (
            BackendErrorKind::Damaged,
            format!("is damaged: {words}; restore it from a backup"),
        ),
        code if is_passing_code(code) => unreachable(error, Duration::ZERO),
        code => (BackendErrorKind::Other, format!("failed: {words} ({code})")),
    }
}
