//! The effects of an action on the workspace.

use airlock_model::content::Content;
use airlock_model::effects::{
    Answer, AppliedPart, Change, Effects, EffectsSummary, Facts, Identity, Withheld,
};

use super::{Block, Line, Role};

impl Block {
    /// Returns a block with the effects of an action: a line that says whether the host verified
    /// them, and each change with its diff or another description of the contents.
    pub fn effects(effects: &Effects) -> Self {
        Self::effects_below(effects, &[])
    }

    /// Returns the same block as [`effects`](Self::effects), to be shown below the preview. A diff
    /// that the preview contains word for word is not shown again.
    pub fn effects_below(effects: &Effects, preview: &[Content]) -> Self {
        Self::each_effect(effects, preview, &|_| None)
    }

    /// Returns the same block as [`effects`](Self::effects), with a note after some of the changes,
    /// by index.
    pub fn effects_noted(effects: &Effects, note: &dyn Fn(usize) -> Option<&'static str>) -> Self {
        Self::each_effect(effects, &[], note)
    }

    fn each_effect(
        effects: &Effects,
        preview: &[Content],
        note: &dyn Fn(usize) -> Option<&'static str>,
    ) -> Self {
        let changes = effects.changes.iter().enumerate();
        let block = Block::new().line(summary(&effects.summary()));
        changes.fold(block, |block, (at, change)| {
            block.block(Self::effect(change, preview, note(at)))
        })
    }

    fn effect(change: &Change, preview: &[Content], note: Option<&str>) -> Self {
        let line = Line::new().with_quoted(Role::Plain, change.to_string());
        let line = match note {
            Some(note) => line.with(" ").with_role(Role::Note, note),
            None => line,
        };
        let block = Block::from(line.indented(2).hanging(2));
        let sentences = change.side_effects.sentences().into_iter();
        let block = sentences.fold(block, |block, sentence| {
            let line = Line::new().with_role(Role::Note, sentence);
            block.line(line.indented(4).hanging(2))
        });
        let said = match &change.diff {
            Some(diff) if !is_in(preview, diff) => {
                return block.block(Block::new().text(diff).indented(4));
            }
            Some(_) => Some("contents as in the preview above".to_owned()),
            None => not_read(change).or_else(|| not_shown(change)),
        };
        match said {
            Some(said) => {
                let said = Line::new().with_role(Role::Faint, said);
                block.line(said.indented(4).hanging(2))
            }
            None => block,
        }
    }

    /// Returns a block with the answer that the apply will give, if a rehearsal has seen it. An
    /// answer that the preview gives already is not shown again.
    pub fn answer(effects: &Effects, preview: &[Content]) -> Self {
        let Some(answer) = &effects.answer else {
            return Block::new();
        };
        let heading = match &answer.kept {
            None => return Block::from(Line::from("Its answer is too long to be shown here.")),
            Some(kept) if kept.content == preview => {
                return Block::from(Line::from("It will answer as in the preview."));
            }
            Some(_) if answer.has_reason => {
                format!(
                    "It will answer, with your reason for \"{}\":",
                    Answer::REASON
                )
            }
            Some(_) => "It will answer:".to_owned(),
        };
        let kept = answer.kept.iter();
        let block = Block::from(Line::from(heading).hanging(2));
        kept.fold(block, |block, kept| {
            block.block(Block::content(&kept.content).indented(2))
        })
    }

    /// Returns a block with the changes that an apply left out, and those that a person edited.
    pub fn part(part: &AppliedPart) -> Self {
        let heading = Line::new().with_role(Role::Note, "Applied in part:");
        let lines = part.lines().into_iter();
        let block = lines.fold(Block::from(heading), |block, line| {
            let line = Line::new().with_quoted(Role::Plain, line);
            block.line(line.indented(2).hanging(2))
        });
        let edits = part.edited.iter();
        edits.fold(block, |block, file| {
            block.block(Block::new().text(&file.diff).indented(4))
        })
    }

    /// Returns the summary of effects in one line. Without a summary, the line says that the
    /// effects are not verified by the host.
    pub fn effects_summary(effects: Option<&EffectsSummary>) -> Self {
        Block::from(match effects {
            Some(effects) => summary(effects),
            None => summary(&Effects::default().summary()),
        })
    }
}

/// The maximum length of a text that is searched for diffs, in bytes. There may be a thousand
/// diffs.
const SEARCHED: usize = 1 << 20;

fn is_in(preview: &[Content], diff: &str) -> bool {
    preview.iter().any(|content| match content {
        Content::Text { text } => !diff.is_empty() && text.len() <= SEARCHED && text.contains(diff),
        _ => false,
    })
}

fn summary(effects: &EffectsSummary) -> Line {
    let role = if effects.verified {
        Role::Accept
    } else {
        Role::Note
    };
    let message = effects.to_string();
    let line = match message.split_once(':') {
        // The rest may come from a tool.
        Some((word, rest)) => Line::new()
            .with_role(role, word)
            .with(":")
            .with_quoted(Role::Plain, rest),
        None => Line::new().with_role(role, message),
    };
    line.hanging(2)
}

/// Describes the contents of a large file that is only renamed.
fn not_read(change: &Change) -> Option<String> {
    fn identity(facts: &Option<Facts>) -> Option<&Identity> {
        facts.as_ref()?.identity.as_deref()
    }
    let (before, after) = (identity(&change.before), identity(&change.after));
    let said = "renamed, contents unchanged (same inode, size and times)";
    (before.is_some() && before == after).then(|| said.to_owned())
}

/// Describes contents that change but have no diff.
fn not_shown(change: &Change) -> Option<String> {
    let digest = |facts: &Option<Facts>| {
        let facts = facts.as_ref()?;
        // A large file that is removed was not read.
        let identity = || facts.identity.as_ref().map(|it| format!("{it:?}"));
        Some((facts.size, facts.digest.clone().or_else(identity)?))
    };
    let (before, after) = (digest(&change.before), digest(&change.after));
    if before == after {
        return None;
    }
    let bytes = |found: Option<(u64, String)>| match found {
        Some((1, _)) => "1 byte".to_owned(),
        Some((size, _)) => format!("{size} bytes"),
        None => "nothing".to_owned(),
    };
    let why = match change.withheld {
        Some(Withheld::Secret) => " (likely to hold a secret)",
        Some(Withheld::Binary) => " (binary)",
        Some(Withheld::TooLong) => " (too long)",
        _ => "",
    };
    Some(format!(
        "contents not shown{why}: {} before, {} after",
        bytes(before),
        bytes(after)
    ))
}

#[cfg(test)]
mod tests {
    use airlock_model::content::Content;
    use airlock_model::effects::{
        Change, ChangeKind, Effects, Facts, Identity, ObjectKind, OwnerChange, Withheld,
    };

    use expect_test::expect;

    use crate::Block;

    #[test]
    fn what_changes_is_told_with_diffs_and_what_is_not_shown_is_said() {
        let mut modified = Change::new(ChangeKind::Modified, "a.txt");
        modified.diff = Some("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n".to_owned());
        let mut image = Change::new(ChangeKind::Deleted, "photo.png");
        let mut facts = Facts::new(ObjectKind::File);
        facts.size = 3;
        facts.digest = Some("00".to_owned());
        image.before = Some(facts);
        image.withheld = Some(Withheld::Binary);
        let effects = Effects::verified(vec![modified, image]);
        expect![[r#"
            Verified by the host: 1 modified, 1 deleted
              │ modified a.txt
                │ --- a/a.txt
                │ +++ b/a.txt
                │ @@ -1 +1 @@
                │ -one
                │ +two
              │ deleted photo.png
                contents not shown (binary): 3 bytes before, nothing after"#]]
        .assert_eq(&Block::effects(&effects).to_string());
        let diff = effects.changes[0].diff.as_deref().unwrap_or_default();
        let below = |preview: String| {
            let preview = [Content::text(preview)];
            Block::effects_below(&effects, &preview).to_string()
        };
        let message = "│ modified a.txt\n    contents as in the preview above\n";
        assert!(below(format!("1 file:\n{diff}")).contains(message));
        // A preview that says something else is not taken for it.
        let other = diff.replace("+two", "+three");
        assert_eq!(below(other), Block::effects(&effects).to_string());
        let unverified = Block::effects(&Effects::unverified("it\nhung"));
        expect![[r#"The tool's own word, not verified by the host: it\nhung"#]]
            .assert_eq(&unverified.to_string());
    }

    #[test]
    fn what_a_change_does_beside_stands_below_its_file() {
        let mut modified = Change::new(ChangeKind::Modified, "a.js");
        modified.side_effects.parts_hard_links = Some(2);
        modified.side_effects.owner = Some(Box::new(OwnerChange::new("alice", "bob")));
        modified.diff = Some("+new\n".to_owned());
        let mut renamed = Change::new(ChangeKind::Renamed, "new.mkv");
        renamed.from = Some("old.mkv".to_owned());
        let mut facts = Facts::new(ObjectKind::File);
        facts.size = 1 << 32;
        facts.identity = Some(Box::new(Identity {
            device: 1,
            inode: 2,
            size: 1 << 32,
            modified: (3, 4),
            changed: (5, 6),
        }));
        (renamed.before, renamed.after) = (Some(facts.clone()), Some(facts));
        let effects = Effects::verified(vec![modified, renamed]);
        expect![[r#"
            Verified by the host: 1 modified, 1 renamed
              │ modified a.js
                has 2 hard links; this name gets a file of its own
                its owner changes from alice to bob
                │ +new
              │ renamed old.mkv -> new.mkv
                renamed, contents unchanged (same inode, size and times)"#]]
        .assert_eq(&Block::effects(&effects).to_string());
    }
}
