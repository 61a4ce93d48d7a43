// What the fuzz targets need is compiled for libFuzzer too.
#[cfg(test)]
mod answers;
#[cfg(test)]
mod attributes;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod conflicts;
mod crash;
#[cfg(test)]
mod faults_of_others;
#[cfg(test)]
mod file_systems;
pub mod fuzz;
#[cfg(test)]
mod merges;
mod model;
#[cfg(test)]
mod part;
#[cfg(test)]
mod power;
#[cfg(test)]
mod reach;
mod script;
#[cfg(test)]
mod strangers;
#[cfg(test)]
mod together;
#[cfg(test)]
mod two_hosts;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod undo_as_git;
#[cfg(test)]
mod undo_kept;
#[cfg(test)]
mod undo_merged;
#[cfg(test)]
mod writers;

/// What a variable of the environment asks of a test, where it is set.
fn from_environment<T: std::str::FromStr>(variable: &str) -> Option<T> {
    let text = std::env::var(variable).ok()?;
    let asked = text.parse().ok();
    Some(asked.unwrap_or_else(|| panic!("{variable} is {text:?}")))
}
