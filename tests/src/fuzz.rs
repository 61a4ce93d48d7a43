//! What is tried with bytes that nobody checked. Each function takes any bytes, and panics where
//! the host breaks a rule: it must not panic itself, and what comes out must be what is promised.
//!
//! `tests/tests/fuzz` calls them with bytes that proptest makes; `tests/fuzz` has the same targets
//! for libFuzzer.

mod cache;
mod component;
mod guest;
mod rendering;
mod rows;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::runtime::{Builder, Runtime};

pub use cache::cache_entry;
pub use component::{component, load};
pub use guest::{definitions, output};
pub use rendering::rendering;
pub use rows::store_rows;
pub use schema::schema;

/// A target's name and function.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 8] = [
    ("component", component),
    ("load", load),
    ("definitions", definitions),
    ("schema", schema),
    ("output", output),
    ("rendering", rendering),
    ("cache_entry", cache_entry),
    ("store_rows", store_rows),
];

/// Bytes to begin with, for a target: they lead further in than random ones.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "component" | "load" => component::seeds(),
        "cache_entry" => cache::seeds(),
        "definitions" | "output" => guest::seeds(),
        "schema" => schema::seeds(),
        "store_rows" => rows::seeds(),
        _ => rendering::seeds(),
    }
}

/// What is kept of a target's corpus: inputs that reached different code. A line each, in base64.
///
/// # Panics
/// Where a line is something else.
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(kept(target)).unwrap_or_default();
    let lines = text.lines().map(|line| STANDARD.decode(line));
    lines.map(|input| input.expect("base64")).collect()
}

/// Keeps these inputs, and no others.
///
/// # Errors
/// Where the file can't be written.
pub fn keep(target: &str, inputs: &[Vec<u8>]) -> std::io::Result<()> {
    let lines = inputs.iter().map(|input| STANDARD.encode(input) + "\n");
    std::fs::write(kept(target), lines.collect::<String>())
}

fn kept(target: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    folder.join(target).with_extension("base64")
}

/// One runtime for all runs.
fn block_on<F: IntoFuture>(future: F) -> F::Output {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
        let mut runtime = Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build();
        runtime.expect("a runtime")
    });
    RUNTIME.block_on(future.into_future())
}

/// Takes values off some bytes, and zeros where there are no more.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// So many bytes as the first of them says, times `unit`.
    fn some(&mut self, unit: usize) -> &'a [u8] {
        let length = usize::from(self.byte()) * unit;
        let (some, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        some
    }

    fn rest(self) -> &'a [u8] {
        self.0
    }
}
