#![doc = include_str!("../README.md")]

mod control;
mod judge;
mod pattern;
mod plugin;
mod rule;
mod size;
mod totals;

pub use control::{BUILT_IN, Control, ControlFile};
pub use judge::{Because, By, Inside, Judgement, RuleSet, Rules, Subject};
pub use pattern::Pattern;
pub use plugin::{PluginName, resolve_plugins};
pub use rule::{Budget, Rule, Verdict};
pub use size::Size;
pub use totals::Totals;
