//! The language of `replace`.

use airlock_tool::Error;

use crate::regex::{Captures, Regex};

/// What replaces a match: a text with groups and the counter in it.
#[derive(Debug, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Group(usize),
    Counter { width: usize },
}

/// More digits than any counter has.
const MAX_WIDTH: usize = 20;

impl Template {
    /// Reads a template whose groups are those of `find`.
    ///
    /// Stricter than the regex crate's own templates, for which a group that does not exist is an
    /// empty text, and `$1_a` the group named `1_a`.
    pub(crate) fn parse(text: &str, find: &Regex) -> Result<Self, Error> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{']) {
            push_text(&mut pieces, &rest[..at]);
            rest = &rest[at..];
            let (piece, length) = special(rest, find).map_err(|problem| {
                let position = text[..text.len() - rest.len()].chars().count() + 1;
                Error::tool(format!(
                    "`replace` is not valid at character {position}: {problem}"
                ))
            })?;
            match piece {
                Piece::Text(text) => push_text(&mut pieces, &text),
                piece => pieces.push(piece),
            }
            rest = &rest[length..];
        }
        push_text(&mut pieces, rest);
        Ok(Self { pieces })
    }

    /// Whether a name depends on how many matched before.
    pub(crate) fn has_counter(&self) -> bool {
        let is_counter = |piece: &Piece| matches!(piece, Piece::Counter { .. });
        self.pieces.iter().any(is_counter)
    }

    /// Writes the replacement of one match in a `name`, that of the file with this `number`.
    pub(crate) fn expand(&self, captures: &Captures, name: &str, number: u64, into: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => into.push_str(text),
                Piece::Group(group) => {
                    into.push_str(captures.group(*group).map_or("", |range| &name[range]))
                }
                Piece::Counter { width } => into.push_str(&format!("{number:0width$}")),
            }
        }
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// The piece at the start of `text`, which is a `$` or a `{`, and how long it is.
fn special(text: &str, find: &Regex) -> Result<(Piece, usize), String> {
    if text.starts_with("$$") {
        return Ok((Piece::Text("$".into()), 2));
    }
    if let Some(name) = text.strip_prefix("${") {
        let end = name.find('}').ok_or("`${` has no `}`")?;
        return Ok((Piece::Group(group(&name[..end], find)?), end + 3));
    }
    if let Some(name) = text.strip_prefix('$') {
        let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return Err("after `$` comes a group's number, `{` and a group's name, or `$` for a dollar sign".into());
        }
        return Ok((Piece::Group(group(&name[..digits], find)?), digits + 1));
    }
    if text.starts_with("{n}") {
        return Ok((Piece::Counter { width: 0 }, 3));
    }
    if let Some(width) = text.strip_prefix("{n:") {
        let end = width.find('}').ok_or("`{n:` has no `}`")?;
        let digits = width[..end]
            .parse()
            .ok()
            .filter(|width| *width <= MAX_WIDTH);
        let width = digits
            .ok_or_else(|| format!("`{{n:` is followed by a number of digits up to {MAX_WIDTH}"))?;
        return Ok((Piece::Counter { width }, end + 4));
    }
    // A brace is a character like any other in a file's name.
    Ok((Piece::Text("{".into()), 1))
}

/// The index of the group with this name or number.
fn group(name: &str, find: &Regex) -> Result<usize, String> {
    let by_number = name.parse().ok().filter(|number| *number < find.groups());
    by_number
        .or_else(|| find.group_named(name))
        .ok_or_else(|| match find.groups() - 1 {
            0 => format!(
                "`find` has no group `{name}`, nor any other: put brackets around what to keep"
            ),
            1 => format!("`find` has no group `{name}`, only one group"),
            groups => format!("`find` has no group `{name}`, only {groups} groups"),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(find: &str, replace: &str) -> Result<Template, Error> {
        Template::parse(replace, &Regex::new(find).unwrap())
    }

    #[test]
    fn a_template_is_groups_counters_and_text() {
        let check = |find, name: &str, replace, expected: &str| {
            let regex = Regex::new(find).unwrap();
            let mut expanded = String::new();
            let template = parse(find, replace).unwrap();
            template.expand(&regex.matches(name)[0], name, 7, &mut expanded);
            assert_eq!(expanded, expected, "{find} {name} {replace}");
        };
        check("a", "a", "", "");
        check("(a)(b)?", "a", "$1-$2", "a-");
        check("(a)", "a", "$1_x ${1}0 $0", "a_x a0 a");
        check("(?<stem>.*)[.]jpg", "a.jpg", "${stem}.png", "a.png");
        check("a", "a", "{n} {n:3} {n:03} {n:0}", "7 007 007 7");
        check("a", "a", "$$1 {m} { {}", "$1 {m} { {}");
        check("ä", "ä", "ö${0}ü", "öäü");
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let check = |find, replace, problem: &str| {
            let expected = format!("`replace` is not valid at character {problem}");
            assert_eq!(parse(find, replace), Err(Error::tool(expected)));
        };
        check(
            "a",
            "x$1",
            "2: `find` has no group `1`, nor any other: put brackets around what to keep",
        );
        check("(a)", "ö${b}", "2: `find` has no group `b`, only one group");
        check("(a)(b)", "$3", "1: `find` has no group `3`, only 2 groups");
        check("a", "${0", "1: `${` has no `}`");
        check("a", "{n:", "1: `{n:` has no `}`");
        check(
            "a",
            "{n:x}",
            "1: `{n:` is followed by a number of digits up to 20",
        );
        check(
            "a",
            "{n:21}",
            "1: `{n:` is followed by a number of digits up to 20",
        );
        let dollar =
            "after `$` comes a group's number, `{` and a group's name, or `$` for a dollar sign";
        check("a", "10$", &format!("3: {dollar}"));
        check("(?<b>a)", "$b", &format!("1: {dollar}"));
    }
}
