//! The tables' place in the README.

use std::fs;
use std::path::Path;

use anyhow::Context;

const BEGIN: &str = "<!-- measured: written by UPDATE_EXPECT=1 tests/beside/run -->\n";
const END: &str = "<!-- measured: end -->\n";

/// Writes them there.
pub fn update(measured: &str) -> anyhow::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = fs::read_to_string(&path)?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = parts.context("README.md has no place for the tables")?;
    fs::write(&path, format!("{before}{BEGIN}\n{measured}{END}{after}"))?;
    Ok(())
}
