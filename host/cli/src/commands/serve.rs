//! `airlock serve`: the tools, for a client of the Model Context Protocol.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, stdin};
use std::time::{Duration, SystemTime};

use airlock_desk::configuration::Grant;
use airlock_desk::discard;
use airlock_desk::plugin::{Loaded, Source};
use airlock_desk::session::SessionChoice;
use airlock_desk::store::{self, Named, Store, WhenMissing};
use airlock_host::pending::SessionId;
use airlock_host::policy::Rehearse;
use airlock_host::{Engine, Limits, Policy, Session, SessionBuilder};
use airlock_render::{Block, Line, Role};
use airlock_serve::{Decide, ServeError, Server};
use tokio::time::timeout;

use crate::bundled::CATALOG;
use crate::failure::{Exit, Failure};
use crate::load;
use crate::rules;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};
use crate::terminal::progress::Progress;

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
}

/// How long calls that were cancelled are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a preview is discarded that its tool keeps in memory only.
const REASON: &str =
    "undecided when `airlock serve` ended, and the tool keeps its preview only in memory";

/// Standard output is the protocol's.
pub async fn serve(request: &Request, verbose: u8) -> Result<Exit, Failure> {
    let interrupt = Interrupt::watch();
    let progress = Progress::new(verbose);
    let engine = load::engine(request.limits.clone())?;
    let loaded = load_all(request, &engine, &interrupt, &progress).await?;
    let store = store::open(&request.store, WhenMissing::Make).await?;
    let server = open(request, &loaded, &engine, &store).await?;
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
    let pending = server.session().pending().await?;
    let pending: Vec<_> = pending.iter().map(|it| it.action.clone()).collect();
    discard::discard_volatile(server.session(), &store, &pending, REASON).await?;
    served.map_err(failure)?;
    Ok(match interrupt.happened() {
        true => Exit::Interrupted,
        false => Exit::Done,
    })
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

async fn open(
    request: &Request,
    loaded: &[Loaded],
    engine: &Engine,
    store: &Store,
) -> Result<Server, Failure> {
    let id = own_session(request, store);
    let workspace = airlock_desk::session::real_path(request.session.workspace());
    let mut others = airlock_desk::session::open_at(&workspace, store).await?;
    others.retain(|record| record.session != id);
    let others = others.len();
    let session = Session::builder()
        .id(id)
        .workspace(&workspace)
        .store(store.pending())
        .limits(request.limits.clone())
        .engine(engine);
    let session = match request.expires {
        Some(time) => session.pending_expires_after(time),
        None => session,
    };
    let session = bind(request, loaded, session);
    let choice = store.choice().clone();
    // A model is told of it, whose shell may be anywhere.
    let command = move |words: &[&str]| choice.command_anywhere(words);
    let judge = rules::judge(Some(&workspace), store)?;
    Server::open(session, request.decides, judge, others, command).map_err(failure)
}

fn bind(request: &Request, loaded: &[Loaded], session: SessionBuilder) -> SessionBuilder {
    let mut policy = Policy::default();
    if let Some(rehearse) = request.rehearse {
        policy = policy.with_rehearse(rehearse);
    }
    for grant in &request.grants {
        policy = grant.add_to(policy);
    }
    loaded
        .iter()
        .fold(session, |session, it| it.bind_to(session, policy.clone()))
}

/// Each conversation has a stack of its own, unless it was given a name.
fn own_session(request: &Request, store: &Store) -> SessionId {
    let of_workspace = request.session.id(store);
    match &request.session.session {
        Some(_) => of_workspace,
        None => {
            let own = SessionId::generate(SystemTime::now());
            SessionId::from(format!("{of_workspace}#{own}"))
        }
    }
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
