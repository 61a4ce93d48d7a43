//! The hunks of joint changes, and the marks of those that a person has reviewed.

use std::path::Path;

use airlock_desk::reviewed::ReviewedHunks;
use airlock_host::digest::Digest;
use airlock_host::effects::{Change, Effects};
use airlock_render::{Block, Line, Role};

use crate::commands::part::hunks::sections;
use crate::commands::part::keys::{Key, read_key};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};

/// The mark in the heading of a hunk, where git shows the function, and after a change.
const MARK: &str = "(reviewed)";

const KEYS: [char; 5] = ['y', 'n', 'a', 'd', 'q'];

/// The meanings of the keys.
const MEANINGS: [(char, &str); 5] = [
    ('y', "mark this hunk as reviewed"),
    ('n', "leave it without a mark"),
    ('a', "mark this and the rest of the file"),
    ('d', "leave this and the rest of the file without a mark"),
    ('q', "quit the review; the marks stay"),
];

/// The hunks of one change: the sections of its diff or, without any, the whole change.
struct Hunks {
    /// The text of each, as shown, and its digest.
    each: Vec<(String, Digest)>,
}

/// The joint changes of a workspace, with the user's marks.
pub struct MarkedEffects<'a> {
    effects: &'a Effects,
    hunks: Vec<Hunks>,
    marks: ReviewedHunks,
}

impl<'a> MarkedEffects<'a> {
    pub fn new(effects: &'a Effects, workspace: Option<&Path>, marks: ReviewedHunks) -> Self {
        let changes = effects.changes.iter();
        Self {
            effects,
            hunks: changes.map(|it| Hunks::of(it, workspace)).collect(),
            marks,
        }
    }

    /// Returns the changes for a person, with the marks.
    pub fn block(&self) -> Block {
        let mut shown = self.effects.clone();
        for (change, hunks) in shown.changes.iter_mut().zip(&self.hunks) {
            let mut marks = hunks.each.iter().map(|(_, digest)| self.marks.has(digest));
            let Some(diff) = &change.diff else { continue };
            let mark = |line: &str| match (line.strip_suffix('\n'), line.starts_with("@@ ")) {
                (Some(heading), true) if marks.next() == Some(true) => {
                    format!("{heading} {MARK}\n")
                }
                _ => line.to_owned(),
            };
            change.diff = Some(diff.split_inclusive('\n').map(mark).collect());
        }
        let is_marked = |at: usize| {
            let mut each = self.hunks[at].each.iter();
            each.all(|(_, digest)| self.marks.has(digest))
        };
        let note = |at: usize| is_marked(at).then_some(MARK);
        let block = Block::effects_noted(&shown, &note);
        let (count, left) = (self.all().count(), self.left().len());
        if left == count {
            return block;
        }
        let line = format!("You have reviewed {} of {count} hunks.", count - left);
        block.line(Line::new().with_role(Role::Note, line))
    }

    /// Returns the number of hunks without a mark.
    pub fn left_count(&self) -> usize {
        self.left().len()
    }

    fn all(&self) -> impl Iterator<Item = (usize, &(String, Digest))> {
        let each = self.hunks.iter().enumerate();
        each.flat_map(|(at, hunks)| hunks.each.iter().map(move |hunk| (at, hunk)))
    }

    /// Returns the hunks without a mark, each with the index of its change.
    fn left(&self) -> Vec<(usize, &(String, Digest))> {
        let all = self.all();
        all.filter(|(_, (_, digest))| !self.marks.has(digest))
            .collect()
    }

    /// Shows each hunk without a mark, and asks whether to mark it. Returns `None` at the end of
    /// the input, and after Ctrl-C.
    pub async fn review(&mut self, interrupt: &Interrupt) -> Option<()> {
        let left: Vec<_> = self
            .left()
            .into_iter()
            .map(|(at, it)| (at, it.clone()))
            .collect();
        let count = left.len();
        let mut shown = None;
        let mut rest = left.into_iter().zip(1..).peekable();
        while let Some(((at, (text, digest)), number)) = rest.next() {
            let change = &self.effects.changes[at];
            if shown.replace(at) != Some(at) {
                on_stderr("");
                let line = Line::new().with_quoted(Role::Title, change.to_string());
                show_on_stderr(&Block::from(line.hanging(2)));
            }
            show_on_stderr(&Block::new().text(&text));
            let question = format!("({number}/{count}) Mark as reviewed");
            let key = read_key(&question, &KEYS, &MEANINGS, interrupt).await?;
            let mut marked = vec![digest];
            if matches!(key, Key::All | Key::Done) {
                while let Some(((_, (_, digest)), _)) = rest.next_if(|((of, _), _)| *of == at) {
                    marked.push(digest);
                }
            }
            match key {
                Key::Yes | Key::All => self.marks.mark(marked),
                Key::Quit => break,
                _ => {}
            }
        }
        Some(())
    }
}

impl Hunks {
    fn of(change: &Change, workspace: Option<&Path>) -> Self {
        let hunks = change.hunks();
        let names = change.diff.as_deref().unwrap_or_default();
        let names: String = names.split_inclusive('\n').take(2).collect();
        let digest = |text: &str| {
            let place = workspace.map(Path::to_string_lossy).unwrap_or_default();
            Digest::of(format!("{place}\0{change}\0{text}").as_bytes())
        };
        let each = sections(&hunks).into_iter().map(|section| {
            let lines = section.lines(&hunks).into_iter();
            // Without the numbers of its lines, which move if others are added above.
            let lines: String = lines
                .map(|(sign, line)| format!("{sign}{line}\n"))
                .collect();
            (format!("{names}{}", section.text(&hunks)), digest(&lines))
        });
        let mut each: Vec<_> = each.collect();
        if each.is_empty() {
            let facts = format!("{:?} {:?}", change.before, change.after);
            each.push((change.diff.clone().unwrap_or_default(), digest(&facts)));
        }
        Self { each }
    }
}
