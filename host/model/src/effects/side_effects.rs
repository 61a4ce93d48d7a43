//! Side effects of changing a file, because a new file replaces it.

use serde::{Deserialize, Serialize};

use super::plain_path;

/// The side effects of a change to a file's contents or permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SideEffects {
    /// The number of names (hard links) of the file. This name gets a separate file, and the others
    /// keep the old contents. `None` if the file has a single name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts_hard_links: Option<u64>,
    /// The change of the file's owner, if the host can't keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<OwnerChange>>,
    /// The change of the file's group, if the host can't keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Box<OwnerChange>>,
    /// The names of extended attributes that are lost, such as `system.posix_acl_access` (an ACL).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<String>,
}

/// A change of a file's owner or group. Each is given by its name, or by its number if it has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OwnerChange {
    /// The previous owner or group.
    pub from: String,
    /// The new owner or group.
    pub to: String,
}

impl OwnerChange {
    /// Creates a change from one owner or group to another.
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
        }
    }
}

impl SideEffects {
    /// Returns true if there are no side effects.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the side effects for comparisons. The number of other names makes no difference.
    pub(super) fn compared(&self) -> Self {
        Self {
            parts_hard_links: self.parts_hard_links.map(|_| 2),
            ..self.clone()
        }
    }

    /// Returns a clause for each side effect, with the file as its subject. Names that come from
    /// files are quoted unless all their characters are plain.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if let Some(links) = self.parts_hard_links {
            sentences.push(format!(
                "has {links} hard links; this name gets a file of its own"
            ));
        }
        for (what, change) in [("owner", &self.owner), ("group", &self.group)] {
            if let Some(change) = change {
                let OwnerChange { from, to } = &**change;
                let (from, to) = (plain_path(from), plain_path(to));
                sentences.push(format!("its {what} changes from {from} to {to}"));
            }
        }
        sentences.extend(self.not_kept.iter().map(|name| match &**name {
            "system.posix_acl_access" => "its access control list (ACL) is lost".to_owned(),
            name => format!("its attribute {} is lost", plain_path(name)),
        }));
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::{Change, ChangeKind, Effects};

    fn change() -> Change {
        let mut change = Change::new(ChangeKind::Modified, "a.js");
        change.side_effects = SideEffects {
            parts_hard_links: Some(2),
            owner: Some(Box::new(OwnerChange::new("bob", "alice"))),
            group: None,
            not_kept: vec!["system.posix_acl_access".to_owned(), "user.\n".to_owned()],
        };
        change
    }

    #[test]
    fn a_model_is_told_of_side_effects() {
        let effects = Effects::verified(vec![change()]);
        assert_eq!(
            effects.for_model().lines().nth(1).unwrap(),
            "- modified a.js; has 2 hard links; this name gets a file of its own; \
             its owner changes from bob to alice; its access control list (ACL) is lost; \
             its attribute \"user.\\n\" is lost"
        );
    }

    #[test]
    fn side_effects_are_part_of_what_was_reviewed_but_for_the_number_of_links() {
        let mut other = change();
        other.side_effects.parts_hard_links = Some(3);
        assert!(change().is_same(&other));
        other.side_effects.owner = None;
        assert!(!change().is_same(&other));
    }

    #[test]
    fn effects_from_before_there_were_side_effects_are_read() {
        let old = r#"{"kind":"modified","path":"a","after":{"type":"file","size":1,"mode":420}}"#;
        let read: Change = serde_json::from_str(old).unwrap();
        assert!(read.side_effects.is_empty());
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
        let text = serde_json::to_string(&change()).unwrap();
        assert!(
            text.contains(r#""sideEffects":{"partsHardLinks":2,"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Change>(&text).unwrap(), change());
    }
}
