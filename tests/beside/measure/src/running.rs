//! Those that run all the time, each in a process of its own.

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::library::Library;
use crate::place::{Place, params, params_for_nothing};
use crate::rounds::Entry;
use crate::served::{self, Client, Server};

/// What ratios of libraries are about.
pub const LIBRARY: &str = "Airlock, library";
/// And those of servers.
pub const STDIO: &str = "`airlock serve`, stdio";

const HTTP: &str = "`airlock serve --http`";
const EXTISM: &str = "Extism, an instance that is kept";
const PLAIN: &str = "plain wasmtime, a fresh store";
const RMCP: &str = "rmcp server, stdio, no sandbox";
const PYTHON: &str = "Python MCP server, stdio, no sandbox";

/// All of them.
pub struct Contestants {
    extism: RefCell<Library>,
    plain: RefCell<Library>,
    airlock: RefCell<Library>,
    rmcp: (Server, Client),
    python: (Server, Client),
    stdio: (Server, Client),
    http: (Server, Client),
}

impl Contestants {
    /// Starts all, and sees that the servers say the same.
    pub fn start(place: &Place, runtime: &Arc<Runtime>) -> anyhow::Result<Self> {
        let serving = |command| -> anyhow::Result<(Server, Client)> {
            let (server, client) = served::start(runtime, place, command)?;
            client.check()?;
            Ok((server, client))
        };
        let http = served::start_http(runtime, place)?;
        let conversation = http.connect(runtime)?;
        conversation.check()?;
        Ok(Self {
            extism: Library::extism(place)?.into(),
            plain: Library::plain(place)?.into(),
            airlock: Library::airlock(place)?.into(),
            rmcp: serving(served::rmcp(place))?,
            python: serving(served::python(place))?,
            stdio: serving(served::airlock(place))?,
            http: (http, conversation),
        })
    }

    /// Equal work: it reads the folder, and says that there is nothing to do.
    pub fn of_nothing(&self) -> Vec<Entry<'_>> {
        vec![
            asked(EXTISM, &self.extism, "nothing"),
            asked(PLAIN, &self.plain, "nothing"),
            asked(LIBRARY, &self.airlock, "nothing"),
            called(RMCP, &self.rmcp.1, params_for_nothing()),
            called(PYTHON, &self.python.1, params_for_nothing()),
            called(STDIO, &self.stdio.1, params_for_nothing()),
            called(HTTP, &self.http.1, params_for_nothing()),
        ]
    }

    /// Others say what they would do; with Airlock it waits for a decision too, and is tried out
    /// meanwhile.
    pub fn of_previews(&self) -> Vec<Entry<'_>> {
        let (stdio, http) = (&self.stdio.1, &self.http.1);
        vec![
            asked(EXTISM, &self.extism, "call"),
            asked(PLAIN, &self.plain, "call"),
            asked(LIBRARY, &self.airlock, "call"),
            asked(
                "Airlock, library, `Rehearse::Never`",
                &self.airlock,
                "unrehearsed",
            ),
            asked(
                "Airlock, library, and its discard",
                &self.airlock,
                "discarded",
            ),
            asked(
                "Airlock, library, the same in SQLite",
                &self.airlock,
                "durable",
            ),
            called(RMCP, &self.rmcp.1, params()),
            called(PYTHON, &self.python.1, params()),
            Entry::new(STDIO, |count| stdio.previews(count)),
            Entry::new("`airlock serve`, stdio, and its discard", |count| {
                stdio.previews_and_discards(count)
            }),
            Entry::new(HTTP, |count| http.previews(count)),
            Entry::new("`airlock serve --http`, and its discard", |count| {
                http.previews_and_discards(count)
            }),
        ]
    }

    /// Of libraries; a server's is its process.
    pub fn of_instances(&self) -> Vec<Entry<'_>> {
        vec![
            asked("Extism, of compiled code", &self.extism, "instance"),
            asked(
                "Extism, the same from wasmtime's pool",
                &self.extism,
                "pooled",
            ),
            asked(PLAIN, &self.plain, "instance"),
            asked(LIBRARY, &self.airlock, "instance"),
        ]
    }

    /// Likewise.
    pub fn of_cold_loads(&self) -> Vec<Entry<'_>> {
        vec![
            asked("Extism", &self.extism, "cold"),
            asked("plain wasmtime", &self.plain, "cold"),
            asked(LIBRARY, &self.airlock, "cold"),
        ]
    }

    /// Likewise.
    pub fn of_cached_loads(&self) -> Vec<Entry<'_>> {
        vec![
            asked("Extism, wasmtime's cache", &self.extism, "cached"),
            asked("plain wasmtime, a mapped file", &self.plain, "cached"),
            asked(LIBRARY, &self.airlock, "cached"),
        ]
    }
}

fn asked<'a>(name: &'static str, library: &'a RefCell<Library>, what: &'static str) -> Entry<'a> {
    Entry::new(name, move |count| library.borrow_mut().work(what, count))
}

fn called<'a>(name: &'static str, client: &'a Client, params: Value) -> Entry<'a> {
    Entry::new(name, move |count| client.calls(&params, count))
}
