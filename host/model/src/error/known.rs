//! Suggestions for unknown tool names.

use std::fmt;

use super::Error;

/// The maximum number of tools that are all listed. If there are more, only the most similar are.
const LISTED: usize = 20;
const MOST_ALIKE: usize = 5;

/// The maximum length of a tool's name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The minimum similarity at which a name is suggested.
const ALIKE: f64 = 0.3;

/// The tools that exist, for an error about one that doesn't. Displays as a clause for a model:
/// with all names if there are few, otherwise with those most similar to the requested name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownTools {
    /// The listed names: all in their order, or the most similar first.
    pub names: Vec<String>,
    /// The number of tools.
    pub count: usize,
}

impl KnownTools {
    /// Chooses the names to list when `asked` is unknown.
    pub fn beside<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let count = names.len();
        let told = if count <= LISTED {
            names
        } else {
            most_alike(asked, names)
        };
        Self {
            names: told.into_iter().map(str::to_owned).collect(),
            count,
        }
    }
}

impl Error {
    /// Creates the error for an unknown tool, given the names of the known ones.
    pub fn unknown_tool<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        Error::UnknownTool {
            name: name.to_owned(),
            known: KnownTools::beside(name, known),
        }
    }
}

/// Returns the most similar names, by the pairs of letters that two names have in common: a model
/// is more likely to reorder the words of a name than to mistype it.
fn most_alike<'a>(asked: &str, names: Vec<&'a str>) -> Vec<&'a str> {
    let plain = |name: &str| {
        name.chars()
            .take(MAX_NAME_CHARS)
            .collect::<String>()
            .to_lowercase()
    };
    let asked = plain(asked);
    let rated = names.into_iter();
    let rated = rated.map(|name| (strsim::sorensen_dice(&asked, &plain(name)), name));
    let mut rated: Vec<(f64, &str)> = rated.filter(|(rate, _)| *rate >= ALIKE).collect();
    // The sort is stable, so equally similar names keep their order.
    rated.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    rated.truncate(MOST_ALIKE);
    rated.into_iter().map(|(_, name)| name).collect()
}

impl fmt::Display for KnownTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, names) = (self.count, self.names.join(", "));
        match self.names.len() {
            0 if count == 0 => f.write_str("there are none"),
            0 => write!(f, "there are {count}, and none has a name like that"),
            told if told == count => write!(f, "there are: {names}"),
            _ => write!(f, "there are {count}, the most similar are: {names}"),
        }
    }
}

/// A requested name, which may have any length. Displays its first characters only.
pub(super) struct Asked<'a>(pub &'a str);

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(MAX_NAME_CHARS) {
            None => f.write_str(self.0),
            Some((end, _)) => write!(f, "{}…", &self.0[..end]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(asked: &str, names: &[String]) -> String {
        Error::unknown_tool(asked, names.iter().map(String::as_str)).to_string()
    }

    #[test]
    fn few_tools_are_all_named_and_of_many_those_that_are_most_alike() {
        let many = |special: &[&str]| -> Vec<String> {
            let others = (0..1000).map(|number| format!("tool_{number}"));
            let special = special.iter().map(|name| (*name).to_owned());
            others.chain(special).collect()
        };
        let check = |asked: &str, names: &[String], expected: &str| {
            let expected = format!("there is no tool `{asked}` here; {expected}");
            assert_eq!(message(asked, names), expected);
        };
        check("rename", &[], "there are none");
        let few: Vec<_> = many(&[]).into_iter().take(LISTED).collect();
        check("rename", &few, &format!("there are: {}", few.join(", ")));
        check(
            "rename",
            &many(&[]),
            "there are 1000, and none has a name like that",
        );
        // A slip, another order of the words, and another case.
        for asked in [
            "batch_renmae",
            "rename_batch",
            "BatchRename",
            "batch.rename",
        ] {
            check(
                asked,
                &many(&["batch_rename", "ast_edit"]),
                "there are 1002, the most similar are: batch_rename",
            );
        }
        check(
            "tool_1000",
            &many(&[]),
            "there are 1000, the most similar are: tool_100, tool_10, tool_101, tool_102, tool_103",
        );
    }

    #[test]
    fn a_message_is_short_whatever_is_asked_for_and_however_many_tools_there_are() {
        let names: Vec<String> = (0..10_000).map(|number| format!("{number:0>64}")).collect();
        for asked in ["ü".repeat(1_000_000), "0".repeat(1_000_000)] {
            let message = message(&asked, &names);
            assert!(message.len() < 600, "{} bytes: {message}", message.len());
        }
    }
}
