//! How a file gets its new name.

use airlock_tool::Error;

use crate::params::Params;
use crate::regex::Regex;
use crate::template::Template;

/// What to find in a name, and what to put in its place.
pub(crate) struct Rule {
    find: Regex,
    replace: Template,
    start: u64,
}

impl Rule {
    pub(crate) fn new(params: &Params) -> Result<Self, Error> {
        let find = Regex::new(&params.find).map_err(|error| {
            Error::tool(format!("`find` is not a valid regular expression: {error}"))
        })?;
        let replace = Template::parse(&params.replace, &find)?;
        Ok(Self {
            find,
            replace,
            start: params.start.into(),
        })
    }

    /// The new name of the file that is the `index`th to match, counted from 0; none if it does not
    /// match.
    pub(crate) fn rename(&self, name: &str, index: usize) -> Option<String> {
        let mut renamed = String::new();
        let mut end = 0;
        let mut matched = false;
        for captures in self.find.matches(name) {
            let found = captures.range();
            renamed.push_str(&name[end..found.start]);
            self.replace
                .expand(&captures, name, self.start + index as u64, &mut renamed);
            end = found.end;
            matched = true;
        }
        renamed.push_str(&name[end..]);
        matched.then_some(renamed)
    }

    /// Whether a file of this name gets another one, wherever it stands among the files that match.
    pub(crate) fn is_renamed(&self, name: &str) -> bool {
        !self.replace.has_counter() && self.rename(name, 0).is_some_and(|renamed| renamed != name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn rule(find: &str, replace: &str) -> Rule {
        Rule::new(&params(find, replace)).unwrap()
    }

    pub(crate) fn params(find: &str, replace: &str) -> Params {
        Params {
            files: Vec::new(),
            find: find.into(),
            replace: replace.into(),
            start: 1,
        }
    }

    #[test]
    fn every_match_in_a_name_is_replaced() {
        let check = |find, replace, name, expected: Option<&str>| {
            assert_eq!(rule(find, replace).rename(name, 4).as_deref(), expected);
        };
        check("x", "y", "abc", None);
        check(" ", "_", "a b c.txt", Some("a_b_c.txt"));
        check("^.*$", "{n}", "abc", Some("5"));
        check(".*", "x", "abc", Some("x"));
        check(r"(?i)\.JPE?G$", ".jpg", "a.jpeg", Some("a.jpg"));
        check(
            r"^(\w+)-(\w+)",
            "$2-$1",
            "left-right.md",
            Some("right-left.md"),
        );
        check("Ä", "Ae", "Ärger", Some("Aerger"));
        check("", "-", "ab", Some("-a-b-"));
    }

    #[test]
    fn a_mistake_in_the_expression_is_shown_in_its_place() {
        let message = Rule::new(&params("a(b", "")).err().unwrap().to_string();
        let expected = "`find` is not a valid regular expression: regex parse error:\n    a(b\n     ^\nerror: unclosed group";
        assert_eq!(message, expected);
    }
}
