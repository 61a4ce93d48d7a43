//! `airlock serve`: serves the tools to clients of the Model Context Protocol.

mod http;
mod plugins;
mod reloading;
mod setup;
mod tokens;

use std::ffi::OsString;
use std::io::{IsTerminal, stdin};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use airlock_desk::configuration::Grant;
use airlock_desk::lock::Locks;
use airlock_desk::session::SessionChoice;
use airlock_desk::store::{self, StoreOptions, WhenMissing};
use airlock_host::policy::Rehearse;
use airlock_host::{Limits, Session};
use airlock_render::{Block, Line, Role};
use airlock_serve::http::HttpSettings;
use airlock_serve::{Decide, ServeError};
use tokio::time::{sleep, timeout};

use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::hangup::Hangups;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};
use crate::terminal::progress::Progress;
use setup::Setup;

/// The arguments of the command.
pub struct Request {
    /// The plugins. Empty for all bundled ones.
    pub plugins: Vec<OsString>,
    /// The plugins from the command line alone, which take precedence over all files.
    pub given_plugins: Vec<OsString>,
    pub decides: Decide,
    pub session: SessionChoice,
    pub limits: Limits,
    pub expires: Option<Duration>,
    pub rehearse: Option<Rehearse>,
    pub grants: Vec<Grant>,
    pub locks: Locks,
    /// The grant of the command line, which overrides the configuration's.
    pub given_grant: Option<Grant>,
    /// True to skip calls of other tools while an action is pending.
    pub skip_while_pending: bool,
    /// The time that a call waits for a person, if set.
    pub answer_within: Option<Duration>,
    pub store: StoreOptions,
    /// The HTTP options, or `None` for standard input and output.
    pub http: Option<OverHttp>,
}

/// The options for HTTP.
pub struct OverHttp {
    pub address: SocketAddr,
    /// The file of tokens, or `None` for the user's default one.
    pub token_file: Option<PathBuf>,
    pub settings: HttpSettings,
    /// The memory in bytes that the tools of all principals may use together, if configured.
    pub guest_memory: Option<usize>,
}

/// The time to wait for cancelled calls.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(30);

/// The time that the client has to learn that its subscriptions end, before the process exits.
const SUBSCRIPTION_GRACE: Duration = Duration::from_secs(3);

/// Serves until the client leaves or the operator stops it.
pub async fn serve(request: Request, verbose: u8) -> Result<Exit, Failure> {
    let interrupt = Interrupt::watch();
    let hangups = Hangups::watch();
    let progress = Progress::new(verbose);
    if let Some(over) = &request.http {
        http::prepare(over);
    }
    let limits = request.limits.clone();
    // Over standard input and output there is one conversation.
    let engine = match &request.http {
        Some(over) => load::engine_for_many(limits, over.guest_memory)?,
        None => load::engine(limits)?,
    };
    let plugins = plugins::load(
        &request.plugins,
        &request.locks,
        &engine,
        &interrupt,
        &progress,
    )
    .await?;
    let store = store::open(&request.store, WhenMissing::Make).await?;
    let setup = Setup::new(request, plugins, engine, store)?;
    match &setup.request.http {
        None => over_stdio(&setup, &interrupt, hangups).await?,
        Some(over) => http::serve(over, &setup, &interrupt, hangups).await?,
    }
    Ok(if interrupt.happened() {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

/// Serves over standard input and output. Only protocol messages may go to standard output.
async fn over_stdio(setup: &Setup, interrupt: &Interrupt, hangups: Hangups) -> Result<(), Failure> {
    let server = setup.open_alone().await?;
    tell_of_rejected(server.session());
    if stdin().is_terminal() {
        let message = "note: this speaks with an MCP client, which starts it by itself: put `airlock serve` into the client's configuration; Ctrl-D ends it";
        on_stderr(Line::from(message).hanging(2));
    }
    let stop = interrupt.token().child_token();
    let reloading = {
        let (setup, server) = (setup.clone(), server.clone());
        move || setup.rebind(&server)
    };
    let until_stopped = async {
        tokio::select! {
            () = terminated() => {}
            () = reloading::on_hangup(hangups, setup, server.session(), reloading) => {}
        }
        stop.cancel();
        sleep(SUBSCRIPTION_GRACE).await;
    };
    let served = tokio::select! {
        served = server.serve_stdio(&stop) => served,
        () = until_stopped => Ok(()),
    };
    stop.cancel();
    if timeout(CANCEL_TIMEOUT, server.idle()).await.is_err() {
        tracing::warn!("a call goes on after the connection has ended, and is not waited for");
    }
    setup.end(&server).await?;
    served.map_err(failure)
}

/// Waits until the process is asked to terminate, which some clients do instead of closing a
/// stream.
#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            terminate.recv().await;
        }
        Err(error) => {
            tracing::warn!("can't handle SIGTERM: {error}");
            std::future::pending().await
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}

fn tell_of_rejected(session: &Session) {
    for rejected in session.rejected() {
        let text = format!("left out: {rejected}");
        show_on_stderr(&Block::new().own_named(Role::Error, "warning:", &text, 2));
    }
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Session(error) => Failure::from(error),
        error => Failure::host(error.to_string()),
    }
}
