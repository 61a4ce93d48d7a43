//! The operator's grants for a plugin, per phase.

mod paths;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::pattern::Pattern;
pub use crate::wants::VariableName;
use crate::wants::Wants;
pub use paths::Paths;
pub(crate) use paths::{SHOWN, shown};

/// The purpose of a call into a guest, which determines what the sandbox allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// A call of `execute` or `reject`: the workspace can't be changed, whatever was granted.
    Preview,
    /// A call of `apply` whose changes are dropped: the grants hold, but only on a layer over the
    /// workspace.
    Rehearse,
    /// A call of `apply`: the grants hold.
    Apply,
}

/// The choice of when to rehearse an action: the host applies it to a layer that is never
/// committed, to see its effects before a decision.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Rehearse {
    /// Actions are not rehearsed.
    Never,
    /// Actions are rehearsed if possible. Otherwise only the tool describes the effects, and
    /// reports say so.
    #[default]
    Auto,
    /// Actions are rehearsed if possible. An action whose effects the host has not seen can't be
    /// applied.
    Always,
}

impl Rehearse {
    /// The list of all values.
    pub const ALL: [Self; 3] = [Self::Never, Self::Auto, Self::Always];

    /// Returns a lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Rehearse::Auto => "auto",
            Rehearse::Always => "always",
            Rehearse::Never => "never",
        }
    }
}

/// The access of a plugin to the workspace.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceGrant {
    /// The plugin can't access the workspace.
    None,
    /// Read access, while previewing and while applying.
    Read,
    /// Read access while previewing, and write access while applying.
    #[default]
    ReadWrite,
}

/// The grants of one plugin in one session.
///
/// The default is the contract's: the plugin can read the workspace in [`Phase::Preview`] and
/// change it in [`Phase::Apply`], and it has its own scratch directory. There is no environment, no
/// network and no other path.
///
/// Serializes as an object with a field for each kind of grant. Deserializing fails for a kind that
/// this version doesn't know.
///
/// Two policies are equal if they grant the same.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Policy {
    /// The plugin's access to the workspace.
    pub workspace: WorkspaceGrant,
    /// The paths of the workspace that can be read, if `workspace` grants reading: in every phase.
    #[serde(default, skip_serializing_if = "Paths::is_everything")]
    pub read: Paths,
    /// The paths of the workspace that can be changed, if `workspace` grants changes.
    #[serde(default, skip_serializing_if = "Paths::is_everything")]
    pub change: Paths,
    /// The environment variables of the host that the plugin sees.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub environment: BTreeSet<VariableName>,
    /// The choice of when to rehearse the plugin's actions. `None` means the session's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearse: Option<Rehearse>,
    /// True if clocks run while one of the plugin's actions is applied. Otherwise wall clocks stand
    /// at the time of the push, and the monotonic clock advances only when the guest waits or reads
    /// it, as in a rehearsal.
    #[serde(default, rename = "real-time", skip_serializing_if = "is_false")]
    pub real_time: bool,
    /// True if randomness is fresh when one of the plugin's actions is applied. Otherwise it is the
    /// same as in the rehearsal.
    #[serde(default, rename = "fresh-randomness", skip_serializing_if = "is_false")]
    pub fresh_randomness: bool,
    /// The component's wants beyond these grants, as clauses for people. It grants nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        let grants = |it: &Self| (it.workspace, it.rehearse, it.real_time, it.fresh_randomness);
        grants(self) == grants(other)
            && self.read == other.read
            && self.change == other.change
            && self.environment == other.environment
    }
}

impl Eq for Policy {}

fn is_false(value: &bool) -> bool {
    !value
}

impl Policy {
    /// Returns the default grants, except that not even an apply can change the workspace.
    pub fn read_only() -> Self {
        Self::default().with_workspace(WorkspaceGrant::Read)
    }

    /// Sets the access to the workspace.
    pub fn with_workspace(mut self, workspace: WorkspaceGrant) -> Self {
        self.workspace = workspace;
        self
    }

    /// Limits the paths that can be read and changed. What can be changed can be read, too.
    pub fn with_paths(mut self, read: &[Pattern], change: &[Pattern]) -> Self {
        self.read = Paths::matching(read.iter().chain(change).cloned());
        self.change = Paths::matching(change.iter().cloned());
        self.workspace = self.workspace.min(match (read, change) {
            ([], []) => WorkspaceGrant::None,
            (_, []) => WorkspaceGrant::Read,
            _ => WorkspaceGrant::ReadWrite,
        });
        self
    }

    /// Shows the plugin environment variables of the host.
    pub fn with_environment(mut self, names: impl IntoIterator<Item = VariableName>) -> Self {
        self.environment.extend(names);
        self
    }

    /// Sets when to rehearse the plugin's actions, regardless of the session's choice.
    pub fn with_rehearse(mut self, rehearse: Rehearse) -> Self {
        self.rehearse = Some(rehearse);
        self
    }

    /// Lets clocks run during an apply. Its effects may then differ from the reviewed ones, which
    /// is refused until a decision accepts them.
    pub fn with_real_time(mut self) -> Self {
        self.real_time = true;
        self
    }

    /// Gives an apply other randomness than its rehearsal had. As with real time, its effects may
    /// then differ from the reviewed ones.
    pub fn with_fresh_randomness(mut self) -> Self {
        self.fresh_randomness = true;
        self
    }

    /// Returns the policy that grants only what both policies grant.
    pub fn narrowed_to(&self, other: &Policy) -> Policy {
        Policy {
            workspace: self.workspace.min(other.workspace),
            read: self.read.and(&other.read),
            change: self.change.and(&other.change),
            environment: &self.environment & &other.environment,
            rehearse: self.rehearse.max(other.rehearse),
            real_time: self.real_time && other.real_time,
            fresh_randomness: self.fresh_randomness && other.fresh_randomness,
            denied: self.denied.clone(),
        }
    }

    /// Returns the policy that grants only what the component also wants.
    pub fn limited_to(&self, wants: &Wants) -> Policy {
        let mut wanted = Policy::default()
            .with_paths(&wants.read, &wants.change)
            .with_environment(wants.environment.iter().cloned());
        wanted.real_time = wants.real_time;
        wanted.fresh_randomness = wants.fresh_randomness;
        Policy {
            denied: self.denied(wants),
            ..self.narrowed_to(&wanted)
        }
    }

    /// Returns the wants that are not granted, a clause for each kind.
    fn denied(&self, wants: &Wants) -> Vec<String> {
        let mut left = wants.clone();
        if self.allows_workspace_read() {
            left.read.retain(|it| !self.read.includes(it));
        }
        if self.workspace == WorkspaceGrant::ReadWrite {
            left.change.retain(|it| !self.change.includes(it));
        }
        left.environment.retain(|it| !self.environment.contains(it));
        left.real_time &= !self.real_time;
        left.fresh_randomness &= !self.fresh_randomness;
        left.clauses()
    }

    /// Returns true if the plugin can reach only some paths of the workspace.
    pub fn limits_paths(&self) -> bool {
        !self.read.is_everything() || !self.change.is_everything()
    }

    /// Returns true if a guest may change the workspace during `phase`.
    pub fn allows_workspace_change(&self, phase: Phase) -> bool {
        matches!(phase, Phase::Rehearse | Phase::Apply)
            && self.workspace == WorkspaceGrant::ReadWrite
    }

    /// Returns true if a guest may read the workspace.
    pub fn allows_workspace_read(&self) -> bool {
        self.workspace >= WorkspaceGrant::Read
    }
}

/// Formats the grants in words, with a clause for each, for a person who decides whether to trust a
/// plugin.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.workspace {
            WorkspaceGrant::None => f.write_str("workspace: none")?,
            WorkspaceGrant::Read => write!(f, "workspace: read{}", Limit(&self.read))?,
            WorkspaceGrant::ReadWrite => write!(
                f,
                "workspace: read{}, and change{} while applying",
                Limit(&self.read),
                Limit(&self.change)
            )?,
        }
        f.write_str("; scratch directory")?;
        if self.real_time {
            f.write_str("; real time while applying")?;
        }
        if self.fresh_randomness {
            f.write_str("; fresh randomness while applying")?;
        }
        if self.environment.is_empty() {
            return f.write_str("; no environment, no network, no other path");
        }
        let names: Vec<&str> = self.environment.iter().map(VariableName::as_str).collect();
        write!(f, "; environment: {}", names.join(", "))?;
        f.write_str("; no network, no other path")
    }
}

/// The limit of a clause to some paths.
struct Limit<'a>(&'a Paths);

impl fmt::Display for Limit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_everything() {
            Ok(())
        } else {
            write!(f, " {}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowing_never_grants_what_one_side_lacks() {
        use WorkspaceGrant::*;
        for (one, other, both) in [
            (ReadWrite, Read, Read),
            (Read, ReadWrite, Read),
            (None, ReadWrite, None),
            (ReadWrite, ReadWrite, ReadWrite),
        ] {
            let policy = |grant| Policy::default().with_workspace(grant);
            assert_eq!(policy(one).narrowed_to(&policy(other)), policy(both));
        }
    }

    #[test]
    fn time_and_randomness_are_granted_by_name_and_by_both_sides() {
        let both = Policy::default().with_real_time().with_fresh_randomness();
        let one = Policy::default().with_real_time();
        assert_eq!(both.narrowed_to(&one), one);
        assert_eq!(one.narrowed_to(&Policy::default()), Policy::default());
        let json = r#"{"workspace":"read-write","real-time":true,"fresh-randomness":true}"#;
        assert_eq!(serde_json::to_string(&both).unwrap(), json);
        assert_eq!(serde_json::from_str::<Policy>(json).unwrap(), both);
        let plain = serde_json::to_string(&Policy::default()).unwrap();
        assert_eq!(plain, r#"{"workspace":"read-write"}"#);
        let told = both.to_string();
        assert!(told.contains("; real time while applying; fresh randomness while applying;"));
    }

    #[test]
    fn a_policy_limited_to_wants_grants_what_both_sides_say() {
        let check = |granted: &Policy, wants: &str, told: &str| {
            let wants = Wants::from_json(wants).unwrap();
            assert_eq!(granted.limited_to(&wants).to_string(), told);
        };
        let pattern = |text| Pattern::new(text).unwrap();
        let name = |text: &str| VariableName::try_from(text.to_owned()).unwrap();
        let everything = Policy::default()
            .with_real_time()
            .with_environment([name("HOME"), name("LANG")]);
        check(
            &everything,
            r#"{"read":["**"],"change":["docs/"],"environment":["LANG"],"real-time":true}"#,
            "workspace: read, and change docs/ while applying; scratch directory; real time while applying; environment: LANG; no network, no other path",
        );
        check(
            &everything,
            r#"{"read":["*.md"]}"#,
            "workspace: read *.md; scratch directory; no environment, no network, no other path",
        );
        check(
            &everything,
            "{}",
            "workspace: none; scratch directory; no environment, no network, no other path",
        );
        let docs = Policy::default().with_paths(&[pattern("docs/")], &[]);
        check(
            &docs,
            r#"{"change":["*.md"],"fresh-randomness":true}"#,
            "workspace: read docs/ that is also in *.md; scratch directory; no environment, no network, no other path",
        );
    }

    #[test]
    fn grants_of_an_unknown_kind_are_refused() {
        let read = |json| serde_json::from_str::<Policy>(json);
        assert_eq!(
            read(r#"{"workspace":"read"}"#).unwrap(),
            Policy::read_only()
        );
        for json in [
            r#"{"workspace":"read","network":"all"}"#,
            r#"{"workspace":"all"}"#,
            "{}",
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn only_an_apply_or_its_rehearsal_with_a_write_grant_may_change_the_workspace() {
        use {Phase::*, WorkspaceGrant::*};
        for (grant, phase, allowed) in [
            (ReadWrite, Apply, true),
            (ReadWrite, Rehearse, true),
            (ReadWrite, Preview, false),
            (Read, Apply, false),
            (Read, Rehearse, false),
            (Read, Preview, false),
            (None, Apply, false),
            (None, Preview, false),
        ] {
            let policy = Policy::default().with_workspace(grant);
            assert_eq!(
                policy.allows_workspace_change(phase),
                allowed,
                "{grant:?} in {phase:?}"
            );
        }
    }
}
