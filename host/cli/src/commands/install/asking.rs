//! The question about grants.

use airlock_desk::configuration::{Grant, GrantWord};
use airlock_desk::lock::{Difference, Entry};
use airlock_host::wants::Want;
use airlock_render::{Block, Line, Role};

use crate::failure::{Exit, Failure};
use crate::terminal::confirming::can_ask;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Output, on_stderr, show_on_stderr};
use crate::terminal::prompt::read;

/// The question whether to install or update a plugin, and what to grant.
pub struct Question {
    /// The description of the plugin or of the differences.
    shown: Block,
    /// The grants of the installed version; `None` if there is none.
    base: Option<Grant>,
    /// The wants that can be granted.
    wanted: Vec<Want>,
    /// The failure if there is no terminal.
    undecided: Failure,
}

/// Lists the wants, with the numbers by which they are chosen.
fn wants(is_update: bool, grantable: &[Want], denied: &[Want]) -> Block {
    let mut block = Block::new();
    if !grantable.is_empty() {
        let heading = if is_update {
            "It newly wants to:"
        } else {
            "It wants to:"
        };
        block = block
            .line("")
            .line(Line::new().with_role(Role::Title, heading));
    }
    for (index, want) in grantable.iter().enumerate() {
        let number = format!("  {:>2}  ", index + 1);
        let line = Line::from(number).with_quoted(Role::Plain, want.to_string());
        block = block.line(line.hanging(6));
    }
    if !denied.is_empty() {
        let heading = "It wants more, which Airlock can't grant yet:";
        block = block
            .line("")
            .line(Line::new().with_role(Role::Note, heading));
    }
    for want in denied {
        let line = Line::from("      ").with_quoted(Role::Plain, want.to_string());
        block = block.line(line.hanging(6));
    }
    block
}

impl Question {
    pub fn new(
        before: Option<&Entry>,
        entry: &Entry,
        differences: &[Difference],
        shown: Block,
    ) -> Self {
        let newly = differences.iter().filter_map(|it| match it {
            Difference::Wider(want) => Some(want.clone()),
            _ => None,
        });
        let all = match before {
            None => entry.wants(),
            Some(_) => newly.collect(),
        };
        let is_grantable = |it: &Want| GrantWord::for_want(it).is_some();
        let (wanted, denied): (Vec<_>, Vec<_>) = all.into_iter().partition(is_grantable);
        Self {
            shown: shown.block(wants(before.is_some(), &wanted, &denied)),
            base: before.map(|it| it.grant.clone()),
            wanted,
            undecided: undecided(before, entry, differences),
        }
    }

    /// Asks. Returns the grant, or `None` if nothing is to change. All that matters for the answer
    /// is shown where the question is.
    ///
    /// # Errors
    /// If there is no terminal for a question, or Ctrl-C was pressed.
    pub async fn ask(
        self,
        interrupt: &Interrupt,
        out: &mut Output,
    ) -> Result<Option<Grant>, Failure> {
        if !can_ask(out.is_json()) {
            out.show(&self.shown);
            return Err(self.undecided);
        }
        show_on_stderr(&self.shown);
        on_stderr("");
        let answer = self.answer(interrupt).await;
        if interrupt.happened() {
            return Err(Failure::interrupted());
        }
        Ok(answer)
    }

    async fn answer(&self, interrupt: &Interrupt) -> Option<Grant> {
        loop {
            let answer = read(self.words(), interrupt).await?;
            match (&*answer.to_ascii_lowercase(), self.wanted.is_empty()) {
                ("y" | "yes", _) => return Some(self.granting(&self.wanted)),
                ("c" | "choose", false) => return self.choose(interrupt).await,
                ("k" | "keep", false) if self.base.is_some() => return Some(self.granting(&[])),
                ("n" | "no" | "q" | "quit", _) => return None,
                _ => self.help(),
            }
        }
    }

    fn words(&self) -> &'static str {
        match (&self.base, self.wanted.is_empty()) {
            (None, true) => "Install it? [y]es, [n]o: ",
            (None, false) => "Install it, and grant this? [y]es, [c]hoose, [n]o, [?]: ",
            (Some(_), true) => "Update it? [y]es, [n]o: ",
            (Some(_), false) => "Update it, and grant this? [y]es, [c]hoose, [k]eep, [n]o, [?]: ",
        }
    }

    fn help(&self) {
        let is_update = self.base.is_some();
        let has_wants = !self.wanted.is_empty();
        let answers = [
            ("y", "yes, with all of it", true),
            ("c", "choose what to grant", has_wants),
            (
                "k",
                "keep the grants as they are, and update it",
                has_wants && is_update,
            ),
            ("n", "no: nothing changes", true),
        ];
        for (answer, meaning, _) in answers.into_iter().filter(|it| it.2) {
            on_stderr(format!("  {answer}  {meaning}"));
        }
    }

    /// Asks for numbers of the list.
    async fn choose(&self, interrupt: &Interrupt) -> Option<Grant> {
        loop {
            let question = "Grant which, such as 1 3, or none: ";
            let answer = read(question, interrupt).await?;
            match chosen(&answer, &self.wanted) {
                Some(chosen) => return Some(self.granting(&chosen)),
                None => on_stderr(format!(
                    "Please answer with numbers from 1 to {}, or none.",
                    self.wanted.len()
                )),
            }
        }
    }

    /// Returns the grants so far, and those of these wants.
    fn granting(&self, wants: &[Want]) -> Grant {
        match &self.base {
            None => Grant::of_wants(wants),
            Some(base) => {
                let words = wants.iter().filter_map(GrantWord::for_want);
                base.clone().with_words(words)
            }
        }
    }
}

/// Returns the wants with these numbers; `None` if the answer is not clear.
fn chosen(answer: &str, wanted: &[Want]) -> Option<Vec<Want>> {
    if answer.eq_ignore_ascii_case("none") {
        return Some(Vec::new());
    }
    let numbers = answer.split([' ', ',']).filter(|it| !it.is_empty());
    let mut chosen = Vec::new();
    for number in numbers {
        let index = number.parse::<usize>().ok()?.checked_sub(1)?;
        chosen.push(wanted.get(index)?.clone());
    }
    (!chosen.is_empty()).then_some(chosen)
}

fn undecided(before: Option<&Entry>, entry: &Entry, differences: &[Difference]) -> Failure {
    let name = &entry.name;
    let failure = |message| Failure::new(Exit::Usage, "undecided", message).quoting();
    if before.is_none() {
        let wants: Vec<String> = entry.wants().iter().map(ToString::to_string).collect();
        let wants = match &wants[..] {
            [] => "nothing".to_owned(),
            wants => format!("to {}", wants.join(", ")),
        };
        return failure(format!("{name} was not installed: it wants {wants}"))
            .with_hint("use `--yes` to grant all of that, or `--grant GRANT` for a part of it");
    }
    let differences: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let what = match &differences[..] {
        [] => "its code differs".to_owned(),
        differences => differences.join("; "),
    };
    failure(format!("{name} was not updated: {what}")).with_hint(
        "`--yes` updates it without granting more, and `--grant GRANT` updates it and grants that too",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wants_are_chosen_by_number() {
        let wanted = [Want::RealTime, Want::FreshRandomness];
        let check = |answer, expected: Option<&[Want]>| {
            assert_eq!(chosen(answer, &wanted).as_deref(), expected, "{answer:?}");
        };
        check("1", Some(&wanted[..1]));
        check("2, 1", Some(&[Want::FreshRandomness, Want::RealTime]));
        check("None", Some(&[]));
        for unclear in ["", "0", "3", "1 x", "-1", "all", "1-2"] {
            check(unclear, None);
        }
    }
}
