// What the fuzz targets need is compiled for libFuzzer too.
#[cfg(test)]
mod answers;
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
mod model;
mod script;
#[cfg(test)]
mod strangers;
#[cfg(test)]
mod two_hosts;
