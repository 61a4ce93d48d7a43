//! An operator's grants for plugins.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use airlock_host::Policy;
use airlock_host::policy::{Pattern, VariableName};
use airlock_rules::PluginName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plugin::Loaded;

/// What plugins may do, in place of the default: to read the whole workspace, and to change it
/// while applying. The first grant that is about a plugin counts for it. A plugin never gets more
/// than it wants
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Grant {
    /// The plugins that get it; without any, all
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<PluginName>,
    /// The files that `plugins` names. A plugin from one of them has the grant, whatever its bytes
    /// are by now.
    #[serde(skip)]
    pub(super) files: Vec<PathBuf>,
    /// The paths that can be read. Without it, nothing; without `change` either, everything
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<Pattern>>,
    /// The paths that can be changed while applying, and read. Without it, nothing; without `read`
    /// either, everything
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Vec<Pattern>>,
    /// The environment variables that plugins see
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub environment: BTreeSet<VariableName>,
    /// Clocks run while an action is applied. Otherwise they stand as in its rehearsal
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub real_time: bool,
    /// Randomness is fresh when an action is applied. Otherwise it is the same as in its rehearsal
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh_randomness: bool,
}

/// A grant of one thing, as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantWord {
    /// `read=PATTERN`; without a pattern, nothing.
    Read(Option<Pattern>),
    /// `change=PATTERN`; without a pattern, nothing.
    Change(Option<Pattern>),
    /// `environment=NAME`
    Environment(VariableName),
    /// `real-time`
    RealTime,
    /// `fresh-randomness`
    FreshRandomness,
}

impl FromStr for GrantWord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pattern = |text: &str| match text {
            "" => Ok(None),
            text => Pattern::new(text).map(Some),
        };
        match text.split_once('=') {
            Some(("read", paths)) => pattern(paths).map(GrantWord::Read),
            Some(("change", paths)) => pattern(paths).map(GrantWord::Change),
            Some(("environment", name)) => {
                VariableName::try_from(name.to_owned()).map(GrantWord::Environment)
            }
            None if text == "real-time" => Ok(GrantWord::RealTime),
            None if text == "fresh-randomness" => Ok(GrantWord::FreshRandomness),
            _ => Err(
                "there are read=PATH, change=PATH, environment=NAME, real-time and fresh-randomness"
                    .to_owned(),
            ),
        }
    }
}

impl Grant {
    /// Returns the grant for all plugins that these words make; `None` without any.
    pub fn of_words(words: impl IntoIterator<Item = GrantWord>) -> Option<Self> {
        let mut words = words.into_iter().peekable();
        words.peek()?;
        let mut grant = Self::default();
        for word in words {
            match word {
                GrantWord::Read(paths) => grant.read.get_or_insert_default().extend(paths),
                GrantWord::Change(paths) => grant.change.get_or_insert_default().extend(paths),
                GrantWord::Environment(name) => drop(grant.environment.insert(name)),
                GrantWord::RealTime => grant.real_time = true,
                GrantWord::FreshRandomness => grant.fresh_randomness = true,
            }
        }
        Some(grant)
    }

    /// Returns the policy under these grants of a plugin that was loaded by this name or path.
    /// Native tools are part of the host and have the default policy.
    pub fn policy(grants: &[Self], loaded: &Loaded, named: &OsStr) -> Policy {
        let Loaded::Plugin(plugin) = loaded else {
            return Policy::default();
        };
        let digest = PluginName::Digest(plugin.digest());
        let file = Path::new(named).canonicalize().ok();
        let is_from = |it: &PathBuf| it.canonicalize().ok() == file;
        let is_about = |it: &&Self| {
            it.plugins.is_empty()
                || it.plugins.contains(&digest)
                || (file.is_some() && it.files.iter().any(is_from))
        };
        grants
            .iter()
            .find(is_about)
            .map_or_else(Policy::default, Self::to_policy)
    }

    fn to_policy(&self) -> Policy {
        let mut policy = Policy::default().with_environment(self.environment.iter().cloned());
        if self.read.is_some() || self.change.is_some() {
            let paths = |paths: &Option<Vec<Pattern>>| paths.clone().unwrap_or_default();
            policy = policy.with_paths(&paths(&self.read), &paths(&self.change));
        }
        policy.real_time = self.real_time;
        policy.fresh_randomness = self.fresh_randomness;
        policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_a_grant() {
        let check = |words: &[&str], told: &str| {
            let words = words.iter().map(|it| it.parse::<GrantWord>().unwrap());
            let grant = Grant::of_words(words).unwrap();
            let policy = grant.to_policy().to_string();
            let (granted, _) = policy.split_once("; scratch").unwrap();
            assert_eq!(granted, told, "{grant:?}");
        };
        check(&["real-time"], "workspace: read, and change while applying");
        check(&["read=docs/"], "workspace: read docs/");
        check(&["read=**"], "workspace: read");
        check(
            &["change=docs/", "change=*.md"],
            "workspace: read docs/, *.md, and change docs/, *.md while applying",
        );
        check(
            &["read=**", "change=docs/"],
            "workspace: read, and change docs/ while applying",
        );
        check(&["read="], "workspace: none");
        assert_eq!(Grant::of_words([]), None);
        for wrong in ["network", "read=/etc", "environment=A B", "real-time=yes"] {
            assert!(wrong.parse::<GrantWord>().is_err(), "{wrong}");
        }
    }
}
