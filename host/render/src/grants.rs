//! Blocks for a plugin's grants.

use airlock_model::policy::Policy;

use super::{Block, Role};

impl Block {
    /// Returns a block with a plugin's grants that are not the default ones, and with its other
    /// wants. Empty if it has the default grants and wants no more.
    pub fn grants(grants: &Policy) -> Self {
        let mut usual = Policy::default();
        usual.rehearse = grants.rehearse;
        if *grants == usual && grants.denied.is_empty() {
            return Block::new();
        }
        let block = Block::new().named(Role::Faint, "granted:", &grants.to_string(), 2);
        if grants.denied.is_empty() {
            return block;
        }
        block.named(
            Role::Note,
            "wanted too, and denied:",
            &grants.denied.join("; "),
            2,
        )
    }

    /// Returns facts about a plugin's grants, with names of this length. Its publisher may have
    /// written their patterns.
    pub fn granted(columns: usize, grants: &Policy) -> Self {
        let text = grants.to_string();
        let block = if grants.limits_paths() {
            Block::new().fact(columns, "granted", &text)
        } else {
            Block::new().own_fact(columns, "granted", &text)
        };
        match &*grants.denied {
            [] => block,
            denied => block.fact(columns, "denied", &denied.join("; ")),
        }
    }
}
