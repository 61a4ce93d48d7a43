//! An operator's grants for plugins.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use airlock_host::Policy;
use airlock_host::digest::Digest;
use airlock_host::policy::{Pattern, VariableName};
use airlock_host::wants::Want;
use airlock_rules::PluginName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lock::InstalledName;
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
    /// The installed plugins that `plugins` names, which have the grant whatever their bytes are.
    #[serde(skip)]
    pub(super) installed: Vec<InstalledName>,
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

impl fmt::Display for GrantWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |paths: &Option<Pattern>| match paths {
            Some(paths) => paths.as_str().to_owned(),
            None => String::new(),
        };
        match self {
            Self::Read(paths) => write!(f, "read={}", shown(paths)),
            Self::Change(paths) => write!(f, "change={}", shown(paths)),
            Self::Environment(name) => write!(f, "environment={name}"),
            Self::RealTime => f.write_str("real-time"),
            Self::FreshRandomness => f.write_str("fresh-randomness"),
        }
    }
}

impl GrantWord {
    /// Returns the grant of a want; `None` if nothing grants it yet.
    pub fn for_want(want: &Want) -> Option<Self> {
        match want {
            Want::Read(paths) => Some(Self::Read(Some(paths.clone()))),
            Want::Change(paths) => Some(Self::Change(Some(paths.clone()))),
            Want::Environment(name) => Some(Self::Environment(name.clone())),
            Want::RealTime => Some(Self::RealTime),
            Want::FreshRandomness => Some(Self::FreshRandomness),
            _ => None,
        }
    }
}

impl Grant {
    /// Returns the grant for all plugins that these words make; `None` without any.
    pub fn of_words(words: impl IntoIterator<Item = GrantWord>) -> Option<Self> {
        let mut words = words.into_iter().peekable();
        words.peek()?;
        Some(Self::default().with_words(words))
    }

    /// Returns the grant of these wants, as far as they can be granted, and of nothing else.
    pub fn of_wants<'a>(wants: impl IntoIterator<Item = &'a Want>) -> Self {
        let words = wants.into_iter().filter_map(GrantWord::for_want);
        // Without any path, everything would be granted.
        let nothing = GrantWord::Read(None);
        Self::of_words([nothing].into_iter().chain(words)).unwrap_or_default()
    }

    /// Returns whether the grant is for all plugins.
    pub(super) fn is_for_all(&self) -> bool {
        self.plugins.is_empty()
    }

    /// Returns the same grant for an installed plugin alone. Another plugin with the same bytes
    /// doesn't have it.
    #[must_use]
    pub(crate) fn for_installed(&self, name: &InstalledName) -> Self {
        Self {
            plugins: vec![PluginName::Bundled(name.to_string())],
            installed: vec![name.clone()],
            ..self.clone()
        }
    }

    /// Returns this grant with these words in addition.
    #[must_use]
    pub fn with_words(mut self, words: impl IntoIterator<Item = GrantWord>) -> Self {
        let add = |to: &mut Option<Vec<Pattern>>, paths: Option<Pattern>| {
            let to = to.get_or_insert_default();
            to.extend(paths.filter(|it| !to.contains(it)));
        };
        for word in words {
            match word {
                GrantWord::Read(paths) => add(&mut self.read, paths),
                GrantWord::Change(paths) => add(&mut self.change, paths),
                GrantWord::Environment(name) => drop(self.environment.insert(name)),
                GrantWord::RealTime => self.real_time = true,
                GrantWord::FreshRandomness => self.fresh_randomness = true,
            }
        }
        self
    }

    /// Returns the part of this grant that is wanted: without it, a later version of a plugin could
    /// get something without a question about it.
    #[must_use]
    pub fn limited_to(&self, wants: &[Want]) -> Self {
        let granted = self.items();
        let kept = granted.iter().flat_map(|granted| {
            if wants.iter().any(|it| it.covers(granted)) {
                vec![granted]
            } else {
                wants.iter().filter(|it| granted.covers(it)).collect()
            }
        });
        Self::of_wants(kept)
    }

    /// Returns each thing that is granted.
    fn items(&self) -> Vec<Want> {
        let everything = || Pattern::new("**").ok();
        let (read, change): (Vec<_>, Vec<_>) = match (&self.read, &self.change) {
            (None, None) => (
                everything().into_iter().collect(),
                everything().into_iter().collect(),
            ),
            (read, change) => (
                read.clone().unwrap_or_default(),
                change.clone().unwrap_or_default(),
            ),
        };
        let mut items: Vec<Want> = read.into_iter().map(Want::Read).collect();
        items.extend(change.into_iter().map(Want::Change));
        items.extend(self.environment.iter().cloned().map(Want::Environment));
        items.extend(self.real_time.then_some(Want::RealTime));
        items.extend(self.fresh_randomness.then_some(Want::FreshRandomness));
        items
    }

    /// Returns the policy under these grants of a plugin that was loaded by this name or path.
    /// Native tools are part of the host and have the default policy.
    pub fn policy(grants: &[Self], loaded: &Loaded, named: &OsStr) -> Policy {
        match loaded {
            Loaded::Plugin(plugin) => Self::policy_of(grants, plugin.digest(), named),
            Loaded::Native(_) => Policy::default(),
        }
    }

    /// Returns the policy of a plugin with these bytes and this name or path.
    pub(super) fn policy_of(grants: &[Self], digest: Digest, named: &OsStr) -> Policy {
        let digest = PluginName::Digest(digest);
        let file = Path::new(named).canonicalize().ok();
        let is_from = |it: &PathBuf| it.canonicalize().ok() == file;
        let is_about = |it: &&Self| {
            it.is_for_all()
                || it.plugins.contains(&digest)
                || it.installed.iter().any(|it| named == it.as_str())
                || (file.is_some() && it.files.iter().any(is_from))
        };
        grants
            .iter()
            .find(is_about)
            .map_or_else(Policy::default, Self::to_policy)
    }

    /// Returns the policy of a plugin with this grant.
    pub fn to_policy(&self) -> Policy {
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
        // A want by itself grants only that.
        let nothing = Grant::of_wants([]).to_policy().to_string();
        assert!(nothing.starts_with("workspace: none;"), "{nothing}");
        for wrong in ["network", "read=/etc", "environment=A B", "real-time=yes"] {
            assert!(wrong.parse::<GrantWord>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_grant_is_limited_to_what_is_wanted() {
        let grant = |words: &[&str]| {
            let words = words.iter().map(|it| it.parse::<GrantWord>().unwrap());
            Grant::of_wants([]).with_words(words)
        };
        let check = |granted: &[&str], wanted: &[&str], kept: &[&str]| {
            let wants = grant(wanted).items();
            assert_eq!(
                grant(granted).limited_to(&wants),
                grant(kept),
                "{granted:?}"
            );
        };
        check(&["read=docs/"], &["read=docs/"], &["read=docs/"]);
        check(&["read=docs/"], &["read=**"], &["read=docs/"]);
        check(&["read=**"], &["read=docs/"], &["read=docs/"]);
        check(&["change=**"], &["read=docs/"], &["read=docs/"]);
        check(&["read=**"], &["change=docs/"], &[]);
        check(&["change=notes/"], &["change=docs/"], &[]);
        let both = ["environment=LANG", "real-time"];
        check(&both, &["environment=LANG"], &["environment=LANG"]);
        check(&both, &["real-time", "fresh-randomness"], &["real-time"]);
        // Without paths, a grant has all of them.
        let all = Grant::default().limited_to(&grant(&["read=a", "change=b"]).items());
        assert_eq!(all, grant(&["read=a", "change=b"]));
    }
}
