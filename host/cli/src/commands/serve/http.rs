//! `airlock serve --http`.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use airlock_desk::store::Location;
use airlock_host::cancel::CancellationToken;
use airlock_render::{Block, Line, Role};
use airlock_serve::http::{HttpServer, PATH};
use tokio::net::TcpListener;

use super::setup::Setup;
use super::{OverHttp, failure, reloading, tell_of_rejected, terminated, tokens};
use crate::failure::Failure;
use crate::rules::below;
use crate::terminal::hangup::Hangups;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};

/// Raises the limit of open files, because each connection takes one. Call this before anything
/// else reads the limit.
pub fn prepare(over: &OverHttp) {
    #[cfg(unix)]
    if let Err(error) = raise_descriptors() {
        tracing::warn!("the limit of open files stays as it is: {error}");
    }
    if !over.address.ip().is_loopback() {
        let message = "others can reach this address, and nothing is encrypted, not even tokens: put a proxy with TLS in front, or listen on 127.0.0.1";
        show_on_stderr(&Block::new().own_named(Role::Error, "warning:", message, 2));
    }
}

/// Returns the most connections that leave enough file descriptors for other work. Guests may take
/// half of them.
#[cfg(unix)]
fn most_connections() -> usize {
    use rustix::process::{Resource, getrlimit};
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit / 4).unwrap_or(usize::MAX)
    })
}

#[cfg(not(unix))]
fn most_connections() -> usize {
    usize::MAX
}

#[cfg(unix)]
fn raise_descriptors() -> io::Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// Serves until it is stopped. Prints the address to standard error, and nothing else.
pub async fn serve(
    over: &OverHttp,
    setup: &Setup,
    interrupt: &Interrupt,
    hangups: Hangups,
) -> Result<(), Failure> {
    let (tokens, file) = tokens::read_or_make(over.token_file.as_deref())?;
    check_secret(&file, setup)?;
    let (listener, address) = listen(over.address).await?;
    let mut settings = over.settings.clone();
    settings.max_connections = settings.max_connections.min(most_connections());
    let server = HttpServer::new(setup.clone(), tokens, &settings, address);
    let server = Arc::new(server.map_err(failure)?);
    tell_of_rejected(server.listing().session());
    on_stderr(Line::from(format!("listening on http://{address}{PATH}")));
    on_stderr(Line::from(format!("token: {}", file.display())));
    let stop: CancellationToken = interrupt.token().child_token();
    let reloading = {
        let server = Arc::clone(&server);
        move || server.rebind()
    };
    let listed = server.listing().session();
    let until_stopped = async {
        tokio::select! {
            () = terminated() => stop.cancel(),
            () = reloading::on_hangup(hangups, setup, listed, reloading) => stop.cancel(),
            () = stop.cancelled() => {}
        }
    };
    tokio::join!(server.serve(listener, &stop), until_stopped);
    Ok(())
}

/// Checks that the files of tokens and of the store are outside of the workspace, which the tools
/// of all principals can read.
fn check_secret(tokens: &Path, setup: &Setup) -> Result<(), Failure> {
    let store = match &setup.store().choice().location {
        Location::File(store) => Some((store.as_path(), "the store", "--store")),
        _ => None,
    };
    let tokens = (tokens, "the file of tokens", "--token-file");
    for (file, what, option) in [tokens].into_iter().chain(store) {
        if below(setup.workspace(), file).is_some() {
            let message = format!(
                "{what} {} is in the workspace, where the tools of every principal could read it",
                file.display()
            );
            let hint = format!("choose another workspace, or another file with `{option}`");
            return Err(Failure::usage(message).with_hint(hint));
        }
    }
    Ok(())
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let listening = async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok::<_, io::Error>((listener, address))
    };
    listening.await.map_err(|error| {
        let failure = Failure::host(format!("could not listen on {address}: {error}"));
        match error.kind() {
            io::ErrorKind::AddrInUse => failure.with_hint(
                "another program listens there, perhaps another `airlock serve`: choose another port, or 0 for any that is free",
            ),
            _ => failure,
        }
    })
}
