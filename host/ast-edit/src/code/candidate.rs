//! A possible replacement, and the parentheses that it needs.

use super::filled::Inserted;
use super::rewrite::{Edit, Reason};

/// An edit, with the positions of captured code in its text.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// The index of its op.
    pub op: usize,
    pub edit: Edit,
    pub inserted: Vec<Inserted>,
    /// The start positions of comments that are removed with the match.
    pub comments: Vec<usize>,
    /// True if the op's `out` is valid code by itself, so that a syntax error must come from its
    /// surroundings.
    is_code: bool,
    /// The parts that already have parentheses.
    parentheses: Parentheses,
    /// The first reason for adding them.
    pub first_reason: Option<Reason>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Parentheses {
    /// The captured nodes, by index.
    captured: Vec<usize>,
    whole: bool,
}

/// The faults of an edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Faults {
    /// The captured nodes, by index, whose structure has changed.
    pub captured: Vec<usize>,
    /// True if the replacement is not a single node in place of the match.
    pub whole: bool,
    /// True if there is a syntax error that the source doesn't have.
    pub syntax: bool,
}

impl Faults {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn reason(&self) -> Reason {
        if self.syntax {
            Reason::NoCode
        } else {
            Reason::Meaning
        }
    }
}

impl Candidate {
    pub fn new(
        op: (usize, bool),
        edit: Edit,
        inserted: Vec<Inserted>,
        comments: Vec<usize>,
    ) -> Self {
        let (op, is_code) = op;
        Self {
            op,
            edit,
            inserted,
            comments,
            is_code,
            parentheses: Parentheses::default(),
            first_reason: None,
        }
    }

    /// Returns whether a syntax error is a fault. If not, the preview reports it as an added error.
    pub fn must_parse(&self) -> bool {
        self.is_code || self.parentheses != Parentheses::default()
    }

    /// Puts the faulty parts into parentheses. Returns false if they already have them.
    pub fn add_parentheses(&mut self, faults: &Faults) -> bool {
        self.first_reason.get_or_insert(faults.reason());
        let done = &mut self.parentheses;
        let new = faults.captured.iter().copied();
        let is_new = |at: &usize| self.inserted[*at].is_single && !done.captured.contains(at);
        let mut new: Vec<usize> = new.filter(is_new).collect();
        new.dedup();
        if !new.is_empty() {
            done.captured.extend(&new);
            self.wrap_captured(&new);
            return true;
        }
        if done.whole || self.edit.text.trim().is_empty() {
            return false;
        }
        done.whole = true;
        self.edit.text = format!("({})", self.edit.text);
        for inserted in &mut self.inserted {
            inserted.at = inserted.at.start + 1..inserted.at.end + 1;
        }
        true
    }

    fn wrap_captured(&mut self, chosen: &[usize]) {
        let old = std::mem::take(&mut self.edit.text);
        let text = &mut self.edit.text;
        let mut at = 0;
        for (index, inserted) in self.inserted.iter_mut().enumerate() {
            let is_chosen = chosen.contains(&index);
            text.push_str(&old[at..inserted.at.start]);
            at = inserted.at.end;
            if is_chosen {
                text.push('(');
            }
            let start = text.len();
            text.push_str(&old[inserted.at.clone()]);
            inserted.at = start..text.len();
            if is_chosen {
                text.push(')');
            }
        }
        text.push_str(&old[at..]);
    }
}
