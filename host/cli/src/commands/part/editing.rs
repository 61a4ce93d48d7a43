//! Editing a hunk in the person's editor, as `git add -e` does.

use std::io::{self, Write};
use std::process::Command;

use airlock_host::effects::Hunk;

use super::hunks::Group;

const HELP: &str = "\
# Edit the lines to apply; lines with # are removed.
# To keep a line that would be removed, replace its - with a space.
# To leave out an added line, delete it. Change or add lines with + freely.
# If nothing is left in the file, the hunk stays as it is.
";

/// Lets the person edit a group. Returns the lines that take the place of those that it shows of
/// the file before the change; `None` if the file was emptied.
///
/// # Errors
/// If the editor can't be run, or if the result doesn't fit the file, with the reason.
pub fn edit(group: &Group, all: &[Hunk]) -> io::Result<Option<Vec<String>>> {
    let mut file = tempfile::Builder::new()
        .prefix("hunk-")
        .suffix(".diff")
        .tempfile()?;
    write!(file, "{}{HELP}", group.text(all))?;
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok());
    let editor = editor.into_iter().find(|it| !it.trim().is_empty());
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    // A shell, because the variable may have options.
    let script = format!("{editor} \"$1\"");
    let ended = Command::new("sh")
        .args(["-c", &script, "sh"])
        .arg(file.path())
        .status()?;
    if !ended.success() {
        return Err(io::Error::other(format!("{editor} failed: {ended}")));
    }
    let edited = std::fs::read_to_string(file.path())?;
    lines_of(&edited, group, all).map_err(io::Error::other)
}

/// Reads an edited group.
///
/// # Errors
/// The reason why it doesn't fit the file.
fn lines_of(edited: &str, group: &Group, all: &[Hunk]) -> Result<Option<Vec<String>>, String> {
    let mut new: Vec<String> = Vec::new();
    let old = group.before(all);
    let mut old = old.iter().map(String::as_str);
    let mut is_empty = true;
    let mut was_added = false;
    for line in edited.split_inclusive('\n') {
        let sign = line.chars().next().unwrap_or(' ');
        if sign == '#' || sign == '@' {
            continue;
        }
        is_empty = false;
        // Editors may remove the space from an empty line.
        let text = line
            .get(1..)
            .filter(|text| !text.is_empty())
            .unwrap_or("\n");
        match sign {
            '+' => new.push(text.to_owned()),
            '\\' => {
                if let Some(last) = new.last_mut().filter(|_| was_added) {
                    last.truncate(last.trim_end_matches('\n').len());
                }
            }
            ' ' | '-' | '\n' => {
                let expected = old.next();
                let expected =
                    expected.filter(|it| it.trim_end_matches('\n') == text.trim_end_matches('\n'));
                let Some(expected) = expected else {
                    return Err(format!(
                        "\"{}\" is not the next line of the file",
                        text.trim_end()
                    ));
                };
                if sign != '-' {
                    new.push(expected.to_owned());
                }
            }
            _ => {
                return Err(format!(
                    "\"{}\" has no sign: a space, - or +",
                    line.trim_end()
                ));
            }
        }
        was_added = sign == '+';
    }
    match old.next() {
        _ if is_empty => Ok(None),
        Some(missing) => Err(format!(
            "the line \"{}\" is missing; to remove it, put a - before it",
            missing.trim_end()
        )),
        None => Ok(Some(new)),
    }
}

#[cfg(test)]
mod tests {
    use airlock_host::effects::{Change, ChangeKind};

    use super::super::hunks::sections;
    use super::*;

    #[test]
    fn an_edited_hunk_fits_the_file_or_is_refused() {
        let mut change = Change::new(ChangeKind::Modified, "x");
        let diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n \n";
        change.diff = Some(diff.to_owned());
        let all = change.hunks();
        let group = &sections(&all)[0];
        let check = |edited: &str, expected: Result<Option<&[&str]>, &str>| {
            let found = lines_of(edited, group, &all);
            let found = found.as_ref().map(|it| {
                it.as_ref()
                    .map(|it| it.iter().map(String::as_str).collect::<Vec<_>>())
            });
            let found = found
                .as_ref()
                .map(|it| it.as_deref())
                .map_err(|it| it.as_str());
            assert_eq!(found, expected, "{edited:?}");
        };
        check(
            &format!("{}{HELP}", group.text(&all)),
            Ok(Some(&["one\n", "2\n", "\n"])),
        );
        check(
            "@@ @@\n one\n two\n+more\n\n",
            Ok(Some(&["one\n", "two\n", "more\n", "\n"])),
        );
        check(
            " one\n-two\n+end\n\\ No newline\n \n",
            Ok(Some(&["one\n", "end", "\n"])),
        );
        check("# all gone\n", Ok(None));
        check(
            " one\n+2\n \n",
            Err("\"\" is not the next line of the file"),
        );
        check(
            " one\n-two\n",
            Err("the line \"\" is missing; to remove it, put a - before it"),
        );
        check(
            " one\n-two\nthree\n",
            Err("\"three\" has no sign: a space, - or +"),
        );
    }
}
