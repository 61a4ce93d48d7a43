//! Regular expressions, in the syntax and with the messages of the crate `regex`.
//!
//! That crate chooses between engines while it runs, so all of them are part of a component that
//! uses it. Names are short: the plainest of its engines is as fast for them.

use std::cell::RefCell;
use std::error::Error as _;
use std::ops::Range;

use regex_automata::PatternID;
use regex_automata::nfa::thompson::pikevm::{Cache, PikeVM};
use regex_automata::nfa::thompson::{self, BuildError};
use regex_automata::util::captures;

/// The most bytes that a compiled expression takes, as for the crate `regex`.
const SIZE_LIMIT: usize = 10 * (1 << 20);

pub(crate) struct Regex {
    engine: PikeVM,
    /// What the engine works in, kept from one name to the next.
    cache: RefCell<Cache>,
}

impl Regex {
    /// Reads an expression, or says what is wrong with it, over several lines.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let limits = thompson::Config::new().nfa_size_limit(Some(SIZE_LIMIT));
        let built = PikeVM::builder().thompson(limits).build(pattern);
        let engine = built.map_err(|error| problem(&error))?;
        let cache = RefCell::new(engine.create_cache());
        Ok(Self { engine, cache })
    }

    /// Each match in a text, from its start to its end.
    pub(crate) fn matches(&self, text: &str) -> Vec<Captures> {
        let mut cache = self.cache.borrow_mut();
        let matches = self.engine.captures_iter(&mut cache, text);
        matches.map(Captures).collect()
    }

    /// The number of groups, of which the first is the whole match.
    pub(crate) fn groups(&self) -> usize {
        self.engine
            .get_nfa()
            .group_info()
            .group_len(PatternID::ZERO)
    }

    /// The index of the group that has a name.
    pub(crate) fn group_named(&self, name: &str) -> Option<usize> {
        let groups = self.engine.get_nfa().group_info();
        groups.to_index(PatternID::ZERO, name)
    }
}

/// What matches once, and the groups in it.
pub(crate) struct Captures(captures::Captures);

impl Captures {
    /// Where the whole match is.
    pub(crate) fn range(&self) -> Range<usize> {
        self.group(0).unwrap_or_default()
    }

    /// Where a group is, if it takes part in the match.
    pub(crate) fn group(&self, index: usize) -> Option<Range<usize>> {
        self.0.get_group(index).map(|span| span.range())
    }
}

fn problem(error: &BuildError) -> String {
    match (error.size_limit(), error.source()) {
        (Some(limit), _) => format!("Compiled regex exceeds size limit of {limit} bytes."),
        (None, Some(cause)) => cause.to_string(),
        (None, None) => error.to_string(),
    }
}
