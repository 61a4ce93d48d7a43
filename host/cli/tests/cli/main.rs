//! The real program, as a shell runs it, with real guests.

#![allow(clippy::print_stderr, reason = "it passes on what a server says")]

mod airlock;
#[cfg(feature = "ast-edit")]
mod asked;
mod ast_edit;
mod ast_edit_hostile;
mod basics;
mod building;
mod commands;
mod compiling;
#[cfg(unix)]
mod configuration;
#[cfg(target_os = "linux")]
mod control;
mod counted;
mod decisions;
mod denials;
mod documents;
mod exit_codes;
mod faults;
mod fit;
mod foreign;
mod grants;
mod guides;
#[cfg(unix)]
mod hints;
#[cfg(target_os = "linux")]
mod hostile;
mod inspect;
#[cfg(unix)]
mod installing;
mod interrupted;
mod json;
mod later;
#[cfg(unix)]
mod listings;
mod logs;
mod mistakes;
#[cfg(unix)]
mod new_choices;
mod new_projects;
mod new_without;
mod packages;
mod pages;
mod params;
mod part;
mod patch;
#[cfg(unix)]
mod pipes;
mod programs;
mod rehearsing;
mod resolving;
mod rules;
#[cfg(all(unix, feature = "serve"))]
mod serving;
mod short_ids;
mod stores;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod syncs;
mod terminal;
mod test_building;
mod test_cases;
mod test_kit;
mod test_untried;
mod text;
mod together;
mod toolchain;
mod typed_params;
mod undo;
mod volatile;
mod waiting;
mod workspaces;
