//! Answers to questions about changes and hunks: the keys of `git add -p`.

use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::on_stderr;
use crate::terminal::prompt;

/// The answer to a question about a change or a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Yes,
    No,
    /// This one and the rest of the file.
    All,
    /// Neither this one nor the rest of the file.
    Done,
    Split,
    Edit,
    Quit,
}

/// Returns the key of an answer, if it is one of these.
pub fn key_of(line: &str, keys: &[char]) -> Option<Key> {
    let mut letters = line
        .trim()
        .chars()
        .map(|letter| letter.to_ascii_lowercase());
    let (Some(letter), None) = (letters.next(), letters.next()) else {
        return None;
    };
    keys.contains(&letter).then_some(())?;
    Some(match letter {
        'y' => Key::Yes,
        'n' => Key::No,
        'a' => Key::All,
        'd' => Key::Done,
        's' => Key::Split,
        'e' => Key::Edit,
        'q' => Key::Quit,
        _ => return None,
    })
}

/// Asks until one of the keys is the answer, and shows the meanings after any other. Returns `None`
/// at the end of the input, and after Ctrl-C.
pub async fn read_key(
    question: &str,
    keys: &[char],
    meanings: &[(char, &str)],
    interrupt: &Interrupt,
) -> Option<Key> {
    let listed: Vec<String> = keys.iter().map(char::to_string).collect();
    let question = format!("{question} [{},?]? ", listed.join(","));
    loop {
        let line = prompt::read(&question, interrupt).await?;
        if let Some(key) = key_of(&line, keys) {
            return Some(key);
        }
        for (key, meaning) in meanings {
            on_stderr(format!("  {key}  {meaning}"));
        }
    }
}
