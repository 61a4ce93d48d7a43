//! Regular expressions, in the syntax and with the messages of the crate `regex`.
//!
//! That crate chooses between engines at run time, so a component that uses it contains them all.
//! Names are short, and the simplest of its engines is as fast for them.

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
    /// The engine's scratch memory, kept from one name to the next.
    cache: RefCell<Cache>,
}

impl Regex {
    /// Parses an expression. An error is a message of several lines.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let limits = thompson::Config::new().nfa_size_limit(Some(SIZE_LIMIT));
        let built = PikeVM::builder().thompson(limits).build(pattern);
        let engine = built.map_err(|error| problem(&error))?;
        let cache = RefCell::new(engine.create_cache());
        Ok(Self { engine, cache })
    }

    /// Returns the matches in a text, from its start to its end.
    pub(crate) fn matches(&self, text: &str) -> Vec<Captures> {
        let mut cache = self.cache.borrow_mut();
        let matches = self.engine.captures_iter(&mut cache, text);
        matches.map(Captures).collect()
    }

    /// Returns the number of groups. The first one is the whole match.
    pub(crate) fn groups(&self) -> usize {
        self.engine
            .get_nfa()
            .group_info()
            .group_len(PatternID::ZERO)
    }

    /// Returns the index of the group with this name.
    pub(crate) fn group_named(&self, name: &str) -> Option<usize> {
        let groups = self.engine.get_nfa().group_info();
        groups.to_index(PatternID::ZERO, name)
    }
}

/// A match, and the groups in it.
pub(crate) struct Captures(captures::Captures);

impl Captures {
    /// Returns the range of the whole match.
    pub(crate) fn range(&self) -> Range<usize> {
        self.group(0).unwrap_or_default()
    }

    /// Returns the range of a group, if it takes part in the match.
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
