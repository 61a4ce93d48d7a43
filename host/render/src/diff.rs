//! Unified diffs in a text.

use std::str::Split;

use super::Role;

/// Returns the role of each line in a unified diff, and `None` for lines outside of one. Empty for
/// a text without diffs.
///
/// A diff consists of the lines `--- OLD` and `+++ NEW`, followed by hunks that have as many lines
/// as their headings say. Other text, such as a list whose entries begin with `-`, is ordinary.
pub(super) fn roles(text: &str) -> Vec<Option<Role>> {
    if !text.starts_with("--- ") && !text.contains("\n--- ") {
        return Vec::new();
    }
    let mut roles = Vec::new();
    let mut lines = text.split('\n');
    loop {
        let mut rest = lines.clone();
        match file(&mut rest) {
            Some(found) => {
                roles.extend(found.into_iter().map(Some));
                lines = rest;
            }
            None if lines.next().is_some() => roles.push(None),
            None => return roles,
        }
    }
}

/// Returns the lines about one file, if `lines` begins with a diff. Leaves the lines after it.
fn file(lines: &mut Split<'_, char>) -> Option<Vec<Role>> {
    let is_file = lines.next()?.starts_with("--- ") && lines.next()?.starts_with("+++ ");
    if !is_file {
        return None;
    }
    let mut roles = vec![Role::File, Role::File];
    let mut rest = lines.clone();
    while let Some(found) = hunk(&mut rest) {
        roles.extend(found);
        *lines = rest.clone();
    }
    (roles.len() > 2).then_some(roles)
}

fn hunk(lines: &mut Split<'_, char>) -> Option<Vec<Role>> {
    let (mut old, mut new) = counts(lines.next()?)?;
    let mut roles = vec![Role::Hunk];
    loop {
        let mut rest = lines.clone();
        let Some(line) = rest.next() else { break };
        let role = match line.bytes().next() {
            // "\ No newline at end of file", possibly after the last line.
            Some(b'\\') => Role::Faint,
            _ if old == 0 && new == 0 => break,
            Some(b'-') => Role::Removed,
            Some(b'+') => Role::Added,
            // Some editors remove the space from an empty line.
            Some(b' ' | b'\r') | None => Role::Plain,
            Some(_) => return None,
        };
        old = old.checked_sub(matches!(role, Role::Removed | Role::Plain).into())?;
        new = new.checked_sub(matches!(role, Role::Added | Role::Plain).into())?;
        roles.push(role);
        *lines = rest;
    }
    (old == 0 && new == 0).then_some(roles)
}

/// Returns the number of old and new lines of a hunk, by its heading `@@ -1,2 +3,4 @@`.
fn counts(heading: &str) -> Option<(usize, usize)> {
    let (ranges, _) = heading.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    Some((count(old)?, count(new)?))
}

fn count(range: &str) -> Option<usize> {
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    start.parse::<usize>().ok()?;
    count.parse().ok()
}

/// Returns true if the carriage returns at line ends must be visible. If only some lines of a diff
/// have one, they may be the change.
pub(super) fn mixes_line_ends(text: &str, roles: &[Option<Role>]) -> bool {
    let of_a_file =
        |role: &Option<Role>| matches!(role, Some(Role::Added | Role::Removed | Role::Plain));
    let lines = text.split('\n').zip(roles);
    let ends = lines.filter(|(_, role)| of_a_file(role));
    let mut ends = ends.map(|(line, _)| line.ends_with('\r'));
    let first = ends.next();
    ends.any(|end| Some(end) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A letter for each line: `f`ile, `@` hunk, `+`, `-`, `=` context, `\`, and `.` for what is no
    /// diff.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut found = roles(text);
        found.resize(text.split('\n').count(), None);
        let letters: String = found
            .into_iter()
            .map(|role| match role {
                None => '.',
                Some(Role::File) => 'f',
                Some(Role::Hunk) => '@',
                Some(Role::Added) => '+',
                Some(Role::Removed) => '-',
                Some(Role::Plain) => '=',
                Some(Role::Faint) => '\\',
                Some(other) => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(letters, expected, "{text}");
    }

    #[test]
    fn a_diff_is_found_among_other_text() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn f()\n same\n-old\n+new";
        check(diff, "ff@=-+");
        check(&format!("- one\n+ two\n\n{diff}\n- three"), "...ff@=-+.");
        check(
            &format!("{diff}\n@@ -9 +9,0 @@\n-gone\n\\ No newline at end of file"),
            "ff@=-+@-\\",
        );
        check(&format!("{diff}\n{diff}\nend"), "ff@=-+ff@=-+.");
        check("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b", "ff@++");
        check(
            "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1 @@\r\n-a\r\n\r\n",
            "ff@-=.",
        );
        // An empty line of context that has lost its space.
        check("--- a\n+++ b\n@@ -1,2 +1,3 @@\n\n+x\n y", "ff@=+=");
        // Lines that look like headings are part of a hunk by its counts.
        check("--- a\n+++ b\n@@ -1 +1 @@\n--- c\n+++ d\n+++ e", "ff@-+.");
    }

    #[test]
    fn what_does_not_add_up_is_ordinary_text() {
        for text in [
            "- a list\n- of things\n+ and more",
            "--- a\n+++ b",
            "--- a\n+++ b\n-x\n+y",
            "--- a\n+++ b\n@@ -1 +1 @@\n-x",
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\n-y",
            "--- a\n+++ b\n@@ -1,3 +1,3 @@\n-x\n+y\nprose",
            "--- a\n+++ b\n@@ -1 +1\n-x\n+y",
            "--- a\n+++ b\n@@ -1,99999999999999999999 +1 @@\n-x\n+y",
            "@@ -1 +1 @@\n-x\n+y",
            "",
        ] {
            check(text, &".".repeat(text.split('\n').count()));
        }
    }

    #[test]
    fn changed_line_ends_are_noticed() {
        let check = |text: &str, expected| {
            assert_eq!(mixes_line_ends(text, &roles(text)), expected, "{text:?}");
        };
        check("--- a\n+++ b\n@@ -1 +1 @@\n-x\r\n+x", true);
        check("--- a\n+++ b\n@@ -1 +1 @@\n-x\r\n+y\r", false);
        check("prose\r\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y", false);
    }
}
