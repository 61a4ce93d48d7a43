//! The operator's grants for a plugin, per phase.

use std::fmt;

use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Policy {
    /// The plugin's access to the workspace.
    pub workspace: WorkspaceGrant,
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
}

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
            rehearse: self.rehearse.max(other.rehearse),
            real_time: self.real_time && other.real_time,
            fresh_randomness: self.fresh_randomness && other.fresh_randomness,
        }
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
        f.write_str(match self.workspace {
            WorkspaceGrant::None => "workspace: none",
            WorkspaceGrant::Read => "workspace: read",
            WorkspaceGrant::ReadWrite => "workspace: read, and change while applying",
        })?;
        f.write_str("; scratch directory")?;
        if self.real_time {
            f.write_str("; real time while applying")?;
        }
        if self.fresh_randomness {
            f.write_str("; fresh randomness while applying")?;
        }
        f.write_str("; no environment, no network, no other path")
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
