//! tree-sitter's parsers, one for each thread and language, which can be stopped in the midst of a
//! source.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use tree_sitter::{ParseOptions, Parser, Tree};

use super::grammar::Grammar;
use super::language;

/// How much of a source the parser gets at a time: between two pieces it is asked whether the call
/// has to end.
const PIECE_BYTES: usize = 32 << 10;

/// Why a source was not parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ParseFailure {
    /// The call has to end.
    Stopped,
    /// Its nodes lie inside each other more than so deep.
    TooDeep(usize),
    /// The parser gave up on it.
    Failed,
    /// The process that parses had no more than so many bytes of memory.
    OutOfMemory(u64),
    /// The process that parses ended, as this says.
    Crashed(String),
    /// What the process that parses answers is more than there is room for.
    TooLong,
    /// The process that parses could not be started, as this says.
    NotStarted(String),
}

impl fmt::Display for ParseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseFailure::Stopped => f.write_str("it was stopped"),
            ParseFailure::TooDeep(most) => write!(f, "it is nested more than {most} deep"),
            ParseFailure::Failed => f.write_str("the parser gave up on it"),
            ParseFailure::OutOfMemory(limit) => {
                let limit = limit >> 20;
                write!(f, "the parser needs more than {limit} MiB of memory for it")
            }
            ParseFailure::TooLong => f.write_str("its result is too long"),
            ParseFailure::NotStarted(how) => write!(f, "the parser could not be started, {how}"),
            ParseFailure::Crashed(how) => write!(f, "the parser crashed on it{how}"),
        }
    }
}

thread_local! {
    /// A parser has tables of its language, which are made once.
    static PARSERS: RefCell<[Option<Parser>; language::COUNT]> = const { RefCell::new([const { None }; language::COUNT]) };
}

/// Parses a source, until the call has to end. With the tree of what it was made of, which was told
/// of the edits, only what has changed is parsed.
pub(crate) fn tree(
    source: &str,
    grammar: &Grammar,
    old: Option<&Tree>,
) -> Result<Tree, ParseFailure> {
    let stop = grammar.stop();
    if stop.is_due() {
        return Err(ParseFailure::Stopped);
    }
    PARSERS.with_borrow_mut(|parsers| {
        let parser = &mut parsers[grammar.language().index()];
        let parser = match parser {
            Some(parser) => parser,
            None => {
                let mut new = Parser::new();
                let known = new.set_language(&grammar.parser_language());
                known.map_err(|_| ParseFailure::Failed)?;
                parser.insert(new)
            }
        };
        let stopped = Cell::new(false);
        let is_due = || {
            stopped.set(stopped.get() || stop.is_due());
            stopped.get()
        };
        // A source that ends early ends what works through it in one step, such as the search for
        // the end of a text.
        let mut read = |at: usize, _| match at < source.len() && !is_due() {
            true => &source.as_bytes()[at..source.len().min(at + PIECE_BYTES)],
            false => &[],
        };
        let mut progress = |_: &_| match is_due() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(&mut read, old, Some(options));
        // Else the next source would be taken for the rest of this one.
        parser.reset();
        match tree {
            _ if stopped.get() => Err(ParseFailure::Stopped),
            Some(tree) => Ok(tree),
            None => Err(ParseFailure::Failed),
        }
    })
}
