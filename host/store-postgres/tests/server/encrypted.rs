//! Connections that nobody on the way can read.

use airlock_model::pending::Resolution;
use airlock_model::store::{BackendErrorKind, Stacks};
use airlock_store_suite::{PostgresServer, Sync};
use tokio::time::timeout;

use crate::faults::check_refusal;
use crate::{DEADLINE, claim, complete, connect, ids, push, session};

#[tokio::test]
async fn a_server_that_takes_encrypted_connections_alone_is_used_like_any_other() {
    let server = PostgresServer::new(Sync::Off);
    let authority = server.encrypt();
    let checked = |mode: &str| format!("?sslmode={mode}&sslrootcert={}", authority.display());
    let url = server.database_url();
    for settings in [
        String::new(),
        "?sslmode=require".to_owned(),
        checked("verify-ca"),
        checked("verify-full"),
    ] {
        let url = format!("{url}{settings}");
        let (here, there) = (connect(&url).await, connect(&url).await);
        let stack = session(&settings);
        let mut watch = there.watch(&stack);
        push(&here, &stack, &format!("action {settings}")).await;
        // Listening is a connection of its own.
        timeout(DEADLINE, watch.changed()).await.unwrap();
        let claimed = claim(&there, &stack, Resolution::apply("")).await;
        complete(&there, claimed).await;
        assert_eq!(ids(&here, &stack).await, [""; 0]);
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_encryption_is_said_at_once_and_what_to_do() {
    let server = PostgresServer::new(Sync::Off);
    let authority = server.encrypt();
    let authority = authority.display().to_string();
    let other = server.other_authority().display().to_string();
    let url = server.database_url();
    let by_name = url.replace("127.0.0.1", "localhost");
    use BackendErrorKind::*;
    for (url, kind, said) in [
        (
            format!("{url}?sslmode=disable"),
            Denied,
            "correct the user and `sslmode` in the address, or let the server's `pg_hba.conf` take",
        ),
        // The system's own authorities are asked.
        (
            format!("{url}?sslmode=verify-full"),
            Settings,
            "invalid peer certificate: UnknownIssuer; see `sslmode` in the address, and `sslrootcert`",
        ),
        (
            format!("{url}?sslmode=verify-full&sslrootcert={other}"),
            Settings,
            "invalid peer certificate",
        ),
        (
            format!("{by_name}?sslmode=verify-full&sslrootcert={authority}"),
            Settings,
            "certificate not valid for name \"localhost\"",
        ),
        (
            format!("{url}?sslmode=verify-full&sslrootcert=/no/such/file"),
            Settings,
            "a file that the address names can't be read: No such file or directory",
        ),
        (
            format!("{url}?sslmode=perhaps"),
            Settings,
            "unknown value \"perhaps\" for `ssl_mode`",
        ),
    ] {
        check_refusal(&url, kind, said).await;
    }
}
