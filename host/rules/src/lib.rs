#![doc = include_str!("../README.md")]

mod control;
mod judge;
mod path;
mod plugin;
mod rule;
mod size;
mod surroundings;
mod totals;

pub use airlock_model::pattern::Pattern;
pub use control::{Class, Control, ControlFile, ControlFiles, built_in, is_for_builds};
pub use judge::{Because, By, Judgement, RuleSet, Rules, Subject, quoted};
pub use plugin::{PluginName, resolve_names, resolve_plugins};
pub use rule::{Budget, Rule, Verdict};
pub use size::Size;
pub use surroundings::{Empty, Entry, Inside, Led, Links, OfGit, Surroundings};
pub use totals::Totals;
