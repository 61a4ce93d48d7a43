//! `airlock serve`: the tools, for clients of the Model Context Protocol.

mod http;
mod setup;
mod tokens;

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, stdin};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use airlock_desk::configuration::Grant;
use airlock_desk::plugin::{Loaded, Source};
use airlock_desk::session::SessionChoice;
use airlock_desk::store::{self, Named, WhenMissing};
use airlock_host::policy::Rehearse;
use airlock_host::{Engine, Limits, Session};
use airlock_render::{Block, Line, Role};
use airlock_serve::http::HttpSettings;
use airlock_serve::{Decide, ServeError};
use tokio::time::timeout;

use crate::bundled::CATALOG;
use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};
use crate::terminal::progress::Progress;
use setup::Setup;

/// The arguments of the command.
pub struct Request {
    /// None for all that are bundled.
    pub plugins: Vec<OsString>,
    pub decides: Decide,
    pub session: SessionChoice,
    pub limits: Limits,
    pub expires: Option<Duration>,
    pub rehearse: Option<Rehearse>,
    pub grants: Vec<Grant>,
    pub store: Named,
    /// None over standard input and output.
    pub http: Option<OverHttp>,
}

/// Serving over HTTP.
pub struct OverHttp {
    pub address: SocketAddr,
    /// None for the user's own.
    pub token_file: Option<PathBuf>,
    pub settings: HttpSettings,
}

/// How long calls that were cancelled are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves until the client goes, or the operator stops it.
pub async fn serve(request: Request, verbose: u8) -> Result<Exit, Failure> {
    let interrupt = Interrupt::watch();
    let progress = Progress::new(verbose);
    if let Some(over) = &request.http {
        http::prepare(over);
    }
    let engine = load::engine(request.limits.clone())?;
    let loaded = load_all(&request, &engine, &interrupt, &progress).await?;
    let store = store::open(&request.store, WhenMissing::Make).await?;
    let setup = Setup::new(request, loaded, engine, store)?;
    match &setup.request.http {
        None => over_stdio(&setup, &interrupt).await?,
        Some(over) => http::serve(over, &setup, &interrupt).await?,
    }
    Ok(match interrupt.happened() {
        true => Exit::Interrupted,
        false => Exit::Done,
    })
}

/// Standard output is the protocol's.
async fn over_stdio(setup: &Setup, interrupt: &Interrupt) -> Result<(), Failure> {
    let server = setup.open_alone().await?;
    tell_of_rejected(server.session());
    if stdin().is_terminal() {
        let told = "note: this speaks with an MCP client, which starts it by itself: put `airlock serve` into the client's configuration; Ctrl-D ends it";
        on_stderr(Line::from(told).hanging(2));
    }
    let stop = interrupt.token().child_token();
    let served = tokio::select! {
        served = server.serve_stdio(&stop) => served,
        () = terminated() => Ok(()),
    };
    stop.cancel();
    if timeout(PATIENCE, server.idle()).await.is_err() {
        tracing::warn!("a call goes on after the connection has ended, and is not waited for");
    }
    setup.end(&server).await?;
    served.map_err(failure)
}

/// Until the process is asked to end, as clients do that close no stream.
#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            terminate.recv().await;
        }
        Err(error) => {
            tracing::warn!("nobody watches for SIGTERM: {error}");
            std::future::pending().await
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}

async fn load_all(
    request: &Request,
    engine: &Engine,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Vec<Loaded>, Failure> {
    let bundled = CATALOG.all().iter().map(|it| OsStr::new(it.name));
    let named: Vec<&OsStr> = match request.plugins.as_slice() {
        [] => bundled.collect(),
        named => named.iter().map(OsString::as_os_str).collect(),
    };
    let mut all = Vec::with_capacity(named.len());
    for plugin in named {
        let source = Source::find(CATALOG, plugin)?;
        let what = format!("Compiling {}…", source.name());
        let loading = progress.during(what, source.load(|| Ok(engine.clone())));
        match interrupt.token().run_until_cancelled(loading).await {
            Some(loaded) => all.push(loaded?),
            None => return Err(Failure::interrupted()),
        }
    }
    Ok(all)
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
