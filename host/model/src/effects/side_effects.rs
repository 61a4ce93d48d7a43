//! Side effects of a change of a file, since a new file takes its place.

use serde::{Deserialize, Serialize};

use super::plain_path;

/// Side effects of a change of a file's contents or permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SideEffects {
    /// How many names (hard links) the file has: this one gets a separate file, and the others
    /// keep the contents of before. None for a single name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts_hard_links: Option<u64>,
    /// The user whose file it is, if the host can't keep that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Box<OwnerChange>>,
    /// The file's group, if the host can't keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Box<OwnerChange>>,
    /// The names of extended attributes that are lost, such as `system.posix_acl_access` (an ACL).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<String>,
}

/// A file's users or groups, by name; by number if they have none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OwnerChange {
    /// The one of before.
    pub from: String,
    /// The new one.
    pub to: String,
}

impl OwnerChange {
    /// From the one to the other.
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
        }
    }
}

impl SideEffects {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is compared: how many other names a file has makes no difference.
    pub(super) fn compared(&self) -> Self {
        Self {
            parts_hard_links: self.parts_hard_links.map(|_| 2),
            ..self.clone()
        }
    }

    /// A clause for each, whose subject is the file. Names that come from files are quoted where
    /// they hold anything but plain characters.
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
