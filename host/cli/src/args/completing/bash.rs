//! Completions for bash, quoted for the shell. The completer in clap inserts file names unquoted,
//! so bash would run a part of some names as a command.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

use airlock_render::shell;
use clap::Command;
use clap_complete::engine::complete;
use clap_complete::env::EnvCompleter;

/// The environment variable with the index of the word to complete.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// The separator of candidates. No candidate contains it.
const BETWEEN: &str = "\x0b";

/// A script that passes the words on as they were typed. `read` splits the answer without expanding
/// it.
const SCRIPT: &str = r#"
_clap_complete_NAME() {
    if compopt +o nospace 2> /dev/null; then
        local with_space=true
    else
        local with_space=false
    fi
    IFS=$'\013' read -r -d '' -a COMPREPLY < <(
        _CLAP_COMPLETE_INDEX="$COMP_CWORD" VAR="bash" COMPLETER -- "${COMP_WORDS[@]}" 2> /dev/null
    )
    if [[ $with_space == true ]] && [[ "${COMPREPLY-}" =~ [=/:]$ ]]; then
        compopt -o nospace
    fi
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _clap_complete_NAME NAME
else
    complete -o nospace -o bashdefault -F _clap_complete_NAME NAME
fi
"#;

pub struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        _bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let script = SCRIPT
            .replace("NAME", name)
            .replace("VAR", var)
            .replace("COMPLETER", &shell::quote(completer));
        writeln!(buf, "{script}")
    }

    fn write_complete(
        &self,
        cmd: &mut Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let index = env::var(INDEX).ok().and_then(|index| index.parse().ok());
        let index = index.unwrap_or(0);
        let typed = super::words_of(env::args_os()).into_iter().nth(index);
        let typed = typed.unwrap_or_default().to_string_lossy().into_owned();
        let Some(quotes) = Quotes::at_end_of(&typed) else {
            return Ok(());
        };
        let mut between = "";
        for candidate in complete(cmd, args, index, current_dir)? {
            let value = candidate.get_value().to_string_lossy();
            if value.contains(char::is_control) {
                continue;
            }
            write!(buf, "{between}{}", quotes.quote(&value))?;
            between = BETWEEN;
        }
        Ok(())
    }
}

/// The quotation mark that is still open at the end of a word. Bash inserts candidates after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

impl Quotes {
    /// Returns the open mark, or `None` if it is in the middle of a word: bash replaces only the
    /// text after it.
    fn at_end_of(typed: &str) -> Option<Self> {
        let read = Read::of(typed);
        match (read.open, read.opened_at) {
            (Self::None, _) => Some(Self::None),
            (open, 0) => Some(open),
            _ => None,
        }
    }

    fn quote(self, value: &str) -> String {
        let harmless = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric();
        let is_special = |c: char| match self {
            Self::None => !harmless(c) && !"_-./:=@%+,".contains(c),
            Self::Double => "\"\\$`!".contains(c),
            Self::Single => false,
        };
        match self {
            Self::Single => value.replace('\'', r"'\''"),
            _ => {
                let mut quoted = String::with_capacity(value.len());
                for c in value.chars() {
                    match c {
                        // A backslash doesn't stop history expansion inside double quotes.
                        '!' if self == Self::Double => quoted.push_str(r#""'!'""#),
                        c => {
                            if is_special(c) {
                                quoted.push('\\');
                            }
                            quoted.push(c);
                        }
                    }
                }
                quoted
            }
        }
    }
}

/// A word after quote removal, without expansions.
struct Read {
    value: String,
    open: Quotes,
    /// The position of the open mark.
    opened_at: usize,
}

impl Read {
    fn of(typed: &str) -> Self {
        let mut read = Self {
            value: String::with_capacity(typed.len()),
            open: Quotes::None,
            opened_at: 0,
        };
        let mut chars = typed.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            match (read.open, c) {
                (Quotes::None, '\'') => (read.open, read.opened_at) = (Quotes::Single, at),
                (Quotes::None, '"') => (read.open, read.opened_at) = (Quotes::Double, at),
                (Quotes::Single, '\'') | (Quotes::Double, '"') => read.open = Quotes::None,
                (Quotes::None, '\\') => {}
                (Quotes::Double, '\\') if next.is_some_and(|it| "\"\\$`".contains(it)) => {}
                (_, c) => {
                    read.value.push(c);
                    continue;
                }
            }
            if c == '\\' {
                read.value.extend(chars.next().map(|(_, c)| c));
            }
        }
        read
    }
}

/// Removes the quotes of a typed word. Leaves a word that isn't UTF-8 as it is.
pub fn unquoted(typed: OsString) -> OsString {
    match typed.to_str() {
        Some(text) => Read::of(text).value.into(),
        None => typed,
    }
}

/// Returns true for bash, by name or path.
pub fn is_meant(shell: &OsStr) -> bool {
    Path::new(shell).file_stem() == Some(OsStr::new("bash"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_back_as_what_it_was_quoted_from() {
        for value in [
            "plain",
            "",
            "a;touch PWNED;.wasm",
            "$(touch PWNED)`id`",
            r#"it's "quoted" \ with! all"#,
            "~ #*?[a]{b,c}<d>|&",
            "Grüße",
        ] {
            for (quotes, mark) in [
                (Quotes::None, ""),
                (Quotes::Single, "'"),
                (Quotes::Double, "\""),
            ] {
                let typed = format!("{mark}{}{mark}", quotes.quote(value));
                assert_eq!(unquoted(typed.clone().into()), value, "{typed}");
            }
        }
    }

    #[test]
    fn a_candidate_is_quoted_as_the_word_was_begun() {
        let check = |typed: &str, expected| assert_eq!(Quotes::at_end_of(typed), expected);
        check("./a", Some(Quotes::None));
        check(r"./a\'", Some(Quotes::None));
        check("'./a'", Some(Quotes::None));
        check("'./a", Some(Quotes::Single));
        check(r#""./a\""#, Some(Quotes::Double));
        check("./a'b", None);
    }
}
