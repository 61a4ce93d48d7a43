//! Checks for the new names of files.

/// The most bytes in a name on the usual file systems.
const MAX_BYTES: usize = 255;

/// Returns the reason why a file with the name `old` can't have this name, if there is one.
pub(crate) fn problem(name: &str, old: &str) -> Option<String> {
    // On Windows a backslash is a separator, and the workspace may be there. If the old name has a
    // backslash, it is an ordinary character.
    let is_separator = |c: char| c == '/' || c == '\\' && !old.contains('\\');
    let character = |c: &char| is_separator(*c) || c.is_control();
    match name {
        "" => Some("the new name is empty".into()),
        "." | ".." => Some(format!("`{name}` is not a name for a file")),
        _ if name.len() > MAX_BYTES => Some(format!(
            "the new name is {} bytes; the limit is {MAX_BYTES}",
            name.len()
        )),
        _ => match name.chars().find(character)? {
            separator @ ('/' | '\\') => Some(format!(
                "`{separator}` in the new name would move the file out of its directory"
            )),
            control => Some(format!(
                "the new name has the control character U+{:04X}",
                u32::from(control)
            )),
        },
    }
}

/// Returns a path in one line, with control characters escaped.
pub(crate) fn shown(path: &str) -> String {
    let escape = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    path.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_directory_and_can_be_read() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(problem(name, "a").as_deref(), expected)
        };
        check("a b.txt", None);
        check("...", None);
        check(".hidden", None);
        check("", Some("the new name is empty"));
        check(".", Some("`.` is not a name for a file"));
        check("..", Some("`..` is not a name for a file"));
        check(
            "a/b",
            Some("`/` in the new name would move the file out of its directory"),
        );
        check(
            r"a\b",
            Some(r"`\` in the new name would move the file out of its directory"),
        );
        check("a\0", Some("the new name has the control character U+0000"));
        check(
            "a\nb",
            Some("the new name has the control character U+000A"),
        );
        check(&"ä".repeat(127), None);
        check(
            &"ä".repeat(128),
            Some("the new name is 256 bytes; the limit is 255"),
        );
        assert_eq!(problem(r"a\b", r"x\y"), None);
        assert!(problem("a/b", r"x\y").is_some());
    }

    #[test]
    fn a_path_is_shown_in_one_line() {
        assert_eq!(shown("a\nb/ü.txt"), "a\\nb/ü.txt");
    }
}
