//! Command lines that can be copied into a POSIX shell.

use std::borrow::Cow;

/// Returns a word, in quotes if it needs them.
pub fn quote(word: &str) -> Cow<'_, str> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Joins words to a command line. Words are quoted if necessary.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.into_iter().map(quote).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_the_same_words() {
        let check = |words: &[&str], expected| assert_eq!(join(words.iter().copied()), expected);
        check(&["airlock", "run", "./a.wasm"], "airlock run ./a.wasm");
        check(&["", "~", "*.txt"], "'' '~' '*.txt'");
        check(&[r#"{"find": "a$"}"#], r#"'{"find": "a$"}'"#);
        check(&["it's"], r"'it'\''s'");
        check(&["Grüße"], "'Grüße'");
    }
}
