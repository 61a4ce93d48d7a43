//! What is resident for each instance or conversation that nobody uses, seen from outside of the
//! process.

use std::fs;
use std::sync::Arc;

use anyhow::Context;
use tokio::runtime::Runtime;

use crate::library::Library;
use crate::place::{Place, params_for_nothing};
use crate::rounds::Spread;
use crate::served;

/// How many are held, beside a first one.
pub const HELD: u32 = 100;

/// What one takes, in bytes.
pub struct Memory {
    /// One of what.
    pub name: &'static str,
    /// What one more takes, where there can be more in a process.
    pub another: Option<Spread>,
    /// The whole process with one.
    pub first: Spread,
}

/// Fresh processes each round, all of them in turn.
pub fn measure(
    rounds: usize,
    place: &Place,
    runtime: &Arc<Runtime>,
) -> anyhow::Result<Vec<Memory>> {
    type Ask<'a> = Box<dyn Fn() -> anyhow::Result<[f64; 2]> + 'a>;
    let library = |start: fn(&Place) -> anyhow::Result<Library>| {
        move || -> anyhow::Result<[f64; 2]> {
            let mut library = start(place)?;
            library.work("hold", 1)?;
            let first = resident(library.id())?;
            library.work("hold", HELD)?;
            Ok([first, resident(library.id())?])
        }
    };
    let served = |command: fn(&Place) -> std::process::Command| {
        move || -> anyhow::Result<[f64; 2]> {
            let (server, client) = served::start(runtime, place, command(place))?;
            client.calls(&params_for_nothing(), 1)?;
            let first = resident(server.id())?;
            server.stop(client)?;
            Ok([first, first])
        }
    };
    let http = || -> anyhow::Result<[f64; 2]> {
        let server = served::start_http(runtime, place)?;
        let mut clients = Vec::new();
        let mut connect = |count: u32| {
            (0..count).try_for_each(|_| {
                let client = server.connect(runtime)?;
                client.calls(&params_for_nothing(), 1)?;
                clients.push(client);
                anyhow::Ok(())
            })
        };
        connect(1)?;
        let first = resident(server.id())?;
        connect(HELD)?;
        Ok([first, resident(server.id())?])
    };
    let asks: [(&'static str, Ask); 7] = [
        ("Extism, an instance", Box::new(library(Library::extism))),
        (
            "plain wasmtime, an instance",
            Box::new(library(Library::plain)),
        ),
        (
            "Airlock, library, a session",
            Box::new(library(Library::airlock)),
        ),
        ("rmcp server, no sandbox", Box::new(served(served::rmcp))),
        (
            "Python MCP server, no sandbox",
            Box::new(served(served::python)),
        ),
        ("`airlock serve`, stdio", Box::new(served(served::airlock))),
        ("`airlock serve --http`, a conversation", Box::new(http)),
    ];
    let mut found: Vec<Vec<[f64; 2]>> = vec![Vec::new(); asks.len()];
    for _ in 0..rounds {
        for ((name, ask), found) in asks.iter().zip(&mut found) {
            found.push(ask().with_context(|| (*name).to_owned())?);
        }
    }
    let all = asks.iter().zip(found).map(|((name, _), found)| {
        let grown = found
            .iter()
            .map(|[first, all]| (all - first) / f64::from(HELD));
        Memory {
            name,
            another: found
                .iter()
                .any(|it| it[0] != it[1])
                .then(|| Spread::of(grown)),
            first: Spread::of(found.iter().map(|it| it[0])),
        }
    });
    Ok(all.collect())
}

/// A process's memory in bytes, with its share of what is shared: pages of a memory's first
/// contents are common to all instances until they write to them.
fn resident(process: u32) -> anyhow::Result<f64> {
    let told = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let line = told.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kibibytes.context("Linux tells it")?.parse::<f64>()? * 1024.0)
}
