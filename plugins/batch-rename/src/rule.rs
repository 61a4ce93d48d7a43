//! Rules that give a file its new name.

use std::borrow::Cow;

use airlock_tool::Error;

use crate::form::{self, Form};
use crate::params::Params;
use crate::regex::Regex;
use crate::template::Template;

/// A pattern to find in a name, and its replacement.
pub(crate) struct Rule {
    find: Regex,
    replace: Template,
    start: u64,
    normalize: Option<Form>,
}

impl Rule {
    pub(crate) fn new(params: &Params) -> Result<Self, Error> {
        // Matching is in NFC, in which a letter with its accent is one character, as in `[é]`.
        let find = match params.normalize {
            Some(_) => form::composed(&params.find),
            None => Cow::Borrowed(params.find.as_str()),
        };
        let find = Regex::new(&find).map_err(|error| {
            Error::tool(format!("`find` is not a valid regular expression: {error}"))
        })?;
        let replace = Template::parse(&params.replace, &find)?;
        Ok(Self {
            find,
            replace,
            start: params.start.into(),
            normalize: params.normalize,
        })
    }

    /// Returns the new name of the file that is the `index`th to match, counted from 0, or `None`
    /// if it does not match.
    ///
    /// # Errors
    /// Returns an error if a group in this name can't be written in the template's format.
    pub(crate) fn rename(&self, name: &str, index: usize) -> Result<Option<String>, String> {
        let composed = self.normalize.map(|_| form::composed(name));
        let name = composed.as_deref().unwrap_or(name);
        let mut renamed = String::new();
        let mut end = 0;
        let mut matched = false;
        for captures in self.find.matches(name) {
            let found = captures.range();
            renamed.push_str(&name[end..found.start]);
            self.replace
                .expand(&captures, name, self.start + index as u64, &mut renamed)?;
            end = found.end;
            matched = true;
        }
        renamed.push_str(&name[end..]);
        if let Some(form) = self.normalize {
            renamed = form.write(&renamed);
        }
        Ok(matched.then_some(renamed))
    }

    /// Checks if a file of this name gets another one, regardless of its position among the files
    /// that match.
    pub(crate) fn is_renamed(&self, name: &str) -> bool {
        let renamed = || self.rename(name, 0).ok().flatten();
        !self.replace.has_counter() && renamed().is_some_and(|renamed| renamed != name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

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
            directories: false,
            normalize: None,
        }
    }

    #[test]
    fn every_match_in_a_name_is_replaced() {
        let check = |find, replace, name, expected: Option<&str>| {
            let renamed = rule(find, replace).rename(name, 4).unwrap();
            assert_eq!(renamed.as_deref(), expected);
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
        check(r"^\p{Lu}", "x", "Äb", Some("xb"));
        check(
            r"\p{Greek}+|\p{Emoji_Presentation}",
            "_",
            "aβγ🎉",
            Some("a__"),
        );
        check(r"\p{L}\P{L}", "-", "日1", Some("-"));
        check(r"[\p{Nd}&&[^0-9]]", "-", "1٣", Some("1-"));
        check(r"\\", "_", r"a\b", Some("a_b"));
        check("^(.)", "{1:upper}", "été", Some("Été"));
        check(r"(\d+)", "{1:3}", "s1e12", Some("s001e012"));
    }

    #[test]
    fn a_normalized_name_matches_in_either_form_and_comes_out_in_one() {
        let check = |form, find, replace, name, expected: Option<&str>| {
            let mut params = params(find, replace);
            params.normalize = form;
            let renamed = Rule::new(&params).unwrap().rename(name, 0).unwrap();
            assert_eq!(renamed.as_deref(), expected);
        };
        let (nfc, nfd) = (Some(Form::Nfc), Some(Form::Nfd));
        check(None, "[\u{e9}]", "", "e\u{301}", None);
        check(nfc, "[\u{e9}]$", "x", "e\u{301}", Some("x"));
        check(nfc, "e\u{301}", "x", "\u{e9}", Some("x"));
        check(
            nfd,
            "^(.)",
            "$1-",
            "\u{e9}\u{e9}",
            Some("e\u{301}-e\u{301}"),
        );
        check(nfc, "^", "", "e\u{301}", Some("\u{e9}"));
        check(nfd, "^", "", "\u{e9}", Some("e\u{301}"));
        check(nfc, "$", "\u{301}", "e", Some("\u{e9}"));
        check(nfc, "x", "", "e\u{301}", None);
    }

    #[test]
    fn a_mistake_in_the_expression_is_shown_in_its_place() {
        let message = Rule::new(&params("a(b", "")).err().unwrap().to_string();
        let expected = "`find` is not a valid regular expression: regex parse error:\n    a(b\n     ^\nerror: unclosed group";
        assert_eq!(message, expected);
    }

    proptest! {
        #[test]
        fn a_normalized_name_is_the_same_for_either_form(
            name in "[a\u{e9}\u{301}\u{5d0}\u{ac00}\u{1100}\u{1161}._ ]{1,10}",
            find in "[.a\u{e9}]",
        ) {
            for form in [Form::Nfc, Form::Nfd] {
                let mut params = params(&find, "[$0]");
                params.normalize = Some(form);
                let rule = Rule::new(&params).unwrap();
                let of_nfc = rule.rename(&Form::Nfc.write(&name), 0).unwrap();
                let of_nfd = rule.rename(&Form::Nfd.write(&name), 0).unwrap();
                prop_assert_eq!(&of_nfc, &of_nfd);
                if let Some(renamed) = of_nfc {
                    prop_assert_eq!(form.write(&renamed), renamed);
                }
            }
        }
    }
}
