//! The language of `replace`.

use airlock_tool::Error;

use crate::format::{self, Format};
use crate::regex::{Captures, Regex};

/// A replacement for a match: a text that contains groups and the counter.
#[derive(Debug, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Group {
        group: usize,
        format: Option<Format>,
        /// The group as it is written in `replace`, for errors.
        written: String,
    },
    Counter {
        width: usize,
    },
}

impl Template {
    /// Parses a template with the groups of `find`.
    ///
    /// This is stricter than the regex crate's own templates. There, a group that does not exist is
    /// an empty text, and `$1_a` is the group named `1_a`.
    ///
    /// # Errors
    /// Returns the first mistake in `text`, and the position of its first character.
    pub(crate) fn parse(text: &str, find: &Regex) -> Result<Self, Error> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{', '\\']) {
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

    /// Checks if a new name depends on the number of files that matched before.
    pub(crate) fn has_counter(&self) -> bool {
        let is_counter = |piece: &Piece| matches!(piece, Piece::Counter { .. });
        self.pieces.iter().any(is_counter)
    }

    /// Writes the replacement of a match in `name`. `number` is the file's number.
    ///
    /// # Errors
    /// Returns an error if a group can't be written in the template's format.
    pub(crate) fn expand(
        &self,
        captures: &Captures,
        name: &str,
        number: u64,
        into: &mut String,
    ) -> Result<(), String> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => into.push_str(text),
                Piece::Group {
                    group,
                    format,
                    written,
                } => {
                    let text = captures.group(*group).map_or("", |range| &name[range]);
                    match format {
                        Some(format) => format
                            .write(text, into)
                            .map_err(|problem| format!("`{written}` {problem}"))?,
                        None => into.push_str(text),
                    }
                }
                Piece::Counter { width } => into.push_str(&format!("{number:0width$}")),
            }
        }
        Ok(())
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// Returns the piece at the start of `text`, which is a `$`, a `{` or a `\`, and its length.
fn special(text: &str, find: &Regex) -> Result<(Piece, usize), String> {
    let group = |name: &str, format, length: usize| {
        let piece = Piece::Group {
            group: group(name, find)?,
            format,
            written: text[..length].to_owned(),
        };
        Ok((piece, length))
    };
    if text.starts_with("$$") {
        return Ok((Piece::Text("$".into()), 2));
    }
    if let Some(name) = text.strip_prefix("${") {
        let end = name.find('}').ok_or("`${` has no `}`")?;
        return match name[..end].split_once(':') {
            Some((name, format)) => group(name, Some(Format::parse(format)?), end + 3),
            None => group(&name[..end], None, end + 3),
        };
    }
    if let Some(name) = text.strip_prefix('$') {
        let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return Err("after `$` comes a group's number, `{` and a group's name, or `$` for a dollar sign".into());
        }
        return group(&name[..digits], None, digits + 1);
    }
    if let Some(digit) = text.strip_prefix('\\') {
        // Other programs use this syntax for groups. Here it would put a backslash into every new
        // name.
        return match digit.chars().next().filter(char::is_ascii_digit) {
            Some(digit) => Err(format!("a group is written `${digit}`, not `\\{digit}`")),
            None => Ok((Piece::Text("\\".into()), 1)),
        };
    }
    if text.starts_with("{n}") {
        return Ok((Piece::Counter { width: 0 }, 3));
    }
    let inside = &text[1..];
    let name = &inside[..inside
        .find(|c: char| !is_of_name(c))
        .unwrap_or(inside.len())];
    match inside[name.len()..].chars().next() {
        Some(':') if !name.is_empty() => {
            let format = &inside[name.len() + 1..];
            let end = (format.find('}')).ok_or_else(|| format!("`{{{name}:` has no `}}`"))?;
            let length = name.len() + end + 3;
            if name == "n" {
                let width = format::width(&format[..end]).ok_or_else(|| {
                    format!(
                        "`{{n:` is followed by a number of digits up to {}",
                        format::MAX_WIDTH
                    )
                })?;
                return Ok((Piece::Counter { width }, length));
            }
            let (_, length) = group(name, None, length)?;
            group(name, Some(Format::parse(&format[..end])?), length)
        }
        Some('}') if group_of(name, find).is_some() => group(name, None, name.len() + 2),
        // Any other brace is an ordinary character of a file's name.
        _ => Ok((Piece::Text("{".into()), 1)),
    }
}

/// Checks if a group's name may contain this character.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']')
}

fn group_of(name: &str, find: &Regex) -> Option<usize> {
    let by_number = name.parse().ok().filter(|number| *number < find.groups());
    by_number.or_else(|| find.group_named(name))
}

/// Returns the index of the group with this name or number.
fn group(name: &str, find: &Regex) -> Result<usize, String> {
    group_of(name, find).ok_or_else(|| match find.groups() - 1 {
        0 => {
            format!("`find` has no group `{name}`, nor any other: put brackets around what to keep")
        }
        1 => format!("`find` has no group `{name}`, only one group"),
        groups => format!("`find` has no group `{name}`, only {groups} groups"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            let captures = &regex.matches(name)[0];
            assert_eq!(template.expand(captures, name, 7, &mut expanded), Ok(()));
            assert_eq!(expanded, expected, "{find} {name} {replace}");
        };
        check("a", "a", "", "");
        check("(a)(b)?", "a", "$1-$2", "a-");
        check("(a)", "a", "$1_x ${1}0 $0", "a_x a0 a");
        check("(?<stem>.*)[.]jpg", "a.jpg", "${stem}.png", "a.png");
        check("a", "a", "{n} {n:3} {n:03} {n:0}", "7 007 007 7");
        check("a", "a", "$$1 {m} { {}", "$1 {m} { {}");
        check("ä", "ä", "ö${0}ü", "öäü");
        check("(a)(b)?", "a", "{1}{0}-{2}", "aa-");
        check("(?<stem>.*)[.]jpg", "a.jpg", "{stem}.{ext}", "a.{ext}");
        check(
            "a",
            "a",
            "{1} {2026} {} {{0}} {a b:c}",
            "{1} {2026} {} {a} {a b:c}",
        );
        check("a", "a", r"\a\", r"\a\");
    }

    #[test]
    fn a_group_is_written_in_a_format() {
        let check = |find, name: &str, replace, expected: &str| {
            let regex = Regex::new(find).unwrap();
            let mut expanded = String::new();
            let template = parse(find, replace).unwrap();
            let captures = &regex.matches(name)[0];
            assert_eq!(template.expand(captures, name, 1, &mut expanded), Ok(()));
            assert_eq!(expanded, expected, "{find} {name} {replace}");
        };
        check("(.*)", "dS_c", "{1:upper} {1:lower}", "DS_C ds_c");
        check(
            "(.*)",
            "the END",
            "${1:title} {1:sentence}",
            "The End The end",
        );
        check("(?<no>[0-9]+)", "7", "{no:3} {no:1} ${no:2}", "007 7 07");
        check("(a)|(b)", "a", "{2:3}{2:upper}", "");
        check("(?<äé>.)", "ß", "{äé:upper}", "SS");
    }

    #[test]
    fn a_group_that_is_no_number_is_not_padded() {
        let find = Regex::new("(.*)").unwrap();
        let template = Template::parse("x-{1:3}", &find).unwrap();
        let problem = template.expand(&find.matches("b2")[0], "b2", 1, &mut String::new());
        let expected = "`{1:3}` needs digits, and the group is `b2`";
        assert_eq!(problem, Err(expected.to_owned()));
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
        check(
            "(a)",
            "ä{1:uper}",
            "2: `uper` is not a format; use `upper`, `lower`, `title`, `sentence`, or a number of digits up to 20",
        );
        check("(a)", "{1:", "1: `{1:` has no `}`");
        check(
            "(a)",
            "{1:21}",
            "1: `21` is not a format; use `upper`, `lower`, `title`, `sentence`, or a number of digits up to 20",
        );
        check(
            "(a)",
            "{2:upper}",
            "1: `find` has no group `2`, only one group",
        );
        check(
            "(a)",
            "${b:upper}",
            "1: `find` has no group `b`, only one group",
        );
        check("(a)", r"x-\1", r"3: a group is written `$1`, not `\1`");
    }

    proptest! {
        /// Whatever a template is, it is read or refused; and what is read can be written.
        #[test]
        fn no_template_is_too_odd(text in "([${}:n123a]|upper|title|\\PC){0,12}", name in "\\PC{0,8}") {
            let find = Regex::new("(?<a>[0-9]*)(.?)").unwrap();
            match Template::parse(&text, &find) {
                Ok(template) => for captures in find.matches(&name) {
                    let mut written = String::new();
                    if let Err(problem) = template.expand(&captures, &name, 7, &mut written) {
                        prop_assert!(problem.contains("needs digits"), "{}", problem);
                    }
                },
                Err(error) => {
                    let begin = "`replace` is not valid at character ";
                    prop_assert!(error.to_string().starts_with(begin), "{}", error);
                }
            }
        }
    }
}
