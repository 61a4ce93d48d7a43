//! What an operator grants a plugin, per phase.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the sandbox lets a guest do, by what the host is asking it for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// `execute` and `reject`: the workspace can't be changed, whatever was granted.
    Preview,
    /// `apply`, whose changes nobody keeps: the grants hold, above the workspace alone.
    Rehearse,
    /// `apply`: the grants hold.
    Apply,
}

/// Whether the host applies an action on a layer that is never committed, to see what it does,
/// before anybody decides about it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Rehearse {
    /// No.
    Never,
    /// Where that can be done. Otherwise there is the tool's own word, which is said.
    #[default]
    Auto,
    /// The same, and what the host has not seen can't be applied.
    Always,
}

impl Rehearse {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Never, Self::Auto, Self::Always];

    /// A lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Rehearse::Auto => "auto",
            Rehearse::Always => "always",
            Rehearse::Never => "never",
        }
    }
}

/// How much of the workspace a plugin gets.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceGrant {
    /// No access.
    None,
    /// Read it, in either phase.
    Read,
    /// Read it while previewing, change it while applying.
    #[default]
    ReadWrite,
}

/// What one plugin may do in one session.
///
/// The default is the contract's: the workspace, to read in [`Phase::Preview`] and to change in
/// [`Phase::Apply`], and a scratch directory of its own. There is no environment, no network and no
/// other path.
///
/// Serializes as an object with a field for each kind of grant; reading one refuses a kind that
/// this version doesn't know.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Policy {
    /// How much of the workspace the plugin gets.
    pub workspace: WorkspaceGrant,
    /// Whether its actions are rehearsed. None: as the session does with all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearse: Option<Rehearse>,
    /// Whether clocks go on while one of its actions is applied. Else wall clocks stand at the
    /// push, and the monotonic one moves by waiting and looking alone, as in a rehearsal.
    #[serde(default, rename = "real-time", skip_serializing_if = "is_false")]
    pub real_time: bool,
    /// Whether randomness is new when one of its actions is applied. Else it is the rehearsal's.
    #[serde(default, rename = "fresh-randomness", skip_serializing_if = "is_false")]
    pub fresh_randomness: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Policy {
    /// The default grants, but the workspace can't be changed even by an apply.
    pub fn read_only() -> Self {
        Self::default().with_workspace(WorkspaceGrant::Read)
    }

    /// Grants this much of the workspace.
    pub fn with_workspace(mut self, workspace: WorkspaceGrant) -> Self {
        self.workspace = workspace;
        self
    }

    /// Has its actions rehearsed, or not, whatever the session does with others.
    pub fn with_rehearse(mut self, rehearse: Rehearse) -> Self {
        self.rehearse = Some(rehearse);
        self
    }

    /// Lets an apply see the time go by. Its effects may be others than those that were reviewed
    /// then, which is refused; a decision that names them accepts them.
    pub fn with_real_time(mut self) -> Self {
        self.real_time = true;
        self
    }

    /// Gives an apply randomness that its rehearsal had not, with the same consequence.
    pub fn with_fresh_randomness(mut self) -> Self {
        self.fresh_randomness = true;
        self
    }

    /// What both grant.
    pub fn narrowed_to(&self, other: &Policy) -> Policy {
        Policy {
            workspace: self.workspace.min(other.workspace),
            rehearse: self.rehearse.max(other.rehearse),
            real_time: self.real_time && other.real_time,
            fresh_randomness: self.fresh_randomness && other.fresh_randomness,
        }
    }

    /// Whether a guest may change the workspace during `phase`.
    pub fn allows_workspace_change(&self, phase: Phase) -> bool {
        matches!(phase, Phase::Rehearse | Phase::Apply)
            && self.workspace == WorkspaceGrant::ReadWrite
    }

    /// Whether a guest may read the workspace.
    pub fn allows_workspace_read(&self) -> bool {
        self.workspace >= WorkspaceGrant::Read
    }
}

/// The grants in words, one clause each, for a person who decides whether to trust a plugin.
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
