//! What the environment asks of a test: more rounds than in each run, or another seed.

use std::str::FromStr;

/// What the variable says, where it is set.
///
/// # Panics
/// Where that can't be read.
pub fn asked<T: FromStr>(variable: &str) -> Option<T> {
    let text = std::env::var(variable).ok()?;
    let asked = text.parse().ok();
    Some(asked.unwrap_or_else(|| panic!("{variable} is {text:?}")))
}
