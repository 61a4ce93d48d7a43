//! Runs a command while a PostgreSQL server is there for all the test processes that it starts.
//!
//! Usage: with_postgres COMMAND [ARGUMENT...]

use std::env;
use std::process::{Command, ExitCode};

use airlock_store_suite::{PostgresServer, SHARED_SERVER, Sync};

fn main() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: with_postgres COMMAND [ARGUMENT...]");
        return ExitCode::from(2);
    };
    let server = PostgresServer::new(Sync::Off);
    let mut command = Command::new(&program);
    command.args(words).env(SHARED_SERVER, server.address());
    match command.status() {
        Ok(status) => ExitCode::from(status.code().map_or(1, |code| code.clamp(0, 255) as u8)),
        Err(error) => {
            eprintln!("can't run {}: {error}", program.display());
            ExitCode::FAILURE
        }
    }
}
