//! Advice about lines that were expected in a file and aren't in it.

use std::fmt::Write as _;

use crate::diff::cut;
use crate::tolerance::Tolerance;

/// The most lines that advice shows.
const SHOWN: usize = 20;

/// The most comparisons of lines.
const MAX_COMPARISONS: usize = 5_000_000;

/// Returns the lines of a file that are most like the expected ones, and the first difference.
pub(crate) fn advice(lines: &[&str], expected: &[&str]) -> String {
    let Some(start) = closest(lines, expected) else {
        return "No line of the file is like it; read the file again.".to_owned();
    };
    let window = &lines[start..(start + expected.len()).min(lines.len())];
    let mut text = match window.len() {
        1 => format!("The closest line is {}:", start + 1),
        len => format!("The closest lines are {}–{}:", start + 1, start + len),
    };
    for line in window.iter().take(SHOWN) {
        let _ = write!(text, "\n{}", cut(line));
    }
    if window.len() > SHOWN {
        let _ = write!(text, "\n… and {} more lines", window.len() - SHOWN);
    }
    let differs = |(there, wanted): &(&&str, &&str)| !Tolerance::Indentation.same(there, wanted);
    let difference = window.iter().zip(expected).position(|pair| differs(&pair));
    if let Some(at) = difference.filter(|_| expected.len() > 1) {
        let _ = write!(
            text,
            "\nThe first difference is in line {}, where this was expected:\n{}",
            start + at + 1,
            cut(expected[at])
        );
    }
    text
}

/// Returns the index of the lines that have most of the expected ones, in their order.
fn closest(lines: &[&str], expected: &[&str]) -> Option<usize> {
    if lines.len().saturating_mul(expected.len()) > MAX_COMPARISONS {
        return None;
    }
    let trimmed = |lines: &[&str]| {
        lines
            .iter()
            .map(|it| it.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let (there, wanted) = (trimmed(lines), trimmed(expected));
    // The expected text may begin and end inside of a line.
    let last = wanted.len().saturating_sub(1);
    let fits = |at: usize, there: &str, wanted: &str| {
        let is_long = wanted.len() >= 4;
        let is_part = is_long
            && ((at == 0 && there.ends_with(wanted)) || (at == last && there.starts_with(wanted)));
        !wanted.is_empty() && (there == wanted || is_part)
    };
    let same = |start: usize| {
        let pairs = there[start..].iter().zip(&wanted).enumerate();
        pairs.filter(|(at, (a, b))| fits(*at, a, b)).count()
    };
    // The last of the best ones would be found, so they are compared from the end.
    let best = (0..there.len()).rev().max_by_key(|start| same(*start))?;
    if same(best) > 0 {
        return Some(best);
    }
    let first = wanted.iter().position(|line| !line.is_empty())?;
    let likeness = |line: &str| likeness(line, &wanted[first]);
    let best = (0..there.len())
        .rev()
        .max_by_key(|at| likeness(&there[*at]))?;
    (likeness(&there[best]) >= 50).then(|| best.saturating_sub(first))
}

/// Returns the part of the pairs of neighbouring characters that two lines share, as a percentage.
fn likeness(a: &str, b: &str) -> usize {
    let pairs = |line: &str| -> Vec<[u8; 2]> {
        let line = &line.as_bytes()[..line.len().min(500)];
        line.windows(2).map(|it| [it[0], it[1]]).collect()
    };
    let (a, mut b) = (pairs(a), pairs(b));
    let total = a.len() + b.len();
    let shared = a.iter().filter(|pair| {
        let at = b.iter().position(|other| other == *pair);
        at.map(|at| b.swap_remove(at)).is_some()
    });
    shared.count() * 200 / total.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_lines_are_shown_with_the_first_difference() {
        let lines = ["fn a() {", "    let x = 1;", "    x + 1", "}"];
        assert_eq!(
            advice(&lines, &["fn a() {", "    let x = 2;", "    x + 1"]),
            "The closest lines are 1–3:\nfn a() {\n    let x = 1;\n    x + 1\n\
             The first difference is in line 2, where this was expected:\n    let x = 2;"
        );
        assert_eq!(
            advice(&lines, &["let y = 1;"]),
            "The closest line is 2:\n    let x = 1;"
        );
        assert_eq!(
            advice(&lines, &["nothing of the kind"]),
            "No line of the file is like it; read the file again."
        );
        // The text ends inside of a line, which tells the second place from the first.
        let lines = [
            "    split()",
            "",
            "    def include_(a):",
            "    split()",
            "",
            "    def exclude_(a):",
        ];
        let told = advice(&lines, &["    split();", "", "    def exclude_"]);
        assert!(told.starts_with("The closest lines are 4–6:"), "{told}");
    }
}
