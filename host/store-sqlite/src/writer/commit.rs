//! The transactions of a commit.

use rusqlite::Connection;

use super::operation::Operation;
use crate::problem::Problem;
use crate::schema;

/// Runs all operations in one transaction. After an error, none of them took effect.
pub(super) fn all(
    connection: &Connection,
    operations: &mut [Box<dyn Operation>],
) -> Result<(), Problem> {
    begin(connection)?;
    let allowed = schema::refuse_newer(connection);
    let committed = allowed
        .and_then(|()| run_all(connection, operations))
        .and_then(|()| execute(connection, "COMMIT"));
    roll_back_unless(committed.is_ok(), connection)?;
    committed
}

fn run_all(connection: &Connection, operations: &mut [Box<dyn Operation>]) -> Result<(), Problem> {
    for operation in operations {
        execute(connection, "SAVEPOINT operation")?;
        if !operation.run(connection) {
            // Some errors end the whole transaction. Then this rollback fails too, and so do the
            // operations before it.
            execute(connection, "ROLLBACK TO operation")?;
        }
        execute(connection, "RELEASE operation")?;
    }
    Ok(())
}

/// Runs one operation in a separate transaction. Returns whether it was committed.
pub(super) fn one(
    connection: &Connection,
    operation: &mut dyn Operation,
    is_late: bool,
) -> Result<bool, Problem> {
    // The setting can't be changed inside a transaction.
    roll_back_unless(connection.is_autocommit(), connection)?;
    if is_late {
        connection.pragma_update(None, "synchronous", "NORMAL")?;
    }
    let committed = alone(connection, operation);
    if is_late {
        roll_back_unless(connection.is_autocommit(), connection)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
    }
    committed
}

fn alone(connection: &Connection, operation: &mut dyn Operation) -> Result<bool, Problem> {
    begin(connection)?;
    if let Err(newer) = schema::refuse_newer(connection) {
        roll_back_unless(false, connection)?;
        return Err(newer);
    }
    if !operation.run(connection) {
        roll_back_unless(false, connection)?;
        return Ok(false);
    }
    let committed = execute(connection, "COMMIT");
    roll_back_unless(committed.is_ok(), connection)?;
    committed.map(|()| true)
}

fn begin(connection: &Connection) -> Result<(), Problem> {
    roll_back_unless(connection.is_autocommit(), connection)?;
    execute(connection, "BEGIN IMMEDIATE")
}

fn roll_back_unless(committed: bool, connection: &Connection) -> Result<(), Problem> {
    if committed || connection.is_autocommit() {
        Ok(())
    } else {
        execute(connection, "ROLLBACK")
    }
}

fn execute(connection: &Connection, statement: &str) -> Result<(), Problem> {
    connection.prepare_cached(statement)?.execute([])?;
    Ok(())
}
